"""Preferences that are Python functions of the user, tested for monotonicity on samples."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import AfterValidator, Field

from polarbear.errors import SelectionError
from polarbear.selection.preference import Context, Preference, Valuation
from polarbear.settings.user_code import check_call, check_reference, load_function

PAIRS = 600  # of curves that monotonicity is tested on


class Python(Preference):
    """``function(theta, times, **options)``: a number for one curve theta over time."""

    function: Annotated[str, AfterValidator(check_reference)] = Field(
        description="'module:function' or 'file.py:function', looked for beside the YAML file, or "
        "in the current folder"
    )
    options: dict[str, Any] = Field({}, description="further arguments for the function")

    spoken: ClassVar[tuple[str, ...]] = ("function",)

    def words(self, context: Context) -> str:
        return f"the value is {self.function} of the shares of firsts over time"

    def on(self, context: Context) -> Valuation:
        function = load_function(self.function, context.folder)
        check_call(function, self.function, None, self.options)
        arguments = (context.times,) if _takes_times(function, self.options) else ()

        def value(theta: np.ndarray) -> Any:
            try:
                return function(theta, *arguments, **self.options)
            except Exception as error:  # a user's function may raise anything
                raise SelectionError(
                    f"'{self.function}' failed: {type(error).__name__}: {error}"
                ) from error

        made = FunctionValuation(value, self.function)
        below, above = map(made.of_curves, ordered_pairs(len(context.times), context.seed))
        wrong = np.flatnonzero(~(above > below))
        if len(wrong):
            one, other = below[wrong[0]], above[wrong[0]]
            raise SelectionError(
                f"'{self.function}' is not strictly monotone: it gave {one:.6g} for one theta "
                f"and {other:.6g} for another that is higher at all times. More winning must "
                "be worth more"
            )
        return made


@dataclass(frozen=True)
class FunctionValuation(Valuation):
    """A function that is called for each curve."""

    function: Callable[[np.ndarray], Any]
    name: str
    notes: tuple[str, ...] = ()

    def values(self, theta: np.ndarray) -> np.ndarray:
        draws, times, items = theta.shape
        curves = np.ascontiguousarray(theta.swapaxes(1, 2), dtype=np.float64).reshape(-1, times)
        return self.of_curves(curves).reshape(draws, items)

    def of_curves(self, curves: np.ndarray) -> np.ndarray:
        """The value of each curve[curve, time]."""
        made = np.array([self._number(self.function(curve)) for curve in curves])
        if not np.all(np.isfinite(made)):
            bad = made[~np.isfinite(made)][0]
            raise SelectionError(
                f"'{self.name}' returned {bad} for a theta between {curves.min():.3g} and "
                f"{curves.max():.3g}; expected a finite number"
            )
        return made

    def _number(self, found: Any) -> float:
        try:
            return float(found)
        except (TypeError, ValueError):
            raise SelectionError(
                f"'{self.name}' returned {type(found).__name__}; expected a number for each theta "
                "over time"
            ) from None


def _takes_times(function: Callable[..., Any], options: dict[str, Any]) -> bool:
    """Whether the function has a second positional parameter for the times."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    room = [
        p
        for p in parameters
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.name not in options
    ]
    return len(room) >= 2 and (
        room[1].default is inspect.Parameter.empty or room[1].name == "times"
    )


def ordered_pairs(n_times: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Curves of probabilities, and curves that are higher at all times: [pair, time] each.

    Curves are flat, noisy or smooth, at all levels. Gaps are constant, vary, or are small except at
    a few times, which detects preferences that penalise variation.
    """
    rng = np.random.default_rng(seed)
    level = 10.0 ** rng.uniform(-2.0, 0.0, (PAIRS, 1))
    kind = np.arange(PAIRS) % 3
    noise = rng.uniform(size=(PAIRS, n_times))
    frequency, phase = rng.uniform(0, 3, (PAIRS, 1)), rng.uniform(0, 1, (PAIRS, 1))
    wave = 0.5 + 0.5 * np.sin(2 * np.pi * (frequency * np.linspace(0, 1, n_times) + phase))
    shape = np.choose(kind[:, None], [np.full_like(noise, 0.5), noise, wave])
    lower = 0.001 + 0.9 * level * shape
    even = np.broadcast_to(rng.uniform(0.05, 0.9, (PAIRS, 1)), noise.shape)
    spiked = np.where(rng.uniform(size=noise.shape) < 2.0 / (n_times + 1), 0.9, 0.02)
    gap_kind = (np.arange(PAIRS) // 3) % 3
    gap = np.choose(gap_kind[:, None], [even, rng.uniform(0.02, 0.9, noise.shape), spiked])
    return lower, lower + (1.0 - lower) * gap
