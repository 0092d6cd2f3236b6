"""Hilbert-space GP: the kernel's spectrum on m eigenfunctions of the Laplacian over [-L, L]."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from polarbear.inference.models.base import Latent
from polarbear.inference.models.covariances import COVARIANCES
from polarbear.inference.models.hyperpriors import (
    LengthscaleModel,
    identity_precision,
    inverse_gamma_quantile,
    rotation,
)

if TYPE_CHECKING:
    from polarbear.inference.model_options import ModelOptions

HALF_RANGE = 0.5  # of the unit interval
SMALLEST_BOUNDARY = 1.2


class HilbertSpaceGP(LengthscaleModel):
    stan_program = "hsgp.stan"
    # At 0.9, 9 of 32,000 transitions diverged on the data of the agreement test.
    stan_adapt_delta = 0.99

    def __init__(self, times: np.ndarray, n_algorithms: int, options: ModelOptions) -> None:
        super().__init__(times, n_algorithms, options)
        self.covariance = COVARIANCES[options.kernel]
        self.boundary, self.size = basis_by_rule(options)
        limit = self.boundary * HALF_RANGE
        self.frequencies = math.pi * np.arange(1, self.size + 1) / (2 * limit)
        shifted = times[:, None] - HALF_RANGE + limit
        self.basis = np.sin(self.frequencies * shifted) / math.sqrt(limit)

    def latent(self, log_hyper: np.ndarray) -> Latent:
        sigma, ell = np.exp(log_hyper)
        spectrum = self.covariance.spectral_density(self.frequencies, ell)
        weights = sigma * np.sqrt(spectrum) * self.basis
        starts = np.zeros(len(self.times), dtype=np.int64)
        return Latent(identity_precision(self.size), 0.0, starts, weights)

    def stan_data(self) -> dict[str, Any]:
        typical = inverse_gamma_quantile(self.options.lengthscale, 0.5)
        spectrum = self.covariance.spectral_density(self.frequencies, typical)
        return {
            **super().stan_data(),
            "n_basis": self.size,
            "frequencies": self.frequencies,
            "basis": self.basis.T,
            "rotation": rotation(self.basis * np.sqrt(spectrum)),
        }


def basis_by_rule(options: ModelOptions) -> tuple[float, int]:
    """c and m by Riutort-Mayol's rules, for the middle 80 % of the lengthscale's prior.

    The long end asks for a wide boundary, the short end for many functions.
    """
    rule = COVARIANCES[options.kernel]
    short, long = (inverse_gamma_quantile(options.lengthscale, level) for level in (0.1, 0.9))
    boundary = options.boundary or max(SMALLEST_BOUNDARY, rule.boundary_rule * long / HALF_RANGE)
    size = options.basis_functions or math.ceil(rule.basis_rule * boundary * HALF_RANGE / short)
    return boundary, size
