"""Preferences given by at most two times, and weighted means of preferences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from pydantic import Field, SerializeAsAny, field_validator

from polarbear.errors import SelectionError
from polarbear.selection.integrals import at_points, normalised, over_range
from polarbear.selection.preference import (
    SWEEP_POINTS,
    Context,
    Preference,
    Valuation,
    Variations,
    Weighted,
)
from polarbear.settings.options import Options
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
    """Only the time at which an algorithm is at its worst counts."""

    def words(self, context: Context) -> str:
        return f"what counts is the lowest {SHARE_OF_FIRSTS} at any time {context.span}"

    def on(self, context: Context) -> Valuation:
        return Lowest()


class Part(Options):
    """One preference in a mix."""

    weight: float = Field(1.0, description="how much it counts, relative to the others")
    preference: SerializeAsAny[Preference] = Field(description="the preference, with its options")


@dataclass(frozen=True)
class Mixed(Valuation):
    """The weighted mean of several valuations."""

    parts: tuple[Valuation, ...]
    shares: np.ndarray
    notes: tuple[str, ...] = ()

    def values(self, theta: np.ndarray) -> np.ndarray:
        return np.asarray(
            sum(
                share * part.values(theta)
                for share, part in zip(self.shares, self.parts, strict=True)
                if share > 0
            )
        )


class Mix(Preference):
    """A weighted mean of other preferences."""

    of: tuple[Part, ...] = Field(description="a list of {weight, preference, its options}")

    @field_validator("of")
    @classmethod
    def _convex(cls, of: tuple[Part, ...]) -> tuple[Part, ...]:
        for part in of:
            if part.weight < 0:
                raise ValueError(f"a weight is at least zero, found {part.weight:g}")
        if not any(part.weight > 0 for part in of):
            raise ValueError("a mix needs at least one part with a weight above zero")
        return of

    def _shares(self) -> np.ndarray:
        return normalised(np.array([part.weight for part in self.of]))

    @property
    def text(self) -> str:
        return " + ".join(f"{typed(part.weight)} * {part.preference.text}" for part in self.of)

    def words(self, context: Context) -> str:
        parts = zip(self._shares(), self.of, strict=True)
        return "; ".join(
            f"with weight {share:.3g}: {part.preference.words(context)}" for share, part in parts
        )

    def on(self, context: Context) -> Valuation:
        parts = tuple(part.preference.on(context) for part in self.of)
        shares = self._shares()
        notes = tuple(note for part in parts for note in part.notes)
        weights = [part.weights for part in parts]
        if all(row is not None for row in weights):
            return Weighted(shares @ np.stack([row for row in weights if row is not None]), notes)
        return Mixed(parts, shares, notes)
