// Random walk: steps of log-ratings have variance sigma^2 times the step in time.
functions {
  #include functions/plackett_luce.stanfunctions
}
data {
  #include functions/choice_sets.stan
  
  array[T] real times;
  real<lower=0> initial_scale;
  // orthogonal: changes nothing but the coordinates NUTS moves in
  matrix[T, T] rotation;
  real sigma_location;
  real<lower=0> sigma_scale;
}
transformed data {
  vector[T] roots = zeros_vector(T); // of the steps in time
  matrix[T, T] walk = rep_matrix(0, T, T); // sums up the steps so far
  for (t in 2 : T) {
    roots[t] = sqrt(times[t] - times[t - 1]);
  }
  for (t in 1 : T) {
    walk[t, t : T] = ones_row_vector(T - t + 1);
  }
}
parameters {
  matrix[n - 1, T] z;
  real sigma_z;
}
transformed parameters {
  real sigma = exp(sigma_location + sigma_scale * sigma_z);
  matrix[n, T] mu;
  {
    vector[T] step_sizes = sigma * roots;
    step_sizes[1] = initial_scale;
    mu = utilities(diag_post_multiply(z * rotation, step_sizes) * walk);
  }
}
model {
  sigma_z ~ std_normal();
  to_vector(z) ~ std_normal();
  target += log_likelihood(log_ratings(mu, T), wins, counts, members, starts);
}
generated quantities {
  matrix[n, T] theta = exp(log_ratings(mu, T));
}

