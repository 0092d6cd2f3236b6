// B-spline: log-ratings are splines with Gaussian coefficients.
functions {
  #include functions/plackett_luce.stanfunctions
}
data {
  #include functions/choice_sets.stan
  
  int<lower=1> n_basis;
  matrix[n_basis, T] basis; // splines on the grid
  real sigma_location;
  real<lower=0> sigma_scale;
}
parameters {
  matrix[n - 1, n_basis] z;
  real sigma_z;
}
transformed parameters {
  real sigma = exp(sigma_location + sigma_scale * sigma_z);
  matrix[n, T] mu = sigma * utilities(z * basis);
}
model {
  sigma_z ~ std_normal();
  to_vector(z) ~ std_normal();
  target += log_likelihood(log_ratings(mu, T), wins, counts, members, starts);
}
generated quantities {
  matrix[n, T] theta = exp(log_ratings(mu, T));
}

