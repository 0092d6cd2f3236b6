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
from polarbear.settings.user_code import check_options, check_reference, load_function

PAIRS = 600  # of curves that monotonicity is tested on
PROBED = 8  # curves that show whether a function takes several at once


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
        check_options(function, self.function, self.options)
        arguments = (context.times,) if _takes_times(function, self.options) else ()

        def value(theta: np.ndarray) -> Any:
            try:
                return function(theta, *arguments, **self.options)
            except Exception as error:  # a user's function may raise anything
                raise SelectionError(
                    f"'{self.function}' failed: {type(error).__name__}: {error}"
                ) from error

        n_times = len(context.times)
        curves, _ = ordered_pairs(n_times, context.seed)
        sample = curves[: PROBED if n_times != PROBED else PROBED + 1]  # not a square
        made = FunctionValuation(value, self.function, _takes_many(value, sample, self.function))
        found = counterexample(made.of_curves, n_times, context.seed)
        if found is not None:
            raise SelectionError(
                f"'{self.function}' is not strictly monotone: it gave {found[0]:.6g} for one theta "
                f"and {found[1]:.6g} for another that is higher at all times. More winning must "
                "be worth more"
            )
        return made


@dataclass(frozen=True)
class FunctionValuation(Valuation):
    """A function, called for all curves at once if it can do that, otherwise for each."""

    function: Callable[[np.ndarray], Any]
    name: str
    takes_many: bool
    notes: tuple[str, ...] = ()

    def values(self, theta: np.ndarray) -> np.ndarray:
        draws, times, items = theta.shape
        curves = np.ascontiguousarray(theta.swapaxes(1, 2), dtype=np.float64).reshape(-1, times)
        return self.of_curves(curves).reshape(draws, items)

    def of_curves(self, curves: np.ndarray) -> np.ndarray:
        """The value of each curve[curve, time]."""
        if self.takes_many:
            made = np.asarray(self.function(curves), dtype=np.float64)
        else:
            made = _one_by_one(self.function, curves, self.name)
        if not np.all(np.isfinite(made)):
            bad = made[~np.isfinite(made)][0]
            raise SelectionError(
                f"'{self.name}' returned {bad} for a theta between {curves.min():.3g} and "
                f"{curves.max():.3g}; expected a finite number"
            )
        return made


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


def _takes_many(function: Callable[..., Any], curves: np.ndarray, name: str) -> bool:
    """Whether curves[curve, time] give the same numbers as one curve after the other."""
    alone = _one_by_one(function, curves, name)
    try:
        together = np.asarray(function(curves.copy()), dtype=np.float64)
    except Exception:  # a function for one curve may fail on several in any way
        return False
    return together.shape == alone.shape and np.allclose(together, alone, rtol=1e-12, atol=0.0)


def _one_by_one(function: Callable[..., Any], curves: np.ndarray, name: str) -> np.ndarray:
    values = []
    for curve in curves:
        found = function(curve)
        try:
            values.append(float(found))
        except (TypeError, ValueError):
            raise SelectionError(
                f"'{name}' returned {type(found).__name__}; expected a number for each theta over "
                "time"
            ) from None
    return np.array(values)


def counterexample(
    value: Callable[[np.ndarray], np.ndarray], n_times: int, seed: int
) -> tuple[float, float] | None:
    """Values of two curves, the second higher at all times, that are not in this order, if any.

    ``value`` maps curves[curve, time] to the value of each.
    """
    lower, higher = ordered_pairs(n_times, seed)
    below, above = value(lower), value(higher)
    wrong = np.flatnonzero(~(above > below))
    return (float(below[wrong[0]]), float(above[wrong[0]])) if len(wrong) else None


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
