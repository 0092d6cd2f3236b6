"""Hyperparameters of the models with an amplitude, and of those with a lengthscale besides."""

from __future__ import annotations

import numpy as np

from polarbear.inference.models import priors
from polarbear.inference.models.base import Model


class AmplitudeModel(Model):
    """A temporal model with amplitude sigma."""

    temporal = True
    hyperparameters = ("sigma",)

    def log_hyperprior(self, log_hyper: np.ndarray) -> float:
        return priors.log_normal(self.options.sigma, log_hyper[0])

    def draw_hyper(self, rng: np.random.Generator) -> np.ndarray:
        return np.array([priors.draw_log_normal(self.options.sigma, rng)])


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


def identity_precision(size: int) -> np.ndarray:
    """Standard normal coefficients: what models with a basis have."""
    return np.ones((size, 1))
