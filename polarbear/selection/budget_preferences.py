"""Distributions over the budget, cut off at the grid: by formulas, or from a file."""

import math
from abc import abstractmethod
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
from pydantic import Field, model_validator
from scipy.special import log_ndtr, ndtr

from polarbear.errors import SelectionError
from polarbear.selection.preference import (
    Context,
    Preference,
    Valuation,
    at_points,
    linear,
    normalised,
    over_density,
)
from polarbear.wording import percent, typed, typed_time, visible

LEAST_MASS = 1e-6  # on the grid; with less, the distribution is refused
WORTH_A_NOTE = 0.99
MAX_LOG_SD = 20.0  # a factor of 5e8; no number overflows
OFF_THE_GRID = "nothing of this distribution lies on the grid"
CUT_OFF = "{share} of this distribution lies on the grid; the rest was cut off"


class Distribution(Preference):
    """A distribution of the budget."""

    @abstractmethod
    def cdf(self, t: np.ndarray) -> np.ndarray:
        """P(budget <= t)."""

    @abstractmethod
    def partial_mean(self, t: np.ndarray) -> np.ndarray:
        """The integral of s p(s) for s up to t."""

    def weights(self, times: np.ndarray) -> tuple[np.ndarray, float]:
        """Weights of the mean under the distribution cut off at the grid, and its mass there.

        With ``partial_mean`` the integral of a theta that is linear between the times is exact,
        however narrow the distribution is.
        """
        with np.errstate(over="ignore"):  # far from the grid densities vanish
            p_below = self.cdf(times)
            partial_mean = self.partial_mean(times)
        # The mass between two times is split between them, so that its mean is kept.
        mass = np.diff(p_below)
        moment = np.diff(partial_mean) - times[:-1] * mass
        mass_of_later = np.clip(moment / np.diff(times), 0.0, mass)
        weights = np.append(mass - mass_of_later, 0.0) + np.append(0.0, mass_of_later)
        total = float(p_below[-1] - p_below[0])
        if total > 0:
            weights = normalised(weights)
        return weights, total

    def on(self, context: Context) -> Valuation:
        if len(context.times) == 1:
            return linear(np.ones(1))
        weights, mass = self.weights(context.times)
        if mass < LEAST_MASS:
            raise SelectionError(f"{self.text}: {OFF_THE_GRID}, which goes {context.span}")
        note = CUT_OFF.format(share=percent(mass))
        return linear(weights, (note,) if mass < WORTH_A_NOTE else ())


class Normal(Distribution):
    """The budget has a normal distribution."""

    example: ClassVar[str] = "normal 5000 500"

    mean: float = Field(description="the expected budget")
    sd: float = Field(gt=0, description="its standard deviation")

    def words(self, context: Context) -> str:
        return (
            f"the budget is {typed_time(self.mean, context.axis)}, give or take a standard "
            f"deviation of {typed(self.sd)} (normal)"
        )

    def cdf(self, t: np.ndarray) -> np.ndarray:
        return np.asarray(ndtr((t - self.mean) / self.sd))

    def partial_mean(self, t: np.ndarray) -> np.ndarray:
        z = (t - self.mean) / self.sd
        return np.asarray(self.mean * ndtr(z) - self.sd * np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi))


class LogNormalBudget(Distribution):
    """The budget is known up to a factor: its logarithm has a normal distribution."""

    example: ClassVar[str] = "lognormal 5000 0.5"

    median: float = Field(gt=0, description="the median budget")
    sigma: float = Field(
        gt=0, le=MAX_LOG_SD, description="standard deviation of the budget's logarithm, at most 20"
    )

    def words(self, context: Context) -> str:
        return (
            f"the budget is {typed_time(self.median, context.axis)} in the median, within a factor "
            f"of {np.exp(self.sigma):.3g} of it two times out of three (log-normal)"
        )

    def cdf(self, t: np.ndarray) -> np.ndarray:
        return np.asarray(ndtr(np.log(t / self.median) / self.sigma))

    def partial_mean(self, t: np.ndarray) -> np.ndarray:
        log_mean = np.log(self.median) + self.sigma**2 / 2  # the mean itself may overflow
        z = np.log(t / self.median) / self.sigma
        return np.asarray(np.exp(log_mean + log_ndtr(z - self.sigma)))


