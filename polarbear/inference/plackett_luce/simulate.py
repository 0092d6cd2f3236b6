"""Truths from a model's prior and rankings from a truth, for checks of calibration."""

from __future__ import annotations

import numpy as np

from polarbear.inference.models.base import Model
from polarbear.inference.plackett_luce.laplace import observe
from polarbear.inference.plackett_luce.likelihood import helmert
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
    z = rng.standard_normal((latent.n_coefficients, n - 1))
    eta = observe(latent, latent.solve_factor(z, transposed=True).reshape(1, -1))[:, 0]
    return np.asarray(eta @ helmert(n).T)


def draw_positions(mu: np.ndarray, instances: int, rng: np.random.Generator) -> np.ndarray:
    """Positions[instance, algorithm, time] of rankings that follow Plackett-Luce exactly."""
    n_times, n = mu.shape
    utility = mu.T + rng.gumbel(size=(instances, n, n_times))
    return rank(-utility)
