// Independent Dirichlet: theta(t) ~ Dirichlet(concentration), each time for itself.
functions {
  #include functions/plackett_luce.stanfunctions
}
data {
  #include functions/choice_sets.stan
  
  real<lower=0> concentration;
}
parameters {
  matrix[n - 1, T] eta;
}
transformed parameters {
  matrix[n, T] mu = utilities(eta);
}
model {
  matrix[n, T] log_theta = log_ratings(mu, T);
  target += sum(log_theta); // Jacobian of the softmax
  target += (concentration - 1) * sum(log_theta)
            + log_likelihood(log_theta, wins, counts, members, starts);
}
generated quantities {
  matrix[n, T] theta = exp(log_ratings(mu, T));
}

