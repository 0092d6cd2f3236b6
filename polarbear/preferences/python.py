"""A preference that is a function of the user's own."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import AfterValidator, Field

from polarbear.errors import SelectionError
from polarbear.preferences.base import Context, Preference, Valuation
from polarbear.preferences.monotone import counterexample, ordered_pairs
from polarbear.settings.user_code import check_options, check_reference, load_function


class Python(Preference):
    """``function(theta, times, **options)``: a number for one curve theta over time."""

    function: Annotated[str, AfterValidator(check_reference)] = Field(
        description="'module:function' or 'file.py:function', looked for beside the YAML file, or "
        "in the current folder"
    )
    options: dict[str, Any] = Field({}, description="further arguments for the function")

    spoken: ClassVar[tuple[str, ...]] = ("function",)

    def words(self, context: Context) -> str:
        return f"what counts is what {self.function} says about the shares of firsts over time"

    def on(self, context: Context) -> Valuation:
        function = load_function(self.function, context.folder)
        check_options(function, self.function, self.options)
        takes_times = _takes_times(function, self.options)
        arguments = (context.times,) if takes_times else ()

        def value(theta: np.ndarray) -> Any:
            return function(theta, *arguments, **self.options)

        curves, _ = ordered_pairs(len(context.times), context.seed)
        sample = curves[: 8 if len(context.times) != 8 else 9]
        made = Called(value, self.function, _takes_many(value, sample, self.function))
        found = counterexample(made.of_curves, len(context.times), context.seed)
        if found is not None:
            raise SelectionError(
                f"'{self.function}' is not strictly monotone: it gave "
                f"{found.value_of_lower:.6g} for one theta and {found.value_of_higher:.6g} for "
                "another that is higher at all times. More winning must be worth more"
            )
        return made


@dataclass(frozen=True)
class Called(Valuation):
    """A function called for all curves at once if it can do that, otherwise for each."""

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
            made = np.asarray(_called(self.function, curves, self.name), dtype=np.float64)
        else:
            made = np.array([_one(self.function, curve, self.name) for curve in curves])
        if not np.all(np.isfinite(made)):
            bad = made[~np.isfinite(made)][0]
            raise SelectionError(
                f"'{self.name}' returned {bad} for a theta between {curves.min():.3g} and "
                f"{curves.max():.3g}; expected a finite number"
            )
        return made


def _takes_times(function: Callable[..., Any], options: dict[str, Any]) -> bool:
    """Whether it has room for a second argument: the times."""
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
    alone = np.array([_one(function, curve, name) for curve in curves])
    try:
        together = np.asarray(function(curves.copy()), dtype=np.float64)
    except Exception:  # written for one curve, it may fail on many in any way
        return False
    return together.shape == alone.shape and np.allclose(together, alone, rtol=1e-12, atol=0.0)


def _one(function: Callable[..., Any], curve: np.ndarray, name: str) -> float:
    made = _called(function, curve, name)
    try:
        return float(made)
    except (TypeError, ValueError):
        raise SelectionError(
            f"'{name}' returned {type(made).__name__}; expected a number for each theta over time"
        ) from None


def _called(function: Callable[..., Any], theta: np.ndarray, name: str) -> Any:
    try:
        return function(theta)
    except Exception as error:  # a user's function may raise anything
        raise SelectionError(f"'{name}' failed: {type(error).__name__}: {error}") from error
