"""Preferences that need no more than a time or two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from pydantic import Field

from polarbear.errors import SelectionError
from polarbear.preferences.base import (
    SWEEP_POINTS,
    Context,
    Preference,
    Valuation,
    Variations,
    Weighted,
)
from polarbear.preferences.integrals import at_points, over_range
from polarbear.wording import SHARE_OF_FIRSTS, typed, typed_time

NEAREST = "{t} is taken at {nearest}, the nearest time of the grid"


class Uniform(Preference):
    """Every time counts the same, whatever the spacing of the grid."""

    def words(self, context: Context) -> str:
        return f"the budget is equally likely to be anything {context.span}"

    def on(self, context: Context) -> Valuation:
        return Weighted(over_range(context.times, context.first, context.last))


class LogUniform(Preference):
    """Every factor of ten counts the same."""

    def words(self, context: Context) -> str:
        return (
            "short and long budgets count alike, every factor of ten as much as another, "
            f"{context.span}"
        )

    def on(self, context: Context) -> Valuation:
        return Weighted(over_range(context.times, context.first, context.last, log=True))


class At(Preference):
    """The budget is known exactly."""

    t: float = Field(description="the budget")

    spoken: ClassVar[tuple[str, ...]] = ("t",)

    def words(self, context: Context) -> str:
        return f"the budget is {typed_time(self.t, context.axis)}"

    def on(self, context: Context) -> Valuation:
        context.check(self.t, "at")
        if context.joint or self.t in context.times:
            return Weighted(at_points(context.times, np.array([self.t]))[0])
        nearest = context.times[np.abs(context.times - self.t).argmin()]
        note = NEAREST.format(t=typed(self.t), nearest=typed(nearest))
        return Weighted(at_points(context.times, np.array([nearest]))[0], (note,))


class Between(Preference):
    """The budget lies in a range, anywhere in it."""

    start: float = Field(alias="from", description="the shortest budget")
    stop: float = Field(alias="to", description="the longest budget")

    spoken: ClassVar[tuple[str, ...]] = ("start", "stop")
    between: ClassVar[str] = " and "

    def words(self, context: Context) -> str:
        return (
            f"the budget is equally likely to be anything from {typed(self.start)} to "
            f"{typed_time(self.stop, context.axis)}"
        )

    def on(self, context: Context) -> Valuation:
        for t in (self.start, self.stop):
            context.check(t, "between")
        if self.stop < self.start:
            raise SelectionError(
                f"between: a range goes from the shorter to the longer budget, found "
                f"{typed(self.start)} and {typed(self.stop)}"
            )
        return Weighted(over_range(context.times, self.start, self.stop))

    def variations(self, context: Context) -> Variations:
        """Ranges around the same centre, from a single budget to all that fits on the grid."""
        self.on(context)
        centre = (self.start + self.stop) / 2
        widest = 2 * max(centre - context.first, context.last - centre)
        widths = np.linspace(0.0, widest, SWEEP_POINTS)
        starts = np.maximum(centre - widths / 2, context.first)
        stops = np.minimum(centre + widths / 2, context.last)
        ends = zip(starts, stops, strict=True)
        weights = np.stack([over_range(context.times, start, stop) for start, stop in ends])
        name = f"width of the range around {typed_time(centre, context.axis)}"
        return Variations(name, widths, weights)


class Final(Preference):
    """Only the end of the grid counts."""

    def words(self, context: Context) -> str:
        return f"only the end counts: {typed_time(context.last, context.axis)}"

    def on(self, context: Context) -> Valuation:
        return Weighted(at_points(context.times, context.times[-1:])[0])


@dataclass(frozen=True)
class Lowest(Valuation):
    """The lowest theta at any time."""

    notes: tuple[str, ...] = ()

    def values(self, theta: np.ndarray) -> np.ndarray:
        return np.asarray(theta.min(axis=1), dtype=np.float64)


class WorstCase(Preference):
    """The time at which an algorithm is at its worst is what counts."""

    def words(self, context: Context) -> str:
        return f"what counts is the lowest {SHARE_OF_FIRSTS} at any time {context.span}"

    def on(self, context: Context) -> Valuation:
        return Lowest()
