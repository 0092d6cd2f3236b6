"""Truths from a model's prior and rankings from a truth: what calibration is checked with."""

from __future__ import annotations

import numpy as np

from polarbear.inference.loops.band import band_cholesky, flipped, solve_upper
from polarbear.inference.models import Model
from polarbear.inference.native.set_sums import helmert
from polarbear.inference.native.temporal.mode import observed
from polarbear.rankings import rank


def draw_truth(model: Model, rng: np.random.Generator) -> np.ndarray:
    """Utilities mu[T, n] from the prior, hyperparameters included."""
    n, n_times = model.n_algorithms, len(model.times)
    latent = model.latent(model.draw_hyper(rng))
    if latent.dirichlet > 0:
        # a small gamma variate underflows; its logarithm does not: G(a) = G(a + 1) U^(1/a)
        shape = (n_times, n)
        large = np.log(rng.gamma(latent.dirichlet + 1, size=shape))
        mu = large + np.log(rng.random(shape)) / latent.dirichlet
        return np.asarray(mu - np.logaddexp.reduce(mu, axis=1, keepdims=True))
    lower = latent.precision.copy()
    band_cholesky(lower)
    across = flipped(lower)
    x = rng.standard_normal((n - 1, latent.n_coefficients))
    for coefficients in x:
        solve_upper(across, coefficients)
    eta = observed(latent, np.ascontiguousarray(x.T).ravel(), n - 1)
    return np.asarray(eta @ helmert(n).T)


def draw_positions(mu: np.ndarray, instances: int, rng: np.random.Generator) -> np.ndarray:
    """Positions[instance, algorithm, time] of rankings that follow Plackett-Luce exactly."""
    n_times, n = mu.shape
    utility = mu.T + rng.gumbel(size=(instances, n, n_times))
    return rank(-utility)
