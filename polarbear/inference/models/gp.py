"""Full GP: the Matern kernels exactly, as Markov chains; the squared exponential to rounding.

A Matern process with its derivatives is a Markov chain, whose precision is a narrow band: cost
grows with T, not T^3. The squared exponential is not Markov, but so smooth that few of its values
determine all others: it uses inducing points that leave a negligible variance unexplained.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from polarbear.inference.models import covariances
from polarbear.inference.models.base import Latent
from polarbear.inference.models.covariances import chain_precision
from polarbear.inference.models.hyperpriors import (
    LengthscaleModel,
    identity_precision,
    inverse_gamma_quantile,
)
from polarbear.inference.models.sparse_gp import inducing_weights, process_data

if TYPE_CHECKING:
    from polarbear.inference.model_options import ModelOptions

LEFT_OVER = 1e-6  # share of the variance that inducing points may leave unexplained


class GaussianProcess(LengthscaleModel):
    stan_program = "gp.stan"

    def __init__(self, times: np.ndarray, n_algorithms: int, options: ModelOptions) -> None:
        super().__init__(times, n_algorithms, options)
        self.covariance = covariances.COVARIANCES[options.kernel]
        if self.covariance.order is None:
            shortest = inverse_gamma_quantile(options.lengthscale, 1e-4)
            self.inducing = dense_inducing_points(self.covariance, times, shortest)

    def latent(self, log_hyper: np.ndarray) -> Latent:
        sigma, ell = np.exp(log_hyper)
        if self.covariance.order is None:
            weights = sigma * inducing_weights(self.covariance, self.times, self.inducing, ell)
            starts = np.zeros(len(self.times), dtype=np.int64)
            return Latent(identity_precision(len(self.inducing)), 0.0, starts, weights)
        return self._markov(self.covariance.order, sigma, ell)

    def _markov(self, order: int, sigma: float, ell: float) -> Latent:
        n_times, size = len(self.times), order + 1
        steps = covariances.decay_rate(order, ell) * np.diff(self.times)
        precision, half_log_det = chain_precision(
            first=covariances.stationary_covariance(order),
            transitions=covariances.transitions(order, steps),
            noises=covariances.noise_covariances(order, steps),
        )
        weights = np.full((n_times, 1), sigma)
        return Latent(precision, half_log_det, size * np.arange(n_times), weights)

    def stan_data(self) -> dict[str, Any]:
        return {**super().stan_data(), **process_data(self, self.times)}


def dense_inducing_points(
    covariance: covariances.Covariance, times: np.ndarray, lengthscale: float
) -> np.ndarray:
    """Quantiles of the grid, enough of them that their values determine all others."""
    size = min(8, len(times))
    while size < len(times):
        points = np.unique(np.quantile(times, np.linspace(0, 1, size)))
        weights = inducing_weights(covariance, times, points, lengthscale)
        if 1 - (weights**2).sum(axis=1).min() < LEFT_OVER:
            return np.asarray(points)
        size = math.ceil(1.2 * size)
    return times
