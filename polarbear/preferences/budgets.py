"""Distributions over the budget, cut off at the grid."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from pydantic import Field, model_validator

from polarbear.errors import SelectionError
from polarbear.preferences.base import (
    SWEEP_POINTS,
    Context,
    Preference,
    Valuation,
    Variations,
    Weighted,
)
from polarbear.preferences.integrals import over_distribution
from polarbear.wording import percent, typed, typed_time

LEAST_MASS = 1e-6  # with less on the grid, what is left says nothing about the distribution
WORTH_A_NOTE = 0.99
WIDEST = 20.0  # of a logarithm: a factor of half a thousand million, and no number overflows
OFF_THE_GRID = "nothing of this distribution lies on the grid"
CUT_OFF = "{share} of this distribution lies on the grid; the rest was cut off"


class Distribution(Preference):
    """A budget that is known by its distribution; width is the parameter that a sweep varies."""

    width: ClassVar[str]
    width_words: ClassVar[str]

    @abstractmethod
    def cdf(self, t: np.ndarray) -> np.ndarray:
        """P(budget <= t)."""

    @abstractmethod
    def partial_mean(self, t: np.ndarray) -> np.ndarray:
        """The integral of s p(s) for s up to t."""

    @abstractmethod
    def widths(self, context: Context) -> np.ndarray:
        """Widths from as good as certain to as good as unknown."""

    def on(self, context: Context) -> Valuation:
        if len(context.times) == 1:
            return Weighted(np.ones(1))
        weights, mass = over_distribution(context.times, self.cdf, self.partial_mean)
        if mass < LEAST_MASS:
            raise SelectionError(f"{self.text}: {OFF_THE_GRID}, which goes {context.span}")
        note = CUT_OFF.format(share=percent(mass))
        return Weighted(weights, (note,) if mass < WORTH_A_NOTE else ())

    def with_width(self, width: float) -> Distribution:
        return self.model_copy(update={self.width: width})

    def variations(self, context: Context) -> Variations:
        if len(context.times) == 1:
            return super().variations(context)
        made = []
        for width in self.widths(context):
            varied = self.with_width(float(width))
            weights, mass = over_distribution(context.times, varied.cdf, varied.partial_mean)
            if mass >= LEAST_MASS:
                made.append((width, weights))
        if not made:
            self.on(context)  # says why
        positions, rows = zip(*made, strict=True)
        return Variations(self.width_words, np.array(positions), np.stack(rows), log=True)


def _from_narrow_to_wide(
    context: Context, shares: tuple[float, float] = (0.002, 2.0)
) -> np.ndarray:
    """Widths in the unit of time: shares of what the grid spans."""
    low, high = (share * (context.last - context.first) for share in shares)
    return np.asarray(np.geomspace(low, high, SWEEP_POINTS))


class Normal(Distribution):
    """A budget that is known up to a normal error."""

    mean: float = Field(description="the expected budget")
    sd: float = Field(gt=0, description="its standard deviation")

    spoken: ClassVar[tuple[str, ...]] = ("mean", "sd")
    width: ClassVar[str] = "sd"
    width_words: ClassVar[str] = "standard deviation of the budget"

    def words(self, context: Context) -> str:
        return (
            f"the budget is {typed_time(self.mean, context.axis)}, give or take a standard "
            f"deviation of {typed(self.sd)} (normal)"
        )

    def cdf(self, t: np.ndarray) -> np.ndarray:
        from scipy.special import ndtr

        return np.asarray(ndtr((t - self.mean) / self.sd))

    def partial_mean(self, t: np.ndarray) -> np.ndarray:
        from scipy.special import ndtr

        z = (t - self.mean) / self.sd
        return np.asarray(self.mean * ndtr(z) - self.sd * np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi))

    def widths(self, context: Context) -> np.ndarray:
        return _from_narrow_to_wide(context)


class LogNormalBudget(Distribution):
    """A budget that is known up to a factor."""

    median: float = Field(gt=0, description="as often longer as shorter than this")
    sigma: float = Field(
        gt=0, le=WIDEST, description="standard deviation of the budget's logarithm, at most 20"
    )

    spoken: ClassVar[tuple[str, ...]] = ("median", "sigma")
    width: ClassVar[str] = "sigma"
    width_words: ClassVar[str] = "standard deviation of the budget's logarithm"

    def words(self, context: Context) -> str:
        return (
            f"the budget is {typed_time(self.median, context.axis)} in the median, within a factor "
            f"of {np.exp(self.sigma):.3g} of it two times out of three (log-normal)"
        )

    def cdf(self, t: np.ndarray) -> np.ndarray:
        from scipy.special import ndtr

        return np.asarray(ndtr(np.log(t / self.median) / self.sigma))

    def partial_mean(self, t: np.ndarray) -> np.ndarray:
        from scipy.special import log_ndtr

        log_mean = np.log(self.median) + self.sigma**2 / 2  # the mean itself may be no number
        z = np.log(t / self.median) / self.sigma
        return np.asarray(np.exp(log_mean + log_ndtr(z - self.sigma)))

    def widths(self, context: Context) -> np.ndarray:
        return np.asarray(np.geomspace(0.01, np.log(context.last / context.first), SWEEP_POINTS))


class Triangular(Distribution):
    """A budget with a shortest, a most likely and a longest value."""

    low: float = Field(alias="from", description="the shortest budget")
    mode: float = Field(description="the most likely budget")
    high: float = Field(alias="to", description="the longest budget")

    spoken: ClassVar[tuple[str, ...]] = ("low", "mode", "high")
    width: ClassVar[str] = "high"
    width_words: ClassVar[str] = "from the shortest to the longest budget"

    @model_validator(mode="after")
    def _ordered(self) -> Triangular:
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
        t = np.clip(t, self.low, self.high)
        rising, falling, whole = self._sides()
        left, right = np.zeros_like(t), np.ones_like(t)
        if rising:
            left = rising / whole * ((t - self.low) / rising) ** 2
        if falling:
            right = 1 - falling / whole * ((self.high - t) / falling) ** 2
        return np.asarray(np.where(t < self.mode, left, right))

    def partial_mean(self, t: np.ndarray) -> np.ndarray:
        """By parts: t F(t) less the integral of F, which is a cubic on each side."""
        t = np.clip(t, self.low, self.high)
        rising, falling, whole = self._sides()
        up_to_mode = rising * (rising / whole) / 3  # no power of a budget, which may be of any size
        left = up_to_mode * ((t - self.low) / rising) ** 3 if rising else np.zeros_like(t)
        right = t - self.mode + up_to_mode
        if falling:
            beyond = falling * (falling / whole) / 3
            right = right - beyond * (1 - ((self.high - t) / falling) ** 3)
        return np.asarray(t * self.cdf(t) - np.where(t < self.mode, left, right))

    def _sides(self) -> tuple[float, float, float]:
        return self.mode - self.low, self.high - self.mode, self.high - self.low

    def widths(self, context: Context) -> np.ndarray:
        return _from_narrow_to_wide(context)

    def with_width(self, width: float) -> Distribution:
        """The same shape, drawn together or apart around its mode."""
        factor = width / (self.high - self.low)
        low = self.mode - factor * (self.mode - self.low)
        high = self.mode + factor * (self.high - self.mode)
        return self.model_copy(update={"low": low, "high": high})


class ExponentialBudget(Distribution):
    """A run that may be cut short at any moment, always with the same probability."""

    mean: float = Field(gt=0, description="the expected budget")

    spoken: ClassVar[tuple[str, ...]] = ("mean",)
    width: ClassVar[str] = "mean"
    width_words: ClassVar[str] = "mean of the budget"

    def words(self, context: Context) -> str:
        return (
            f"the run may be cut short at any moment, on average after "
            f"{typed_time(self.mean, context.axis)} (exponential)"
        )

    def cdf(self, t: np.ndarray) -> np.ndarray:
        return np.asarray(-np.expm1(-t / self.mean))

    def partial_mean(self, t: np.ndarray) -> np.ndarray:
        return np.asarray(self.mean * -np.expm1(-t / self.mean) - t * np.exp(-t / self.mean))

    def widths(self, context: Context) -> np.ndarray:
        return np.asarray(np.geomspace(context.first, 2 * context.last, SWEEP_POINTS))
