"""Dirichlet priors at each time: independent, or with a shared concentration.

Independent: theta(t) ~ Dir(alpha). Hierarchical: theta(t) ~ Dir(kappa / n), kappa ~ Exponential.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from polarbear.inference.models.base import Latent, Model


class Dirichlet(Model):
    temporal = False
    hyperparameters = ()
    stan_program = "dirichlet.stan"

    def latent(self, log_hyper: np.ndarray) -> Latent:
        return one_coefficient_a_time(len(self.times), self.options.alpha)

    def log_hyperprior(self, log_hyper: np.ndarray) -> float:
        return 0.0

    def draw_hyper(self, rng: np.random.Generator) -> np.ndarray:
        return np.empty(0)

    def stan_data(self) -> dict[str, Any]:
        return {"alpha": self.options.alpha}


class Hierarchical(Model):
    temporal = False
    hyperparameters = ("kappa",)
    stan_program = "hierarchical.stan"

    @property
    def rate(self) -> float:
        return self.options.kappa.rate or 1 / self.n_algorithms

    def latent(self, log_hyper: np.ndarray) -> Latent:
        kappa, n, n_times = math.exp(log_hyper[0]), self.n_algorithms, len(self.times)
        normaliser = math.lgamma(kappa) - n * math.lgamma(kappa / n)
        return one_coefficient_a_time(n_times, kappa / n, n_times * normaliser)

    def log_hyperprior(self, log_hyper: np.ndarray) -> float:
        return float(log_hyper[0] - self.rate * math.exp(log_hyper[0]))

    def draw_hyper(self, rng: np.random.Generator) -> np.ndarray:
        return np.array([np.log(rng.exponential(1 / self.rate))])

    def stan_data(self) -> dict[str, Any]:
        return {"kappa_rate": self.rate}


def one_coefficient_a_time(n_times: int, alpha: float, log_constant: float = 0.0) -> Latent:
    """No Gaussian prior, nothing shared between times, a Dirichlet prior at each."""
    return Latent(
        precision=np.zeros((n_times, 1)),
        half_log_det=0.0,
        starts=np.arange(n_times),
        weights=np.ones((n_times, 1)),
        dirichlet=alpha,
        log_constant=log_constant,
    )
