// Hilbert-space Gaussian process: a kernel's spectrum on the Laplacian's eigenfunctions.
functions {
  #include functions/plackett_luce.stanfunctions
  #include functions/kernels.stanfunctions
}
data {
  #include functions/choice_sets.stan
  
  int<lower=1> n_basis;
  vector<lower=0>[n_basis] frequencies;
  matrix[n_basis, T] basis; // eigenfunctions on the grid
  int<lower=1, upper=3> kernel;
  // orthogonal: changes nothing but the coordinates NUTS moves in
  matrix[n_basis, n_basis] rotation;
  real sigma_location;
  real<lower=0> sigma_scale;
  real<lower=0> ell_shape;
  real<lower=0> ell_scale;
}
parameters {
  matrix[n - 1, n_basis] z;
  real sigma_z;
  real<lower=0> ell;
}
transformed parameters {
  real sigma = exp(sigma_location + sigma_scale * sigma_z);
  matrix[n, T] mu;
  {
    vector[n_basis] spectrum = spectral_density(frequencies, ell, kernel);
    mu = sigma
         * utilities(
                     diag_post_multiply(z * rotation, sqrt(spectrum)) * basis);
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

