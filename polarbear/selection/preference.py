"""Preferences: how a user values time, on a grid of times; and their registry.

A preference u is strictly monotone: a theta that is higher at all times has a higher value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from pydantic import Field

from polarbear.errors import SelectionError
from polarbear.selection.integrals import at_points
from polarbear.settings.options import Options
from polarbear.settings.registry import Registry
from polarbear.wording import typed, typed_time

SWEEP_POINTS = 200  # positions of a sweep: more than a reader can distinguish in a figure


@dataclass(frozen=True)
class Context:
    """The grid that a preference is applied to, its unit, and the folder of the user's files.

    ``joint`` says whether draws at neighbouring times are correlated. Where they are not, a mean of
    two times would look more certain than either, so a single time is then one of the grid.
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
    """A preference on a grid: the value of each draw of theta."""

    notes: tuple[str, ...] = ()

    @abstractmethod
    def values(self, theta: np.ndarray) -> np.ndarray:
        """V[draw, item] of theta[draw, time, item]."""

    @property
    def weights(self) -> np.ndarray | None:
        """The weight of each time, if the preference is linear."""
        return None


@dataclass(frozen=True)
class Weighted(Valuation):
    """A linear preference: the weighted mean over time."""

    by_time: np.ndarray
    notes: tuple[str, ...] = ()

    def values(self, theta: np.ndarray) -> np.ndarray:
        if theta.shape[2] == 1:  # one product for all draws
            return np.asarray(theta[:, :, 0] @ self.by_time.astype(theta.dtype))[:, None]
        return np.asarray(self.by_time @ theta.astype(np.float64, copy=False))

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
    """One way to value time."""

    preference: str = Field(description="which preference this is")

    spoken: ClassVar[tuple[str, ...]] = ()  # the fields that follow its name in words
    between: ClassVar[str] = " "  # the separator of these fields

    @abstractmethod
    def words(self, context: Context) -> str:
        """One line that describes the preference."""

    @abstractmethod
    def on(self, context: Context) -> Valuation:
        """The preference on a grid, or an error with the reason why it does not fit there."""

    def variations(self, context: Context) -> Variations:
        """The preferences of a sweep: by default, single budgets all over the grid."""
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
        """The preference in the notation of the command line."""
        fields = (getattr(self, name) for name in self.spoken)
        values = [typed(v) if isinstance(v, int | float) else str(v) for v in fields]
        return " ".join(filter(None, [self.preference, self.between.join(values)]))


_HERE = "polarbear.selection"

PREFERENCES: Registry[type[Preference]] = Registry(
    "preference",
    "polarbear.preferences",
    f"{_HERE}.preference:Preference",
    {
        "uniform": f"{_HERE}.basic_preferences:Uniform",
        "log-uniform": f"{_HERE}.basic_preferences:LogUniform",
        "at": f"{_HERE}.basic_preferences:At",
        "between": f"{_HERE}.basic_preferences:Between",
        "final": f"{_HERE}.basic_preferences:Final",
        "worst-case": f"{_HERE}.basic_preferences:WorstCase",
        "normal": f"{_HERE}.budget_preferences:Normal",
        "lognormal": f"{_HERE}.budget_preferences:LogNormalBudget",
        "triangular": f"{_HERE}.budget_preferences:Triangular",
        "exponential": f"{_HERE}.budget_preferences:ExponentialBudget",
        "budgets": f"{_HERE}.budget_preferences:PastBudgets",
        "weights": f"{_HERE}.budget_preferences:Weights",
        "mix": f"{_HERE}.basic_preferences:Mix",
        "python": f"{_HERE}.python_preference:Python",
    },
)
