"""The result of a check of fit (`plackett_luce/goodness_of_fit.py`), by indices and by names."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from polarbear.wording import percent, time


@dataclass(frozen=True)
class Deviation:
    """A pair at a time, or first places where ``b`` is None, by their indices.

    ``observed`` and ``predicted`` are shares of instances that a wins.
    """

    a: int
    b: int | None
    time: int
    observed: float
    predicted: float


@dataclass(frozen=True)
class Fit:
    """Whether a Plackett-Luce posterior fits its rankings, and its worst pairs."""

    fits: bool
    p_value: float
    worst: tuple[Deviation, ...]


class Misfit(NamedTuple):
    """A pair at a time, or first places where ``b`` is None: observed and predicted share."""

    a: str
    b: str | None
    t: float
    observed: float
    predicted: float

    @property
    def words(self) -> str:
        wins = f"{self.a} is first" if self.b is None else f"{self.a} beats {self.b}"
        observed = percent(self.observed)
        predicted = percent(self.predicted)
        return f"{wins} on {observed} of instances at {time(self.t)}, the model says {predicted}"


class NamedFit(NamedTuple):
    """A fit in terms of names and times; fields are keys of JSON."""

    fits: bool
    p_value: float
    worst: tuple[Misfit, ...]

    @property
    def words(self) -> str | None:
        """A sentence about a model that does not fit; None for one that fits."""
        return None if self.fits else f"Plackett-Luce does not fit: {self.worst[0].words}"


def named(fit: Fit | None, algorithms: Sequence[str], times: np.ndarray) -> NamedFit | None:
    """A fit in terms of names and times; None where nothing was checked."""
    if fit is None:
        return None
    worst = tuple(
        Misfit(
            algorithms[deviation.a],
            None if deviation.b is None else algorithms[deviation.b],
            float(times[deviation.time]),
            deviation.observed,
            deviation.predicted,
        )
        for deviation in fit.worst
    )
    return NamedFit(fit.fits, fit.p_value, worst)
