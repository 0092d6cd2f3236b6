// Hierarchical Dirichlet: theta(t) ~ Dirichlet(kappa / n), kappa shared by all times.
functions {
  #include functions/plackett_luce.stanfunctions
}
data {
  #include functions/choice_sets.stan
  
  real<lower=0> kappa_rate;
}
parameters {
  matrix[n - 1, T] eta;
  real<lower=0> unit_kappa;
}
transformed parameters {
  real kappa = unit_kappa / kappa_rate;
  matrix[n, T] mu = utilities(eta);
}
model {
  matrix[n, T] log_theta = log_ratings(mu, T);
  unit_kappa ~ exponential(1);
  target += sum(log_theta); // Jacobian of the softmax
  target += (kappa / n - 1) * sum(log_theta)
            + T * (lgamma(kappa) - n * lgamma(kappa / n))
            + log_likelihood(log_theta, wins, counts, members, starts);
}
generated quantities {
  matrix[n, T] theta = exp(log_ratings(mu, T));
}