class Triangular(Distribution):
    """The budget has a shortest, a most likely and a longest value."""

    example: ClassVar[str] = "triangular 1000 2000 9000"

    low: float = Field(alias="from", description="the shortest budget")
    mode: float = Field(description="the most likely budget")
    high: float = Field(alias="to", description="the longest budget")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.low <= self.mode <= self.high or self.low == self.high:
            raise ValueError(
                "a triangular distribution has its shortest, its most likely and its longest "
                f"budget in this order, found {self.low:g}, {self.mode:g}, {self.high:g}"
            )
        return self

    def words(self, context: Context) -> str:
        return (
            f"the budget is between {typed(self.low)} and "
            f"{typed_time(self.high, context.axis)}, "
            f"most likely {typed(self.mode)} (triangular)"
        )

    def cdf(self, t: np.ndarray) -> np.ndarray:
        rising, up, down = self._sides(t)
        return np.asarray(rising * up**2 + (1 - rising) * (1 - down**2))

    def partial_mean(self, t: np.ndarray) -> np.ndarray:
        """The integral of s p(s) for s up to t.

        On each side, the mean of a triangle that begins at the outer end is two thirds of the way.
        """
        rising, up, down = self._sides(t)
        rising_mean = 2 / 3 * (self.mode - self.low)
        falling_mean = 2 / 3 * (self.high - self.mode)
        beyond = (self.high - falling_mean * down) * down**2
        below = (self.low + rising_mean * up) * up**2
        return np.asarray(rising * below + (1 - rising) * (self.high - falling_mean - beyond))

    def _sides(self, t: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """The mass of the rising side, and the position of t on each side.

        A position is 0 at the outer end of the side and 1 at the mode.
        """
        rising = (self.mode - self.low) / (self.high - self.low)
        up = np.interp(t, [self.low, self.mode], [0.0, 1.0])
        return rising, up, np.interp(t, [self.mode, self.high], [1.0, 0.0])


class ExponentialBudget(Distribution):
    """The run may be cut short at any moment with the same probability."""

    example: ClassVar[str] = "exponential 5000"

    mean: float = Field(gt=0, description="the expected budget")

    def words(self, context: Context) -> str:
        return (
            f"the run may be cut short at any moment, on average after "
            f"{typed_time(self.mean, context.axis)} (exponential)"
        )

    def cdf(self, t: np.ndarray) -> np.ndarray:
        return np.asarray(-np.expm1(-t / self.mean))

    def partial_mean(self, t: np.ndarray) -> np.ndarray:
        return np.asarray(self.mean * -np.expm1(-t / self.mean) - t * np.exp(-t / self.mean))


class PastBudgets(Preference):
    """The budget is like those of the past, which a file lists, each equally likely."""

    example: ClassVar[str] = "budgets past.txt"

    file: str = Field(description="a text file or CSV with one budget a line")

    def words(self, context: Context) -> str:
        return f"the budget is one of those in {self.file}, each equally likely"

    def on(self, context: Context) -> Valuation:
        budgets = np.array([row[0] for row in _rows(context.folder, self.file, 1, "a budget")])
        inside = budgets[(budgets >= context.first) & (budgets <= context.last)]
        if not len(inside):
            raise SelectionError(
                f"{self.file}: none of its {len(budgets)} budgets is on the grid, which goes "
                f"{context.span}; they go from {typed(budgets.min())} to {typed(budgets.max())}"
            )
        left_out = len(budgets) - len(inside)
        note = f"{left_out} of {len(budgets)} budgets in {self.file} are outside the grid: left out"
        weights = normalised(at_points(context.times, inside).sum(axis=0))
        return linear(weights, (note,) if left_out else ())


class Weights(Preference):
    """Each time counts as much as a file says."""

    example: ClassVar[str] = "weights weights.csv"

    file: str = Field(description="a CSV with columns t and weight; linear in between, none beyond")

    def words(self, context: Context) -> str:
        return f"each time counts as much as {self.file} says"

    def on(self, context: Context) -> Valuation:
        rows = np.array(_rows(context.folder, self.file, 2, "t and weight"))
        points, density = rows[np.argsort(rows[:, 0], kind="stable")].T
        for t in points:
            context.check(t, self.file)
        if np.any(np.diff(points) == 0):
            twice = points[1:][np.diff(points) == 0][0]
            raise SelectionError(f"{self.file}: t = {typed(twice)} occurs twice")
        if np.any(density < 0) or not np.any(density > 0):
            lowest = typed(points[density.argmin()])
            raise SelectionError(
                f"{self.file}: expected weights of at least zero and one above, found "
                f"{typed(density.min())} at t = {lowest}"
            )
        times = context.times
        within = times[(times > points[0]) & (times < points[-1])]
        all_points = np.union1d(points, within)
        return linear(over_density(times, all_points, np.interp(all_points, points, density)))


def _rows(folder: str, file: str, width: int, columns: str) -> list[tuple[float, ...]]:
    """The numbers in a file, row by row; the first line may be a header.

    ``columns`` says in an error message which numbers a row must have.
    """
    path = Path(folder) / file
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise SelectionError(f"cannot read {str(path)[:300]}: {error.strerror}") from None
    except ValueError:  # not UTF-8, or a path that no file can have
        raise SelectionError(f"{str(path)[:300]} is not a text file in UTF-8") from None
    rows = []
    for line_number, line in enumerate(lines, start=1):
        try:
            row = tuple(float(cell) for cell in line.split(",") if cell.strip())
        except ValueError:
            row = ()
            if line_number == 1:
                continue
        if not line.strip():
            continue
        if len(row) != width or not all(map(math.isfinite, row)):
            raise SelectionError(
                f"{path}, line {line_number}: expected {columns}, found '{visible(line[:60])}'"
            )
        rows.append(row)
    if not rows:
        raise SelectionError(f"{path} has no rows; expected {columns} in each")
    return rows
