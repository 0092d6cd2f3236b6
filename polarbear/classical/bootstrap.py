"""How sure a mean over instances is: problems drawn again and again, for all algorithms alike.

Instances that are seeds of one problem repeat each other, so they are drawn together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polarbear.numerics.arrays import Floats

LEVEL = 0.95
_INSTANCES_AT_ONCE = 2000  # bounds memory; changes no result beyond rounding


@dataclass(frozen=True)
class Resamples:
    """How often each resample holds each instance: times[resample, instance].

    The same resamples serve all algorithms, so that differences are paired. ``problems`` is of how
    many problems the instances are; ``weights`` how many instances each counts as, where not one.
    """

    times: np.ndarray
    problems: int
    weights: Floats | None = None

    def mean(self, values: Floats) -> Floats:
        """The mean of values[instance, ...] over the instances as they are."""
        return np.asarray(np.average(values, axis=0, weights=self.weights))

    def means(self, values: Floats) -> Floats:
        """The mean of values[instance, ...] in each resample: [resample, ...]."""
        flat = values.reshape(len(values), -1)
        total = np.zeros((len(self.times), flat.shape[1]))
        for i in range(0, len(flat), _INSTANCES_AT_ONCE):
            some = slice(i, i + _INSTANCES_AT_ONCE)
            total += self.times[:, some].astype(np.float64) @ flat[some]
        held = self.times.sum(axis=1, dtype=float)  # more or less, where problems differ in seeds
        return np.asarray(total / held[:, None]).reshape(len(self.times), *values.shape[1:])

    def interval(self, values: Floats) -> tuple[Floats, Floats]:
        """The central 95 % of resampled means; NaN where there is one problem only."""
        if self.problems < 2:
            nothing = np.full(values.shape[1:], np.nan)
            return nothing, nothing
        tail = (1 - LEVEL) / 2
        low, high = np.quantile(self.means(values), [tail, 1 - tail], axis=0)
        return low, high

    def clearly_apart(self, values: Floats) -> tuple[np.ndarray, np.ndarray]:
        """Where the mean of values[instance, time] is above 0, and where below: [time] each.

        That is sure of all times at once: each gets the same multiple of its own error, wide
        enough that in 95 % of resamples no time leaves the band, so that looking at many times does
        not make one of them stand out by chance.
        """
        centre, means = self.mean(values), self.means(values)
        error = means.std(axis=0)
        varies = error > 0
        if self.problems < 2 or not varies.any():
            nowhere = np.zeros(values.shape[1:], dtype=bool)
            return nowhere, nowhere
        furthest = (np.abs(means - centre)[:, varies] / error[varies]).max(axis=1)
        wide = np.quantile(furthest, LEVEL) * error
        return np.asarray(varies & (centre > wide)), np.asarray(varies & (-centre > wide))


def resamples(
    problems: Sequence[str], count: int, seed: int, weights: Floats | None = None
) -> Resamples:
    """Draw problems with replacement, as many as there are; ``problems`` names each instance's.

    One of weight w counts as w problems: it is drawn w times as often, and adds w to how many are.
    """
    rng = np.random.default_rng(seed)
    names, first, of = np.unique(np.asarray(problems), return_index=True, return_inverse=True)
    place = np.argsort(np.argsort(first))[of.ravel()]  # in the order of their first instances
    each = np.ones(len(names)) if weights is None else weights[np.sort(first)]
    many = max(1, round(each.sum()))
    drawn = rng.multinomial(many, each / each.sum(), size=count)
    return Resamples(drawn.astype(np.int32)[:, place], len(names), weights)
