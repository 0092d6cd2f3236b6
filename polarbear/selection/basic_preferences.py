"""Preferences given by at most two times, weighted means of preferences, and user functions."""

import inspect
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from pydantic import Field, SerializeAsAny, field_validator

from polarbear.errors import SelectionError
from polarbear.selection.preference import (
    AT_ITS_WORST,
    AT_THE_BUDGET,
    Context,
    Preference,
    Valuation,
    at_points,
    linear,
    normalised,
    over_range,
)
from polarbear.settings.options import Options
from polarbear.settings.user_code import Reference, check_call, load_function
from polarbear.wording import SHARE_OF_FIRSTS, rounded, time, typed, typed_time

PAIRS = 600  # of curves that monotonicity is tested on
NEAREST = "{t} is taken at {nearest}, the nearest time of the grid"


class Uniform(Preference):
    """The budget is equally likely to be anything on the grid, whatever the grid's spacing."""

    example: ClassVar[str] = "uniform"

    def words(self, context: Context) -> str:
        return f"the budget is equally likely to be anything {context.span}"

    def on(self, context: Context) -> Valuation:
        return linear(over_range(context.times, context.first, context.last))


class LogUniform(Preference):
    """Every factor of ten counts the same."""

    example: ClassVar[str] = "log-uniform"

    def words(self, context: Context) -> str:
        return (
            "short and long budgets count alike, every factor of ten as much as another, "
            f"{context.span}"
        )

    def on(self, context: Context) -> Valuation:
        return linear(over_range(context.times, context.first, context.last, log=True))


class At(Preference):
    """The budget is known exactly."""

    example: ClassVar[str] = "at 5000"

    t: float = Field(
        description="the budget; with a unit as in `at 5k` or, on the seconds axis, `at 10 minutes`"
    )

    def words(self, context: Context) -> str:
        return f"the budget is {typed_time(self.t, context.axis)}"

    def on(self, context: Context) -> Valuation:
        context.check(self.t, "at")
        nearest = context.times[np.abs(context.times - self.t).argmin()]
        taken = self.t if context.joint else nearest
        note = NEAREST.format(t=typed(self.t), nearest=time(nearest))
        weights = at_points(context.times, np.array([taken]))[0]
        return linear(weights, () if taken == self.t else (note,))

    def times_in_words(self, valuation: Valuation) -> str:
        return AT_THE_BUDGET


class Between(Preference):
    """The budget is equally likely to be anything in a range."""

    example: ClassVar[str] = "between 3600 and 7200"

    start: float = Field(alias="from", description="the shortest budget")
    stop: float = Field(alias="to", description="the longest budget")

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
        return linear(over_range(context.times, self.start, self.stop))


class Final(Preference):
    """Only the end of the grid counts."""

    example: ClassVar[str] = "final"

    def words(self, context: Context) -> str:
        return f"only the end counts: {typed_time(rounded(context.last), context.axis)}"

    def on(self, context: Context) -> Valuation:
        return linear(at_points(context.times, context.times[-1:])[0])

    def times_in_words(self, valuation: Valuation) -> str:
        return AT_THE_BUDGET


class WorstCase(Preference):
    """Only the time at which an algorithm is at its worst counts."""

    example: ClassVar[str] = "worst-case"

    def words(self, context: Context) -> str:
        return f"what counts is the lowest {SHARE_OF_FIRSTS} at any time {context.span}"

    def on(self, context: Context) -> Valuation:
        return Valuation(lambda theta: theta.min(axis=1).astype(np.float64))

    def times_in_words(self, valuation: Valuation) -> str:
        return AT_ITS_WORST


class Part(Options):
    """One preference in a mix."""

    weight: float = Field(1.0, description="how much it counts, relative to the others")
    preference: SerializeAsAny[Preference] = Field(description="the preference, with its options")


