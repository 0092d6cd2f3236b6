"""Hyperparameters of the temporal models: an amplitude, and for some a lengthscale."""

from __future__ import annotations

from typing import Any

import numpy as np

from polarbear.inference.models import priors
from polarbear.inference.models.base import Model

KERNELS = {"matern-3/2": 1, "matern-5/2": 2, "squared-exponential": 3}  # in Stan programs


class AmplitudeModel(Model):
    """A temporal model with amplitude sigma."""

    temporal = True
    hyperparameters = ("sigma",)

    def log_hyperprior(self, log_hyper: np.ndarray) -> float:
        return priors.log_normal(self.options.sigma, log_hyper[0])

    def draw_hyper(self, rng: np.random.Generator) -> np.ndarray:
        return np.array([priors.draw_log_normal(self.options.sigma, rng)])

    def stan_data(self) -> dict[str, Any]:
        return amplitude_data(self)


class LengthscaleModel(Model):
    """A temporal model with amplitude sigma and lengthscale ell."""

    temporal = True
    hyperparameters = ("sigma", "ell")

    def log_hyperprior(self, log_hyper: np.ndarray) -> float:
        return priors.log_normal(self.options.sigma, log_hyper[0]) + priors.inverse_gamma(
            self.options.lengthscale, log_hyper[1]
        )

    def draw_hyper(self, rng: np.random.Generator) -> np.ndarray:
        return np.array(
            [
                priors.draw_log_normal(self.options.sigma, rng),
                priors.draw_inverse_gamma(self.options.lengthscale, rng),
            ]
        )

    def stan_data(self) -> dict[str, Any]:
        prior = self.options.lengthscale
        return {
            **amplitude_data(self),
            "kernel": KERNELS[self.options.kernel],
            "ell_shape": prior.shape,
            "ell_scale": prior.scale,
        }


def amplitude_data(model: Model) -> dict[str, Any]:
    """The prior of sigma, in the names of the Stan programs."""
    prior = model.options.sigma
    return {"sigma_location": prior.location, "sigma_scale": prior.scale}


def identity_precision(size: int) -> np.ndarray:
    """The precision of standard normal coefficients."""
    return np.ones((size, 1))


def rotation(weights: np.ndarray) -> np.ndarray:
    """An orthogonal matrix that gives each coefficient a curve with its scale, for Stan programs.

    The data determine smooth curves and not rough ones. With one coefficient for each, a diagonal
    mass matrix is all that NUTS needs.
    """
    return np.asarray(np.linalg.svd(weights)[2])
