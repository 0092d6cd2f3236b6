"""How sure a mean over instances is: instances drawn again and again, for all algorithms alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polarbear.numerics.arrays import Floats

LEVEL = 0.95
_INSTANCES_AT_ONCE = 2000  # bounds memory; changes no result beyond rounding


@dataclass(frozen=True)
class Resamples:
    """How often each resample holds each instance: times[resample, instance].

    The same resamples serve all algorithms, so that differences are paired.
    """

    times: np.ndarray

    def means(self, values: Floats) -> Floats:
        """The mean of values[instance, ...] in each resample: [resample, ...]."""
        flat = values.reshape(len(values), -1)
        total = np.zeros((len(self.times), flat.shape[1]))
        for i in range(0, len(flat), _INSTANCES_AT_ONCE):
            some = slice(i, i + _INSTANCES_AT_ONCE)
            total += self.times[:, some].astype(np.float64) @ flat[some]
        return (total / len(values)).reshape(len(self.times), *values.shape[1:])

    def interval(self, values: Floats) -> tuple[Floats, Floats]:
        """The central 95 % of resampled means; NaN where there is one instance only."""
        if len(values) < 2:
            nothing = np.full(values.shape[1:], np.nan)
            return nothing, nothing
        tail = (1 - LEVEL) / 2
        low, high = np.quantile(self.means(values), [tail, 1 - tail], axis=0)
        return low, high

    def clearly_above(self, values: Floats) -> np.ndarray:
        """Where the mean of values[instance, time] is above 0, sure of all times at once: [time].

        Each time gets the same multiple of its own error, wide enough that in 95 % of resamples no
        time leaves the band: looking at many times does not make one of them stand out by chance.
        """
        centre, means = values.mean(axis=0), self.means(values)
        error = means.std(axis=0)
        varies = error > 0
        if len(values) < 2 or not varies.any():
            return np.zeros(values.shape[1:], dtype=bool)
        furthest = (np.abs(means - centre)[:, varies] / error[varies]).max(axis=1)
        return np.asarray(varies & (centre > np.quantile(furthest, LEVEL) * error))


def resamples(instances: int, count: int, seed: int) -> Resamples:
    """Draw instances with replacement, as many as there are."""
    rng = np.random.default_rng(seed)
    even = np.full(instances, 1 / instances)
    return Resamples(rng.multinomial(instances, even, size=count).astype(np.uint16))
