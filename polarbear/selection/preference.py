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
# The times that a share of problems is about, in the statement of a choice.
AT_THE_BUDGET = "at this budget"
OVER_BUDGETS = "on average over these budgets"
AT_ITS_WORST = "at its worst time"
NEGLIGIBLE_WEIGHT = 1e-3  # of all times together that need no runs


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

    def check(self, t: float, origin: str) -> None:
        """Raise an error unless the time lies on the grid; ``origin`` names it in the message."""
        if not self.first <= t <= self.last:
            raise SelectionError(
                f"{origin}: {typed(t)} is outside the grid, which goes {self.span}"
            )


@dataclass(frozen=True)
class Valuation:
    """A preference on a grid: ``values`` maps theta[draw, time, item] to V[draw, item].

    ``weights`` has the weight of each time if the preference is linear.
    """

    values: Callable[[np.ndarray], np.ndarray]
    weights: np.ndarray | None = None
    notes: Notes = ()

    def is_used(self, n_times: int) -> np.ndarray:
        """The times that matter: bool[time]; all of them for a preference without weights.

        The smallest weights, which sum to at most NEGLIGIBLE_WEIGHT, do not matter: a distribution
        has tails over the whole grid.
        """
        if self.weights is None:
            return np.ones(n_times, dtype=bool)
        ascending = np.argsort(self.weights, kind="stable")
        is_used = np.empty(n_times, dtype=bool)
        is_used[ascending] = np.cumsum(self.weights[ascending]) > NEGLIGIBLE_WEIGHT
        return is_used

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
    before = np.clip(np.searchsorted(times, points, side="right") - 1, 0, len(times) - 2)
    after = before + 1
    share_of_after = (points - times[before]) / (times[after] - times[before])
    rows = np.arange(len(points))
    weights[rows, before] = 1.0 - share_of_after
    weights[rows, after] = share_of_after
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
    """One way to value time.

    The first line of a subclass's docstring says what is valued, and ``example`` is how it is
    written on the command line: the documentation shows both. ``between`` separates the options
    that follow its name.
    """

    preference: str = Field(description="which preference this is")

    example: ClassVar[str] = ""
    between: ClassVar[str] = " "

    @abstractmethod
    def words(self, context: Context) -> str:
        """One line that describes the preference."""

    @abstractmethod
    def on(self, context: Context) -> Valuation:
        """The preference on a grid, or an error with the reason why it does not fit there."""

    def times_in_words(self, valuation: Valuation) -> str | None:
        """The times that its mean value is about, as the statement of a choice says it.

        None if the value of an algorithm need not be a share of problems.
        """
        return None if valuation.weights is None else OVER_BUDGETS

    @classmethod
    def ordered_options(cls) -> list[str]:
        """The options that follow its name: those without a default, by the names of fields."""
        fields = cls.model_fields.items()
        return [name for name, field in fields if field.is_required() and name != "preference"]

    @property
    def text(self) -> str:
        """The preference in the notation of the command line."""
        options = [getattr(self, name) for name in self.ordered_options()]
        words = self.between.join(
            typed(option) if isinstance(option, int | float) else str(option) for option in options
        )
        return f"{self.preference} {words}".rstrip()


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
