// Gaussian process: log-ratings with a stationary covariance over time.
functions {
  #include functions/plackett_luce.stanfunctions
  #include functions/kernels.stanfunctions
}
data {
  #include functions/choice_sets.stan
  
  array[T] real times;
  real<lower=0> jitter;
  int<lower=1, upper=3> kernel;
  // orthogonal: changes nothing but the coordinates NUTS moves in
  matrix[T, T] rotation;
  real sigma_location;
  real<lower=0> sigma_scale;
  real<lower=0> ell_shape;
  real<lower=0> ell_scale;
}
parameters {
  matrix[n - 1, T] z;
  real sigma_z;
  real<lower=0> ell;
}
transformed parameters {
  real sigma = exp(sigma_location + sigma_scale * sigma_z);
  matrix[n, T] mu;
  {
    matrix[T, T] factor = correlation_factor(times, ell, kernel, jitter);
    mu = sigma * utilities(z * rotation * factor');
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