class Mix(Preference):
    """The value is a weighted mean of those of other preferences."""

    example: ClassVar[str] = "0.7 * at 5000 + 0.3 * worst-case"

    of: tuple[Part, ...] = Field(description="a list of {weight, preference, its options}")

    @field_validator("of")
    @classmethod
    def _convex(cls, of: tuple[Part, ...]) -> tuple[Part, ...]:
        weights = [part.weight for part in of]
        if min(weights) < 0:
            raise ValueError(f"a weight is at least zero, found {min(weights):g}")
        if not any(weights):
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
        shares = self._shares()
        valuations = [part.preference.on(context) for part in self.of]
        notes = tuple(note for valuation in valuations for note in valuation.notes)
        weights = [part.weights for part in valuations if part.weights is not None]
        if len(weights) == len(valuations):
            return linear(shares @ np.stack(weights), notes)

        def values(theta: np.ndarray) -> np.ndarray:
            weighted = [
                share * valuation.values(theta)
                for share, valuation in zip(shares, valuations, strict=True)
                if share > 0
            ]
            return np.asarray(sum(weighted))

        return Valuation(values, notes=notes)


class Python(Preference):
    """The value is a function of yours, called as `function(theta, times, **options)`."""

    example: ClassVar[str] = "mine:worth"

    function: Reference = Field(
        description="'module:function' or 'file.py:function', looked for beside the YAML file, or "
        "in the current folder"
    )
    options: dict[str, Any] = Field({}, description="further arguments for the function")

    def words(self, context: Context) -> str:
        return f"the value is {self.function} of the shares of firsts over time"

    def on(self, context: Context) -> Valuation:
        function = load_function(self.function, context.folder)
        check_call(function, self.function, None, self.options)
        options = dict(self.options)
        if _takes_times(function):
            options["times"] = context.times

        def of_curve(curve: np.ndarray) -> float:
            try:
                returned = function(curve, **options)
            except Exception as error:  # a user's function may raise anything
                raise SelectionError(
                    f"'{self.function}' failed: {type(error).__name__}: {error}"
                ) from error
            try:
                number = float(returned)
            except (TypeError, ValueError):
                number = np.nan
            if not np.isfinite(number):
                raise SelectionError(
                    f"'{self.function}' returned {str(returned)[:60]} "
                    f"({type(returned).__name__}); "
                    "expected a finite number for each theta over time"
                )
            return number

        def values(theta: np.ndarray) -> np.ndarray:
            curves = np.ascontiguousarray(theta.swapaxes(1, 2), dtype=np.float64)
            return np.apply_along_axis(of_curve, 2, curves)

        lower_curves, higher_curves = ordered_pairs(len(context.times), context.seed)
        lower_values = np.array([of_curve(curve) for curve in lower_curves])
        higher_values = np.array([of_curve(curve) for curve in higher_curves])
        violations = np.flatnonzero(~(higher_values > lower_values))
        if len(violations):
            pair = violations[0]
            raise SelectionError(
                f"'{self.function}' is not strictly monotone: it gave {lower_values[pair]:.6g} for "
                f"one theta and {higher_values[pair]:.6g} for another that is higher at all times. "
                "More winning must be worth more"
            )
        return Valuation(values)


def _takes_times(function: Callable[..., object]) -> bool:
    try:
        return "times" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # some compiled functions have no signature
        return False


def ordered_pairs(n_times: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Curves of probabilities, and curves that are higher at all times: [pair, time] each.

    Curves are flat, noisy or smooth, at all levels. Gaps are constant, vary, or are small except at
    a few times, which detects preferences that penalise variation.
    """
    rng = np.random.default_rng(seed)
    level = 10.0 ** rng.uniform(-2.0, 0.0, (PAIRS, 1))
    kind = np.arange(PAIRS) % 3
    noise = rng.uniform(size=(PAIRS, n_times))
    frequency = rng.uniform(0, 3, (PAIRS, 1))
    phase = rng.uniform(0, 1, (PAIRS, 1))
    wave = 0.5 + 0.5 * np.sin(2 * np.pi * (frequency * np.linspace(0, 1, n_times) + phase))
    shape = np.choose(kind[:, None], [np.full_like(noise, 0.5), noise, wave])
    lower = 0.001 + 0.9 * level * shape
    even = np.broadcast_to(rng.uniform(0.05, 0.9, (PAIRS, 1)), noise.shape)
    spiked = np.where(rng.uniform(size=noise.shape) < 2.0 / (n_times + 1), 0.9, 0.02)
    gap_kind = (np.arange(PAIRS) // 3) % 3
    gap = np.choose(gap_kind[:, None], [even, rng.uniform(0.02, 0.9, noise.shape), spiked])
    return lower, lower + (1.0 - lower) * gap
