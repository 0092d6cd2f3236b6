"""Random walk: eta(t_{i+1}) ~ N(eta(t_i), sigma^2 dt_i), started at N(0, initial_scale^2)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from polarbear.inference.models.base import Latent
from polarbear.inference.models.covariances import chain_precision
from polarbear.inference.models.hyperpriors import AmplitudeModel, rotation


class RandomWalk(AmplitudeModel):
    stan_program = "random_walk.stan"

    def latent(self, log_hyper: np.ndarray) -> Latent:
        n_times = len(self.times)
        steps = np.diff(self.times)[:, None, None]
        precision, half_log_det = chain_precision(
            first=np.array([[self.options.initial_scale**2]]),
            transitions=np.ones((n_times - 1, 1, 1)),
            noises=math.exp(2 * log_hyper[0]) * steps,
        )
        return Latent(precision, half_log_det, np.arange(n_times), np.ones((n_times, 1)))

    def stan_data(self) -> dict[str, Any]:
        typical = np.exp(self.options.sigma.location)
        steps = typical * np.sqrt(np.diff(self.times, prepend=self.times[0]))
        steps[0] = self.options.initial_scale
        return {
            **super().stan_data(),
            "times": self.times,
            "initial_scale": self.options.initial_scale,
            "rotation": rotation(np.tril(np.broadcast_to(steps, (len(steps), len(steps))))),
        }
