"""The newcomer under a Dirichlet prior: each time for itself, each draw exactly.

If theta ~ Dirichlet(a) over n algorithms, the ratings of n - 1 of them relative to each other are
Dirichlet(a) as well, whatever the last one's rating is: theta_new ~ Beta(a, (n - 1) a). So a prior
on n - 1 is extended without a word about those. As a function of x = logit(theta_new) that prior
is exp(a x) / (1 + e^x)^(n a).
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from polarbear.inference.newcomer.placement import Likelihood, Placement
from polarbear.inference.newcomer.tangents import draw, near_mode
from polarbear.numerics.threads import in_threads

_NUMBERS_AT_A_TIME = 100_000  # sums of sets held at once, which is a matter of speed alone


class _Rating:
    """The log-density of logit(theta_new), for D draws of the others and of the concentration."""

    def __init__(self, likelihood: Likelihood, concentration: np.ndarray, n: int) -> None:
        self.likelihood, self.concentration, self.n = likelihood, concentration, n

    def of(self, draws: np.ndarray) -> _Rating:
        return _Rating(self.likelihood.of(draws), self.concentration[draws], self.n)

    def value(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self.likelihood.value(x[None])[0] + self._prior(x))

    def value_and_slope(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value, slope = self.likelihood.value_and_slope(x[None])
        return value[0] + self._prior(x), slope[0] + self._prior_slope(expit(x))

    def slope_and_curvature(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        slope, curvature = self.likelihood.slope_and_curvature(x[None])
        share = expit(x)
        bend = self.n * self.concentration * share * (1 - share)
        return slope[0] + self._prior_slope(share), curvature[0] + bend

    def _prior(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self.concentration * (x - self.n * np.logaddexp(0, x)))

    def _prior_slope(self, share: np.ndarray) -> np.ndarray:
        return np.asarray(self.concentration * (1 - self.n * share))


def draw_independent(
    placement: Placement,
    theta: np.ndarray,
    concentration: np.ndarray,
    seed: list[int],
    threads: int | None = None,
) -> np.ndarray:
    """logit(theta_new)[D, T], given theta[D, T, m] of the others and concentration[D]."""
    n_draws, n_times, m = theta.shape
    by_time = np.ascontiguousarray(theta.swapaxes(0, 1))
    x = np.empty((n_times, n_draws))

    def run(t: int) -> None:
        rng = np.random.default_rng([*seed, t])
        here, ratings = placement.at(slice(t, t + 1)), by_time[t : t + 1]
        average = _Rating(
            here.among(ratings.mean(axis=1, keepdims=True)),
            concentration.mean(keepdims=True),
            m + 1,
        )
        start, _ = near_mode(average, np.zeros(1))
        batch = max(1, _NUMBERS_AT_A_TIME // here.counts.shape[1])
        for first in range(0, n_draws, batch):
            some = slice(first, first + batch)
            rating = _Rating(here.among(ratings[:, some]), concentration[some], m + 1)
            x[t, some] = draw(rating, np.full(len(rating.concentration), start[0]), rng)

    in_threads(run, range(n_times), threads)
    return x.T
