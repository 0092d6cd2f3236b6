"""What a posterior comes to at one moment: ratings over time, and relations between pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from polarbear.inference.base import Posterior
    from polarbear.inference.relations import Joint, Pointwise


class Beliefs(NamedTuple):
    """Ratings and relations at one moment: after a round, or in a posterior kept by `infer`.

    ``mean``, ``low`` and ``high`` are ratings[algorithm, time] with the central 95 % interval;
    ``above[time, a, b]`` is P(a is better than b), ``above_error`` its Monte-Carlo error,
    ``alike[time, a, b]`` that they are equivalent; ``always_above[a, b]``, its error and
    ``crossing[a, b]`` speak of all times at once and are None where nobody asked or the model does
    not know that. Relations are NaN where the posterior was not to be trusted, and of an algorithm
    with itself.
    """

    algorithms: tuple[str, ...]
    times: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    above: np.ndarray
    above_error: np.ndarray
    alike: np.ndarray
    always_above: np.ndarray | None = None
    always_above_error: np.ndarray | None = None
    crossing: np.ndarray | None = None

    @property
    def trusted(self) -> bool:
        """Whether there are relations at all."""
        return not bool(np.isnan(self.above).all())

    @property
    def joint(self) -> bool:
        """Whether relations speak of all times at once, too."""
        return self.always_above is not None

    def place(self, name: str) -> int:
        return self.algorithms.index(name)

    def dominance(self) -> np.ndarray:
        """P(a is better than b at every time)[a, b]; where times are known each for itself, the
        lowest probability over time, which is what the race goes by."""
        return self.above.min(axis=0) if self.always_above is None else self.always_above


def beliefs(
    posterior: Posterior,
    algorithms: tuple[str, ...],
    times: np.ndarray,
    pointwise: Pointwise | None,
    joint: Joint | None,
) -> Beliefs:
    """What a posterior over these algorithms and times says, by relations made from it."""
    low, high = posterior.interval()
    unknown = np.full((len(times), len(algorithms), len(algorithms)), np.nan)
    above, error, alike = (
        (unknown, unknown, unknown)
        if pointwise is None
        else (pointwise.dominance, pointwise.dominance_error, pointwise.equivalence)
    )
    return Beliefs(
        algorithms=algorithms,
        times=times,
        mean=posterior.mean().T,
        low=low.T,
        high=high.T,
        above=_without_diagonal(above),
        above_error=_without_diagonal(error),
        alike=_without_diagonal(alike),
        always_above=None if joint is None else joint.dominance,
        always_above_error=None if joint is None else joint.dominance_error,
        crossing=None if joint is None else joint.crossing,
    )


def _without_diagonal(relations: np.ndarray) -> np.ndarray:
    made, itself = relations.copy(), np.arange(relations.shape[1])
    made[:, itself, itself] = np.nan
    return made
