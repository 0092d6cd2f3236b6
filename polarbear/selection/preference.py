"""Preferences: how a user values time, on a grid of times; and their registry.

A preference u is strictly monotone: a theta that is higher at all times has a higher value. A
linear one is a mean over time. Between two times of the grid theta is taken to be linear, so an
integral is a sum of weights[t] * theta(t), with weights of at least zero that sum to one.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from pydantic import Field

from polarbear.errors import SelectionError
from polarbear.settings.options import Options
from polarbear.settings.registry import Registry
from polarbear.wording import rounded, typed, typed_time

Notes = tuple[str, ...]


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
        return f"from {typed(rounded(self.first))} to {typed_time(rounded(self.last), self.axis)}"

    def check(self, t: float, what: str) -> None:
        """Raise unless the time lies on the grid."""
        if not self.first <= t <= self.last:
            raise SelectionError(f"{what}: {typed(t)} is outside the grid, which goes {self.span}")


@dataclass(frozen=True)
class Valuation:
    """A preference on a grid: ``values`` maps theta[draw, time, item] to V[draw, item].

    ``weights`` has the weight of each time if the preference is linear.
    """

    values: Callable[[np.ndarray], np.ndarray]
    weights: np.ndarray | None = None
    notes: Notes = ()

    def of_curve(self, wins: np.ndarray) -> np.ndarray:
        """The value[draw] of win probabilities[draw, time]."""
        return self.values(wins[:, :, None])[..., 0]


def linear(weights: np.ndarray, notes: Notes = ()) -> Valuation:
    """The weighted mean over time; with weights[mean, time] several means: V[draw, mean, item]."""

    def values(theta: np.ndarray) -> np.ndarray:
        if theta.shape[2] == 1:  # one product for all draws
            return np.asarray(theta[:, :, 0] @ weights.T.astype(theta.dtype))[..., None]
        return np.asarray(weights @ theta.astype(np.float64, copy=False))

    return Valuation(values, weights, notes)


def at_points(times: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Weights[point, time] that give theta at each point, by linear interpolation."""
    if len(times) == 1:
        return np.ones((len(points), 1))
    weights = np.zeros((len(points), len(times)))
    left = np.clip(np.searchsorted(times, points, side="right") - 1, 0, len(times) - 2)
    share = (points - times[left]) / (times[left + 1] - times[left])
    rows = np.arange(len(points))
    weights[rows, left] = 1.0 - share
    weights[rows, left + 1] = share
    return weights


def over_range(times: np.ndarray, start: float, stop: float, log: bool = False) -> np.ndarray:
    """Weights of the mean over a range in which every t counts the same, or every log t."""
    inside = times[(times > start) & (times < stop)]
    points = np.concatenate([[start], inside, [stop]])
    return over_density(times, points, np.ones(len(points)), log)


def over_density(
    times: np.ndarray, points: np.ndarray, density: np.ndarray, log: bool = False
) -> np.ndarray:
    """Weights of the mean under a density that is given at increasing points."""
    steps = np.diff(np.log(points) if log else points)
    mass = density * np.convolve(steps, [0.5, 0.5]) if len(steps) else density
    if not mass.sum() > 0:  # a single point
        mass = density
    return normalised(mass @ at_points(times, points))


def normalised(weights: np.ndarray) -> np.ndarray:
    return np.asarray(weights / weights.sum())


class Preference(Options, ABC):
    """One way to value time."""

    preference: str = Field(description="which preference this is")

    between: ClassVar[str] = " "  # separates the options that follow its name

    @abstractmethod
    def words(self, context: Context) -> str:
        """One line that describes the preference."""

    @abstractmethod
    def on(self, context: Context) -> Valuation:
        """The preference on a grid, or an error with the reason why it does not fit there."""

    @classmethod
    def ordered_options(cls) -> list[str]:
        """The options that follow its name: those without a default, by the names of fields."""
        fields = cls.model_fields.items()
        return [name for name, field in fields if field.is_required() and name != "preference"]

    @property
    def text(self) -> str:
        """The preference in the notation of the command line."""
        found = (getattr(self, name) for name in self.ordered_options())
        values = [typed(v) if isinstance(v, int | float) else str(v) for v in found]
        return " ".join(filter(None, [self.preference, self.between.join(values)]))


_BASIC = "polarbear.selection.basic_preferences"
_BUDGET = "polarbear.selection.budget_preferences"

PREFERENCES: Registry[type[Preference]] = Registry(
    "preference",
    "polarbear.preferences",
    "polarbear.selection.preference:Preference",
    {
        "uniform": f"{_BASIC}:Uniform",
        "log-uniform": f"{_BASIC}:LogUniform",
        "at": f"{_BASIC}:At",
        "between": f"{_BASIC}:Between",
        "final": f"{_BASIC}:Final",
        "worst-case": f"{_BASIC}:WorstCase",
        "normal": f"{_BUDGET}:Normal",
        "lognormal": f"{_BUDGET}:LogNormalBudget",
        "triangular": f"{_BUDGET}:Triangular",
        "exponential": f"{_BUDGET}:ExponentialBudget",
        "budgets": f"{_BUDGET}:PastBudgets",
        "weights": f"{_BUDGET}:Weights",
        "mix": f"{_BASIC}:Mix",
        "python": f"{_BASIC}:Python",
    },
)
