// Sparse Gaussian process (DTC): log-ratings from their values at inducing times.
functions {
  #include functions/plackett_luce.stanfunctions
  #include functions/kernels.stanfunctions
}
data {
  #include functions/choice_sets.stan
  
  array[T] real times;
  int<lower=1> n_inducing;
  array[n_inducing] real inducing;
  real<lower=0> jitter;
  int<lower=1, upper=3> kernel;
  // orthogonal: changes nothing but the coordinates NUTS moves in
  matrix[n_inducing, n_inducing] rotation;
  real sigma_location;
  real<lower=0> sigma_scale;
  real<lower=0> ell_shape;
  real<lower=0> ell_scale;
}
parameters {
  matrix[n - 1, n_inducing] z;
  real sigma_z;
  real<lower=0> ell;
}
transformed parameters {
  real sigma = exp(sigma_location + sigma_scale * sigma_z);
  matrix[n, T] mu;
  {
    matrix[n_inducing, n_inducing] factor = correlation_factor(inducing, ell,
                                              kernel, jitter);
    matrix[n_inducing, T] across = correlations(inducing, times, ell, kernel);
    mu = sigma
         * utilities(z * rotation * mdivide_left_tri_low(factor, across));
  }
}
model {
  sigma_z ~ std_normal();
  target += -log(ell); // with the next, inverse-gamma
  target += -ell_shape * log(ell) - ell_scale / ell;
  to_vector(z) ~ std_normal();
  target += log_likelihood(log_ratings(mu, T), wins, counts, members, starts);
}
generated quantities {
  matrix[n, T] theta = exp(log_ratings(mu, T));
}

