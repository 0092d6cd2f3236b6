"""The axis of time, and the grid of times at which algorithms are compared."""

from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
from pydantic import Field, field_validator, model_validator

from polarbear.settings.enumerations import Spacing
from polarbear.settings.names import checked_name
from polarbear.settings.options import Options, describe

EVALUATIONS = "evaluations"
SECONDS = "seconds"
CPU_SECONDS = "cpu-seconds"  # of all processes and threads of a run
TIMED_AXES = (SECONDS, CPU_SECONDS)  # whose times are measured, and depend on the machine
# Axes whose last word is one of these count something: their times are whole numbers.
COUNTED_AXES = (
    "batches",
    "calls",
    "epochs",
    "episodes",
    "evaluations",
    "generations",
    "iterations",
    "moves",
    "nodes",
    "queries",
    "rounds",
    "samples",
    "steps",
    "tokens",
    "trials",
    "updates",
)
# Times suit a logarithmic axis if the ratio of the last to the first one, and that of the largest
# to the smallest step between them, are above these.
MIN_LOG_SPAN = 20
MIN_LOG_STEPS = 3


class Spaced(Options):
    """A grid of regularly spaced times."""

    spacing: Spacing = Field(Spacing.LOG, description="even steps in log t, or in t")
    start: float = Field(alias="from", gt=0, description="the first time that matters")
    stop: float = Field(alias="to", gt=0, description="the last time: the budget of a run")
    points: int = Field(30, ge=1, le=100_000, description="how many times, both ends included")

    @model_validator(mode="after")
    def _increasing(self) -> Self:
        if self.stop < self.start or (self.stop == self.start and self.points > 1):
            raise ValueError(f"a grid must increase, but goes from {self.start:g} to {self.stop:g}")
        if self.points == 1 and self.stop != self.start:
            raise ValueError("a grid of one point has 'from' equal to 'to'")
        return self

    def times(self) -> np.ndarray:
        space = np.geomspace if self.spacing == "log" else np.linspace
        times = space(self.start, self.stop, self.points)
        times[-1] = self.stop  # without rounding errors, since it is also the budget
        return times


class Budget(Options):
    """The axis of time and the times at which algorithms are compared."""

    axis: str = Field(
        EVALUATIONS,
        description="'evaluations', 'seconds', 'cpu-seconds' (of the processor), or any other "
        "name: t is then what algorithms report",
    )
    grid: Spaced | tuple[float, ...] = Field(
        description="{spacing, from, to, points}, or a list of times; the last is a run's budget"
    )

    @field_validator("axis")
    @classmethod
    def _named(cls, axis: str) -> str:
        return checked_name(axis)

    @field_validator("grid", mode="before")
    @classmethod
    def _one_form(cls, grid: object) -> object:
        if isinstance(grid, dict):
            return Spaced.model_validate(grid)
        if isinstance(grid, list | tuple):
            return _listed(grid)
        if isinstance(grid, Spaced):
            return grid
        raise ValueError(
            f"expected {{spacing, from, to, points}} or a list of times, found {describe(grid)}"
        )

    @model_validator(mode="after")
    def _whole_evaluations(self) -> Self:
        first = self.grid[0] if isinstance(self.grid, tuple) else self.grid.start
        if self.axis == EVALUATIONS and round(first) < 1:
            raise ValueError(
                f"the grid begins at {first:g}, but evaluations are whole and the first is 1; "
                "begin there, or name another axis"
            )
        return self

    def cut(self, until: float) -> "Budget":
        """The grid up to a time, with the same spacing; ValueError if nothing remains."""
        if not self.times[0] <= until <= self.limit:
            raise ValueError(
                f"expected a time within the grid, {self.times[0]:g} to {self.limit:g}, "
                f"found {until:g}"
            )
        kept = self.times[self.times <= until]
        if isinstance(self.grid, tuple) or len(kept) == 1:
            return Budget(axis=self.axis, grid=tuple(kept.tolist()))
        points = int((self.grid.times() <= until).sum())
        spaced = Spaced(spacing=self.grid.spacing, start=self.grid.start, stop=until, points=points)
        return Budget(axis=self.axis, grid=spaced)

    @cached_property
    def times(self) -> np.ndarray:
        """The grid; on an axis that counts, of whole numbers, each once.

        Listed times, and ends that are no whole numbers, are left as they are, except evaluations.
        """
        if isinstance(self.grid, tuple):
            times = np.array(self.grid)
            is_whole = self.axis == EVALUATIONS
        else:
            times = self.grid.times()
            has_whole_ends = self.grid.start % 1 == 0 and self.grid.stop % 1 == 0
            is_counted = self.axis.split(" ")[-1] in COUNTED_AXES
            is_whole = self.axis == EVALUATIONS or (is_counted and has_whole_ends)
        return np.array(sorted({*np.round(times)})) if is_whole else times

    @property
    def limit(self) -> float:
        """The budget of one run: the last time of the grid."""
        return float(self.times[-1])

    @property
    def is_timed(self) -> bool:
        """Whether its times are measured here, so that they depend on the machine."""
        return self.axis in TIMED_AXES

    @property
    def suits_log_axis(self) -> bool:
        """Whether figures show the grid on a logarithmic axis."""
        if isinstance(self.grid, Spaced):
            return self.grid.spacing == "log"
        return suit_log_axis(self.times)

    @cached_property
    def unit_times(self) -> np.ndarray:
        """The grid (log t if it suits a logarithmic axis) mapped to the unit interval."""
        scaled = np.log(self.times) if self.suits_log_axis else self.times
        span = scaled[-1] - scaled[0]
        return (scaled - scaled[0]) / span if span > 0 else np.zeros_like(scaled)


def suit_log_axis(times: np.ndarray) -> bool:
    """Whether a logarithmic axis suits times, by their span and their steps."""
    if len(times) < 2 or times[0] <= 0:
        return False
    steps = np.diff(times)
    has_growing_steps = steps.max() > MIN_LOG_STEPS * steps.min()
    return bool(has_growing_steps and times[-1] / times[0] > MIN_LOG_SPAN)


def _listed(grid: list[Any] | tuple[Any, ...]) -> tuple[float, ...]:
    try:
        times = tuple(float(t) for t in grid)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("a listed grid consists of numbers") from None
    if not times or not all(np.isfinite(times)) or times[0] <= 0:
        raise ValueError("a listed grid needs at least one time, each finite and above zero")
    for earlier, later in pairwise(times):
        if later <= earlier:
            raise ValueError(f"a grid must increase, but {later:g} follows {earlier:g}")
    return times
