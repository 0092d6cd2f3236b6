"""Independent Dirichlet: theta(t) ~ Dir(alpha), independent over time."""

from __future__ import annotations

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
