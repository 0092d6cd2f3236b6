"""Trajectories drawn from a known truth, without an optimiser: for tests of all later steps.

The truth is a rating theta[time, algorithm]; on each instance every algorithm's log-rating gets
Gumbel noise, and the better score has the better value at that time. The ranking at each time is
then exactly Plackett-Luce with the true ratings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator
from scipy.special import log_ndtr, softmax

from polarbear.errors import ProblemError
from polarbear.numerics.arrays import Floats
from polarbear.numerics.seeds import derived_seed
from polarbear.problems.base import Kind, Setting, Spec, Suite
from polarbear.settings.options import Options

STEP = 2000.0  # the improvement from one time to the next, larger than any noise


class Prior(Options):
    """The Matern-3/2 process from which true log-ratings are drawn, on the grid's unit scale."""

    sigma: float | None = Field(None, gt=0, description="its amplitude; drawn if not given")
    sigma_log_mean: float = Field(0.0, description="sigma ~ LogNormal(this, ...)")
    sigma_log_sd: float = Field(0.5, gt=0, description="sigma ~ LogNormal(..., this)")
    lengthscale: float | None = Field(
        None, gt=0, description="how slowly it turns; drawn if not given"
    )
    lengthscale_shape: float = Field(5.0, gt=0, description="lengthscale ~ InvGamma(this, ...)")
    lengthscale_scale: float = Field(3.0, gt=0, description="lengthscale ~ InvGamma(..., this)")


class Synthetic(Suite):
    """Rankings from a known truth; goes with algorithms that `use: synthetic`."""

    ratings: Mapping[str, float | tuple[float, ...]] | None = Field(
        None,
        description="the true rating of each algorithm: a number, or one for each time of the "
        "grid; drawn from the prior if not given",
    )
    prior: Prior = Field(Prior(), description="where the truth is drawn from")
    truth_seed: int | None = Field(
        None, ge=0, description="draws the truth; by default the configuration's seed"
    )
    correlation: float | Literal["constant"] = Field(
        0.0,
        description="length, as a share of the grid, over which an instance's noise is correlated "
        "in time: 0 is independent, 'constant' never changes",
    )

    kind: ClassVar[Kind] = Kind.SCORES
    uses_grid: ClassVar[bool] = True

    @field_validator("ratings")
    @classmethod
    def _positive(cls, ratings: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        for name, values in (ratings or {}).items():
            if np.size(values) == 0 or np.min(values) <= 0:
                raise ValueError(f"ratings of '{name}' must be numbers above zero")
        return ratings

    @field_validator("correlation")
    @classmethod
    def _not_negative(cls, correlation: float | str) -> float | str:
        if isinstance(correlation, float) and correlation < 0:
            raise ValueError(f"a correlation length is not negative, found {correlation:g}")
        return correlation

    def draw(self, index: int, rng: np.random.Generator, setting: Setting) -> tuple[str, Spec]:
        for name in setting.algorithms:
            self.log_ratings(name, setting)  # raises if the ratings do not fit
        return f"synthetic-{index}", {"seed": int(rng.integers(2**31))}

    def build(self, spec: Spec, setting: Setting) -> Scores:
        return Scores(self, setting, int(spec["seed"]))

    def truth(self, setting: Setting) -> Floats:
        """The true ratings theta[time, algorithm]; they sum to 1 at each time."""
        columns = [self.log_ratings(name, setting) for name in setting.algorithms]
        return np.asarray(softmax(np.stack(columns, axis=1), axis=1))

    def log_ratings(self, name: str, setting: Setting) -> Floats:
        """One algorithm's true log-rating over time, independent of the other algorithms."""
        times = setting.budget.unit_times
        if self.ratings is not None:
            return self._given(self.ratings, name, len(times))
        seed = setting.seed if self.truth_seed is None else self.truth_seed
        hyper = np.random.default_rng(derived_seed(seed, "truth"))
        sigma = self.prior.sigma or float(
            hyper.lognormal(self.prior.sigma_log_mean, self.prior.sigma_log_sd)
        )
        lengthscale = self.prior.lengthscale or float(
            self.prior.lengthscale_scale / hyper.gamma(self.prior.lengthscale_shape)
        )
        rng = np.random.default_rng(derived_seed(seed, "truth", name))
        factor = _matern_factor(lengthscale, tuple(times))
        return np.asarray(sigma * factor @ rng.standard_normal(len(times)))

    @staticmethod
    def _given(ratings: Mapping[str, Any], name: str, times: int) -> Floats:
        if name not in ratings:
            raise ProblemError(f"instances.ratings has no '{name}'; it has: {', '.join(ratings)}")
        values = np.atleast_1d(np.asarray(ratings[name], dtype=np.float64))
        if len(values) not in (1, times):
            raise ProblemError(
                f"instances.ratings has {len(values)} values for '{name}', but the grid has "
                f"{times} times; give one value, or one for each time"
            )
        return np.asarray(np.log(np.broadcast_to(values, (times,))))

    def noise(self, rng: np.random.Generator, times: Floats) -> Floats:
        """Standard Gumbel noise at each time, correlated over time by a Gaussian copula."""
        fresh = rng.standard_normal(len(times))
        length = np.inf if self.correlation == "constant" else float(self.correlation)
        kept = np.exp(-np.diff(times) / length) if length else np.zeros(len(times) - 1)
        normal = fresh.copy()
        for i, correlation in enumerate(kept):  # the exponential kernel is Markov
            normal[i + 1] = correlation * normal[i] + np.sqrt(1 - correlation**2) * fresh[i + 1]
        return np.asarray(-np.log(-log_ndtr(normal)))


@dataclass(frozen=True)
class Scores:
    """One instance: the noise of every algorithm on it."""

    suite: Synthetic
    setting: Setting
    seed: int

    def trajectory(self, name: str) -> tuple[Floats, Floats]:
        """An algorithm's improvements: at each time of the grid the better score is lower."""
        rng = np.random.default_rng([self.seed, derived_seed("noise", name)])
        noise = self.suite.noise(rng, self.setting.budget.unit_times)
        score = self.suite.log_ratings(name, self.setting) + noise
        rise = STEP * np.arange(len(score))
        values = -(rise + np.clip(score, -0.4 * STEP, 0.4 * STEP))
        return self.setting.budget.times, np.asarray(values, dtype=np.float64)


@lru_cache(maxsize=8)
def _matern_factor(lengthscale: float, times: tuple[float, ...]) -> Floats:
    """Cholesky factor of the Matern-3/2 correlation between the times."""
    scaled = np.sqrt(3.0) * np.abs(np.subtract.outer(times, times)) / lengthscale
    correlation = (1.0 + scaled) * np.exp(-scaled)
    return np.asarray(np.linalg.cholesky(correlation + 1e-10 * np.eye(len(times))))
