"""How values of different instances are put on one scale, and what that means in words.

Progress is 0 at the easiest target and 1 at the hardest; it is below 0 where not even the easiest
was reached and above 1 beyond the hardest. Share is the share of targets reached.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polarbear.classical.curves import Curves
from polarbear.classical.options import AUTO, USUAL_TARGETS, TargetRange, ViewOptions
from polarbear.errors import ReportError
from polarbear.numerics.arrays import Floats

SMALLEST_DISTANCE = 1e-8  # closer to a known optimum than this counts as there
WIDE = 1e3  # positive values that span this factor ask for a logarithmic scale
ROUNDING = 1e-8  # how far below a stated optimum a value may lie, relative to its size


@dataclass(frozen=True)
class Scale:
    """Targets of each instance, as distances from ``origin``; ``count`` is None for all of them."""

    origin: Floats
    easiest: Floats
    hardest: Floats
    log: bool
    count: int | None
    everywhere_the_same: bool
    words: str

    def progress(self, y: Floats, instance: np.ndarray) -> Floats:
        """How far along the targets each value is; ``instance`` says whose value it is."""
        distance = y - self.origin[instance]
        first, last = self.easiest[instance], self.hardest[instance]
        if self.log:
            with np.errstate(divide="ignore"):
                distance = np.log10(np.maximum(distance, 0.0))
            first, last = np.log10(first), np.log10(last)
        span = first - last
        with np.errstate(invalid="ignore", divide="ignore"):
            made = (first - distance) / span
        # Where all values of an instance are the same there is one target, and all reach it.
        return np.asarray(np.where(span > 0, made, np.where(distance <= first, 1.0, -np.inf)))

    def share(self, progress: Floats) -> Floats:
        """The share of targets reached."""
        if self.count is None:
            return np.clip(progress, 0.0, 1.0)
        targets = np.linspace(0.0, 1.0, self.count)
        return np.searchsorted(targets, progress, side="right") / self.count

    def target(self, level: float) -> float:
        """The distance that progress ``level`` means, where all instances share the targets."""
        first, last = float(self.easiest[0]), float(self.hardest[0])
        if self.log:
            return float(10 ** ((1 - level) * np.log10(first) + level * np.log10(last)))
        return (1 - level) * first + level * last


def choose_scale(
    curves: Curves, options: ViewOptions, optima: Floats | None, maximised: bool = False
) -> Scale:
    """The scale asked for; by default the usual targets where optima are known, or what is seen.

    ``optima`` are the best possible values as stored, one an instance; None where unknown.
    """
    targets = options.targets
    if optima is not None:
        _check_optima(curves, optima, maximised)
    if isinstance(targets, TargetRange):
        if optima is None:
            raise ReportError(
                "targets are distances from the best possible value, which this store's suite does "
                "not know: give it with --optimum, or use --targets seen"
            )
        return _fixed(curves, optima, targets, options)
    if targets == AUTO and optima is not None:
        return _fixed(curves, optima, USUAL_TARGETS, options)
    return _seen(curves, optima, options)


def _fixed(curves: Curves, optima: Floats, targets: TargetRange, options: ViewOptions) -> Scale:
    log = options.scale != "linear"
    if log and targets.hardest == 0:
        raise ReportError(
            "a logarithmic scale has no target at distance 0: name the hardest that counts, as in "
            "1e2:1e-8, or give --scale linear"
        )
    number = len(curves.instances)
    how = "evenly in the logarithm" if log else "evenly"
    many = "all in between count" if targets.count is None else f"{targets.count} of them"
    return Scale(
        optima,
        np.full(number, targets.easiest),
        np.full(number, targets.hardest),
        log,
        targets.count,
        True,
        f"targets are distances from the optimum, {targets.easiest:g} down to "
        f"{targets.hardest:g}, spaced {how} ({many}), the same on every instance; what is better "
        "or worse than these makes no difference",
    )


def _seen(curves: Curves, optima: Floats | None, options: ViewOptions) -> Scale:
    best, worst = _bounds(curves)
    found = np.isfinite(best)
    if (best[found] == worst[found]).all():
        count = len(curves.instances)
        which = "on the only instance" if count == 1 else f"on each of the {count} instances"
        raise ReportError(
            f"{which} all values that were seen are equal: there is nothing to compare"
        )
    if optima is None and options.scale == "log" and best[found].min() <= 0:
        raise ReportError(
            f"a logarithmic scale needs values above 0, found {best[found].min():g}: give the best "
            "possible value with --optimum, or use --scale linear"
        )
    log = options.scale == "log" or (
        options.scale == "auto" and (optima is not None or _is_wide(best[found], worst[found]))
    )
    origin = np.zeros(len(best)) if optima is None or not log else optima
    easiest, hardest = worst - origin, best - origin
    if log and optima is not None:
        easiest, hardest = (np.maximum(d, SMALLEST_DISTANCE) for d in (easiest, hardest))
    if log:
        of = "the logarithm of the value" if optima is None else "the log-distance to the optimum"
    else:
        of = "the value"
    return Scale(
        origin,
        np.where(found, easiest, 1.0),
        np.where(found, hardest, 1.0),
        log,
        None,
        False,
        f"on each instance {of} is mapped to the span from the worst (0) to the best (1) that any "
        "of the compared algorithms held there: the numbers depend on who is compared, and a "
        "narrow span counts as much as a wide one",
    )


def _bounds(curves: Curves) -> tuple[Floats, Floats]:
    """The best and the worst value seen on each instance; infinite where there is none."""
    best = np.full(len(curves.instances), np.inf)
    worst = np.full(len(curves.instances), -np.inf)
    instance = curves.instance_of_point
    np.minimum.at(best, instance, curves.y)
    np.maximum.at(worst, instance, curves.y)
    return best, worst


def _is_wide(best: Floats, worst: Floats) -> bool:
    return bool(best.min() > 0 and np.median(worst / best) >= WIDE)


def _check_optima(curves: Curves, optima: Floats, maximised: bool) -> None:
    at = optima[curves.instance_of_point]
    below = curves.y < at - ROUNDING * np.maximum(1.0, np.abs(at))
    if below.any():
        sign = -1 if maximised else 1
        worst = int(np.argmin(np.where(below, curves.y - at, 0.0)))
        instance = curves.instances[int(curves.instance_of_point[worst])]
        raise ReportError(
            f"the value {sign * curves.y[worst]:g} on {instance} is better than the best possible, "
            f"{sign * at[worst]:g}: give a better --optimum, or use --targets seen without one"
        )
