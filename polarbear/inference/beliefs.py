"""Estimates of a posterior at one moment: ratings over time, and relations between pairs."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from polarbear.inference.posterior_draws import Posterior
from polarbear.inference.relations import joint, pointwise
from polarbear.inference.strongest_rival import p_best_at_each_time


class Beliefs(NamedTuple):
    """Ratings and relations at one moment: after a round, or in a posterior kept by `infer`.

    ``mean``, ``low`` and ``high`` are ratings[algorithm, time] with the central 95 % interval;
    ``best[algorithm, time]`` is P(best at t) among the candidates, NaN for other algorithms.
    ``above[time, a, b]`` is P(a is better than b), ``above_error`` its Monte-Carlo error,
    ``alike[time, a, b]`` is P(equivalent); ``always_above[a, b]``, its error and ``crossing[a, b]``
    are about all times jointly, None where the model has no joint posterior. Relations are NaN
    where the posterior is not usable, and of an algorithm with itself.
    """

    algorithms: tuple[str, ...]
    times: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    best: np.ndarray
    above: np.ndarray
    above_error: np.ndarray
    alike: np.ndarray
    always_above: np.ndarray | None = None
    always_above_error: np.ndarray | None = None
    crossing: np.ndarray | None = None

    @property
    def trusted(self) -> bool:
        """Whether the posterior was usable."""
        return not bool(np.isnan(self.above).all())

    @property
    def joint(self) -> bool:
        """Whether there are relations over all times jointly."""
        return self.always_above is not None

    def row_of(self, name: str) -> int:
        """The index of an algorithm in every array."""
        return self.algorithms.index(name)

    def dominance(self) -> np.ndarray:
        """The lowest P(a is better than b) over time: [a, b]."""
        return np.asarray(self.above.min(axis=0))


def beliefs(
    posterior: Posterior,
    candidates: Sequence[str],
    epsilon: float,
    usable: bool = True,
) -> Beliefs:
    """The estimates of a posterior; relations are NaN unless it is ``usable``."""
    algorithms = posterior.algorithms
    times = posterior.times
    low, high = posterior.interval()
    unknown = np.full((len(times), len(algorithms), len(algorithms)), np.nan)
    at_times = pointwise(posterior, epsilon) if usable else None
    over_times = joint(posterior) if usable and posterior.joint else None
    items = [i for i, name in enumerate(algorithms) if name in candidates]
    best = np.full((len(algorithms), len(times)), np.nan)
    if items:
        best[items] = p_best_at_each_time(posterior, items).T
    return Beliefs(
        algorithms=algorithms,
        times=times,
        mean=posterior.mean().T,
        low=low.T,
        high=high.T,
        best=best,
        above=unknown if at_times is None else _without_diagonal(at_times.dominance),
        above_error=unknown if at_times is None else _without_diagonal(at_times.dominance_error),
        alike=unknown if at_times is None else _without_diagonal(at_times.equivalence),
        always_above=None if over_times is None else over_times.dominance,
        always_above_error=None if over_times is None else over_times.dominance_error,
        crossing=None if over_times is None else over_times.crossing,
    )


def _without_diagonal(relations: np.ndarray) -> np.ndarray:
    return np.where(np.eye(relations.shape[1], dtype=bool), np.nan, relations)
