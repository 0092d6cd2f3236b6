"""How sure a mean over instances is: instances drawn again and again, for all algorithms alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polarbear.problems.base import Floats

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


def resamples(instances: int, count: int, seed: int) -> Resamples:
    """Draw instances with replacement, as many as there are."""
    rng = np.random.default_rng(seed)
    even = np.full(instances, 1 / instances)
    return Resamples(rng.multinomial(instances, even, size=count).astype(np.uint16))
