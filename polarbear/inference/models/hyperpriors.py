"""Hyperparameters of the temporal models: an amplitude, and for some a lengthscale."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import gammaincinv

from polarbear.inference.models.base import Model

if TYPE_CHECKING:
    from polarbear.inference.model_options import InverseGammaPrior

KERNELS = {"matern-3/2": 1, "matern-5/2": 2, "squared-exponential": 3}  # in Stan programs


class AmplitudeModel(Model):
    """A temporal model with amplitude sigma, which has a log-normal prior."""

    temporal = True
    hyperparameters: ClassVar[tuple[str, ...]] = ("sigma",)

    def log_hyperprior(self, log_hyper: np.ndarray) -> float:
        prior = self.options.sigma
        return float(-0.5 * ((log_hyper[0] - prior.location) / prior.scale) ** 2)

    def draw_hyper(self, rng: np.random.Generator) -> np.ndarray:
        prior = self.options.sigma
        return np.array([rng.normal(prior.location, prior.scale)])

    def stan_data(self) -> dict[str, Any]:
        prior = self.options.sigma
        return {"sigma_location": prior.location, "sigma_scale": prior.scale}


class LengthscaleModel(AmplitudeModel):
    """A temporal model with a lengthscale ell as well, which has an inverse-gamma prior."""

    hyperparameters = ("sigma", "ell")

    def log_hyperprior(self, log_hyper: np.ndarray) -> float:
        prior, log_ell = self.options.lengthscale, log_hyper[1]
        own = -prior.shape * log_ell - prior.scale * math.exp(-log_ell)
        return float(super().log_hyperprior(log_hyper) + own)

    def draw_hyper(self, rng: np.random.Generator) -> np.ndarray:
        sigma, prior = super().draw_hyper(rng), self.options.lengthscale
        return np.append(sigma, np.log(prior.scale) - np.log(rng.gamma(prior.shape)))

    def stan_data(self) -> dict[str, Any]:
        prior = self.options.lengthscale
        kernel = KERNELS[self.options.kernel]
        own = {"kernel": kernel, "ell_shape": prior.shape, "ell_scale": prior.scale}
        return {**super().stan_data(), **own}


def inverse_gamma_quantile(prior: InverseGammaPrior, level: float) -> float:
    return float(prior.scale / gammaincinv(prior.shape, 1 - level))


def identity_precision(size: int) -> np.ndarray:
    """The precision of standard normal coefficients."""
    return np.ones((size, 1))


def rotation(weights: np.ndarray) -> np.ndarray:
    """An orthogonal matrix that gives each coefficient a curve with its scale, for Stan programs.

    The data determine smooth curves and not rough ones. With one coefficient for each, a diagonal
    mass matrix is all that NUTS needs.
    """
    return np.asarray(np.linalg.svd(weights)[2])
