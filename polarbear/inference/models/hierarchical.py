"""Hierarchical Dirichlet: theta(t) ~ Dir(kappa / n) with kappa ~ Exponential shared over time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from polarbear.inference.models import priors
from polarbear.inference.models.base import Latent, Model
from polarbear.inference.models.dirichlet import one_coefficient_a_time


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
        return priors.exponential(self.rate, log_hyper[0])

    def draw_hyper(self, rng: np.random.Generator) -> np.ndarray:
        return np.array([priors.draw_exponential(self.rate, rng)])

    def stan_data(self) -> dict[str, Any]:
        return {"kappa_rate": self.rate}
