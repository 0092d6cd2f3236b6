"""Sparse GP (DTC): eta = K_tu K_uu^-1 u, with inducing points at quantiles of the grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from polarbear.inference.models.base import Latent
from polarbear.inference.models.covariances import COVARIANCES, Covariance
from polarbear.inference.models.hyperpriors import (
    LengthscaleModel,
    identity_precision,
    inverse_gamma_quantile,
    rotation,
)

if TYPE_CHECKING:
    from polarbear.inference.model_options import ModelOptions

JITTER = 1e-9  # of the unit variance, so that a Cholesky factor exists


class SparseGP(LengthscaleModel):
    stan_program = "sparse_gp.stan"
    # At 0.9, one of 32,000 transitions diverged on the data of the agreement test.
    stan_adapt_delta = 0.95

    def __init__(self, times: np.ndarray, n_algorithms: int, options: ModelOptions) -> None:
        super().__init__(times, n_algorithms, options)
        self.covariance = COVARIANCES[options.kernel]
        levels = np.linspace(0, 1, min(options.inducing_points, len(times)))
        self.inducing = np.unique(np.quantile(times, levels))

    def latent(self, log_hyper: np.ndarray) -> Latent:
        sigma, ell = np.exp(log_hyper)
        weights = sigma * inducing_weights(self.covariance, self.times, self.inducing, ell)
        starts = np.zeros(len(self.times), dtype=np.int64)
        return Latent(identity_precision(len(self.inducing)), 0.0, starts, weights)

    def stan_data(self) -> dict[str, Any]:
        return {
            **super().stan_data(),
            **process_data(self, self.inducing),
            "n_inducing": len(self.inducing),
            "inducing": self.inducing,
        }


def process_data(model: LengthscaleModel, inducing: np.ndarray) -> dict[str, Any]:
    """The data that the Stan programs of gp and sparse-gp share."""
    typical = inverse_gamma_quantile(model.options.lengthscale, 0.5)
    covariance = COVARIANCES[model.options.kernel]
    return {
        "times": model.times,
        "jitter": JITTER,
        "rotation": rotation(inducing_weights(covariance, model.times, inducing, typical)),
    }


def inducing_weights(
    covariance: Covariance, times: np.ndarray, inducing: np.ndarray, lengthscale: float
) -> np.ndarray:
    """K_tu L^-T for K_uu = L L': standard normal coefficients to values on the grid."""
    among = covariance.correlation(np.abs(inducing[:, None] - inducing), lengthscale)
    across = covariance.correlation(np.abs(times[:, None] - inducing), lengthscale)
    lower = np.linalg.cholesky(among + JITTER * np.eye(len(inducing)))
    solved = scipy.linalg.solve_triangular(lower, across.T, lower=True, check_finite=False)
    return np.ascontiguousarray(solved.T)
