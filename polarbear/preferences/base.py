"""What a preference is: how a user values time, put on a grid of times.

A preference u is strictly monotone: a theta that is higher at all times has a higher value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from polarbear.errors import SelectionError
from polarbear.preferences.integrals import at_points
from polarbear.settings.options import Options
from polarbear.wording import typed, typed_time

_DRAWS_AT_ONCE = 256  # converted to double precision within the processor's cache
SWEEP_POINTS = 200  # positions of a sweep: more than a reader can tell apart in a figure


@dataclass(frozen=True)
class Context:
    """What a preference is put on: the grid, what its times are, and where files are looked for.

    ``joint`` says whether the draws of neighbouring times belong together. Where they do not, a
    mean of two times would look surer than either, so a single time is then one of the grid.
    """

    times: np.ndarray
    axis: str = "evaluations"
    folder: str = "."
    seed: int = 0
    joint: bool = True

    @property
    def first(self) -> float:
        return float(self.times[0])

    @property
    def last(self) -> float:
        return float(self.times[-1])

    @property
    def span(self) -> str:
        return f"from {typed(self.first)} to {typed_time(self.last, self.axis)}"

    def check(self, t: float, what: str) -> float:
        """The time, if it lies on the grid."""
        if not self.first <= t <= self.last:
            raise SelectionError(f"{what}: {typed(t)} is outside the grid, which goes {self.span}")
        return t


class Valuation(ABC):
    """A preference on a grid: what each draw of theta is worth."""

    notes: tuple[str, ...] = ()

    @abstractmethod
    def values(self, theta: np.ndarray) -> np.ndarray:
        """V[draw, item] of theta[draw, time, item]."""

    @property
    def weights(self) -> np.ndarray | None:
        """Of a linear preference, the weight of each time; others have none."""
        return None


@dataclass(frozen=True)
class Weighted(Valuation):
    """A linear preference: the weighted mean over time."""

    by_time: np.ndarray
    notes: tuple[str, ...] = ()

    def values(self, theta: np.ndarray) -> np.ndarray:
        if theta.shape[2] == 1:  # one product for all draws, in whatever order they lie
            return np.asarray(theta[:, :, 0] @ self.by_time.astype(theta.dtype))[:, None]
        values = np.empty((theta.shape[0], theta.shape[2]))
        for first in range(0, len(values), _DRAWS_AT_ONCE):
            some = slice(first, first + _DRAWS_AT_ONCE)
            np.matmul(self.by_time, theta[some].astype(np.float64, copy=False), out=values[some])
        return values

    @property
    def weights(self) -> np.ndarray:
        return self.by_time


@dataclass(frozen=True)
class Variations:
    """A family of linear preferences, from one end to the other: weights[position, time]."""

    name: str
    positions: np.ndarray
    weights: np.ndarray
    log: bool = False  # whether equal ratios of positions are equal steps


class Preference(Options, ABC):
    """One way to value time; a new one is a class like this and a line in the registry."""

    preference: str = Field(description="which preference this is")

    spoken: ClassVar[tuple[str, ...]] = ()  # the fields that follow its name in words
    between: ClassVar[str] = " "  # what may stand between them

    @abstractmethod
    def words(self, context: Context) -> str:
        """One line of plain words that says what is valued."""

    @abstractmethod
    def on(self, context: Context) -> Valuation:
        """The preference on a grid, or an error that says why it does not fit there."""

    def variations(self, context: Context) -> Variations:
        """What a sweep goes through: here, every budget that the grid has room for."""
        times = context.times
        steps = max(1, round(SWEEP_POINTS / max(1, len(times) - 1))) if context.joint else 1
        shares = np.arange(steps) / steps
        between = (times[:-1, None] + np.diff(times)[:, None] * shares).ravel()
        positions = np.append(between, times[-1])
        is_log = len(times) > 2 and bool(times[-1] / times[0] > 20)
        return Variations(
            f"budget in {context.axis}", positions, at_points(times, positions), is_log
        )

    @property
    def text(self) -> str:
        """The preference as it can be given on the command line."""
        values = [_written(getattr(self, name)) for name in self.spoken]
        return " ".join(filter(None, [self.preference, self.between.join(values)]))


def _written(value: Any) -> str:
    return typed(value) if isinstance(value, int | float) else str(value)
