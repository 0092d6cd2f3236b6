"""Split HMC for all draws of the others at once: each has its own density of the newcomer's x.

Those with the same hyperparameters share a Gaussian's covariance A = G G' = (K^-1 + curvature)^-1,
the curvature being that of a typical draw; each has its own centre = K pull near its mode. With
x = centre + G u and delta = G u the log-prior is, but for a constant,

    -1/2 u'u + 1/2 delta' curvature delta - pull' delta

for any pull and any curvature: they decide over speed, not over results. As in `split_hmc`, the
first term is turned exactly and only what is left of the density gives kicks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polarbear.inference.newcomer.gaussian import Shared, near_modes
from polarbear.inference.newcomer.placement import Likelihood

ROTATION = 1.6  # radians a transition turns in all: a quarter circle forgets where it began
STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)  # it may take
DIVERGED = 1000.0


@dataclass(frozen=True)
class Effort:
    """How long each draw's own chain is, and the acceptance its transitions should have."""

    transitions: int = 6
    acceptance: float = 0.9


HARDER = Effort(transitions=30, acceptance=0.97)


@dataclass(frozen=True)
class Settled:
    """x[T, D] at the end of each draw's chain, and how the chains fared."""

    x: np.ndarray
    acceptance: np.ndarray
    divergences: int


class Chains:
    """A chain for each of D draws of the others, in u[R, D].

    They begin ``dispersion[D]`` standard deviations from their centres. Where that differs from
    one of the posterior's chains to the other, R-hat shows whether these here were too short.
    """

    def __init__(
        self,
        shared: Shared,
        likelihood: Likelihood,
        dispersion: np.ndarray,
        rng: np.random.Generator,
    ) -> None:
        self.factor, self.curvature = shared.factor, shared.curvature[:, None]
        self.likelihood, self.rng = likelihood, rng
        mode = near_modes(shared, likelihood)
        self.centre, self.pull = mode.x, mode.pull
        self.u = dispersion * rng.standard_normal((self.factor.shape[1], len(dispersion)))
        self.residual, self.kick = self._rest(self.u)
        self.divergences = 0

    def run(self, effort: Effort) -> Settled:
        """Take more and smaller steps until even the worst tenth accepts them; then go."""
        for steps in STEPS:
            rate = self._transition(steps)
            if np.sort(rate)[: max(1, len(rate) // 10)].mean() >= effort.acceptance:
                break
        rates = [self._transition(steps) for _ in range(effort.transitions)]
        x = self.centre + self.factor @ self.u
        return Settled(x, np.mean(rates, axis=0), self.divergences)

    def _transition(self, n_steps: int) -> np.ndarray:
        """Turn every u by about ROTATION in all; returns the probabilities of acceptance."""
        size = self.u.shape[1]
        angle = ROTATION / n_steps * self.rng.uniform(0.85, 1.15, size)
        cosine, sine = np.cos(angle), np.sin(angle)
        p = self.rng.standard_normal(self.u.shape)
        before = self.residual - 0.5 * (self.u**2 + p**2).sum(axis=0)
        u, kick = self.u, self.kick
        for k in range(n_steps):
            p = p + 0.5 * angle * kick
            u, p = u * cosine + p * sine, p * cosine - u * sine
            last = k == n_steps - 1
            residual, kick = self._rest(u) if last else (self.residual, self._kick(u))
            p += 0.5 * angle * kick
        gain = residual - 0.5 * (u**2 + p**2).sum(axis=0) - before
        self.divergences += int((~(gain > -DIVERGED)).sum())
        probability = np.exp(np.minimum(np.where(np.isfinite(gain), gain, -np.inf), 0))
        accepted = self.rng.random(size) < probability
        self.u = np.where(accepted, u, self.u)
        self.kick = np.where(accepted, kick, self.kick)
        self.residual = np.where(accepted, residual, self.residual)
        return np.asarray(probability)

    def _rest(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What the log-density has beyond the Gaussian: values [D] and gradient [R, D]."""
        delta = self.factor @ u
        value, slope = self.likelihood.value_and_slope(self.centre + delta)
        bend = self.curvature * delta
        residual = (value + (0.5 * bend - self.pull) * delta).sum(axis=0)
        return residual, self.factor.T @ (slope + bend - self.pull)

    def _kick(self, u: np.ndarray) -> np.ndarray:
        """The gradient alone."""
        delta = self.factor @ u
        slope = self.likelihood.slope(self.centre + delta)
        return np.asarray(self.factor.T @ (slope + self.curvature * delta - self.pull))
