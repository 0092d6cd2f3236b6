"""The scale that makes values of different instances comparable.

Progress is 0 at the easiest target and 1 at the hardest; it is negative before the easiest one is
reached and above 1 beyond the hardest. Share is the share of targets reached.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polarbear.classical.common_runs import Curves
from polarbear.classical.view_options import AUTO, USUAL_TARGETS, TargetRange, ViewOptions
from polarbear.errors import ReportError
from polarbear.numerics.arrays import Floats

SMALLEST_DISTANCE = 1e-8  # to a known optimum; closer ones count as this
LOG_SCALE_RATIO = 1e3  # of the worst to the best value, from which on the scale is logarithmic
OPTIMUM_TOLERANCE = 1e-8  # by which a value may be better than the optimum, relative to its size


@dataclass(frozen=True)
class Scale:
    """Targets of each instance, as distances from ``origin``; without ``count`` all in between."""

    origin: Floats
    easiest: Floats
    hardest: Floats
    log: bool
    count: int | None
    has_common_targets: bool
    words: str

    def progress(self, y: Floats, instance: np.ndarray) -> Floats:
        """The progress of each value; ``instance`` has the instance of each."""
        distance = y - self.origin[instance]
        first, last = self.easiest[instance], self.hardest[instance]
        if self.log:
            with np.errstate(divide="ignore"):
                distance = np.log10(np.maximum(distance, 0.0))
            first, last = np.log10(first), np.log10(last)
        span = first - last
        with np.errstate(invalid="ignore", divide="ignore"):
            made = (first - distance) / span
        # If all values of an instance are equal, there is one target, and all reach it.
        return np.asarray(np.where(span > 0, made, np.where(distance <= first, 1.0, -np.inf)))

    def share(self, progress: Floats) -> Floats:
        """The share of targets reached."""
        if self.count is None:
            return np.clip(progress, 0.0, 1.0)
        targets = np.linspace(0.0, 1.0, self.count)
        return np.searchsorted(targets, progress, side="right") / self.count

    def target(self, level: float) -> float | None:
        """The distance at a level of progress; None if instances have different targets."""
        if not self.has_common_targets:
            return None
        first, last = float(self.easiest[0]), float(self.hardest[0])
        if self.log:
            return float(10 ** ((1 - level) * np.log10(first) + level * np.log10(last)))
        return (1 - level) * first + level * last


def choose_scale(
    curves: Curves, options: ViewOptions, optima: Floats | None, maximised: bool = False
) -> Scale:
    """The scale of the options; by default the usual targets if optima are known, else values seen.

    ``optima`` are the best possible values of the instances as stored; None if unknown.
    """
    targets = options.targets
    if optima is not None:
        _check_optima(curves, optima, maximised)
    if isinstance(targets, TargetRange):
        if optima is None:
            raise ReportError(
                "targets are distances from the best possible value, which is unknown for this "
                "store: add --optimum VALUE, or use --targets seen"
            )
        return _fixed(curves, optima, targets, options)
    if targets == AUTO and optima is not None:
        return _fixed(curves, optima, USUAL_TARGETS, options)
    return _seen(curves, optima, options)


def _fixed(curves: Curves, optima: Floats, targets: TargetRange, options: ViewOptions) -> Scale:
    log = options.scale != "linear"
    if log and targets.hardest == 0:
        raise ReportError(
            "a logarithmic scale has no target at distance 0: name the hardest one, as in "
            "1e2:1e-8, or add --scale linear"
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
        f"{targets.hardest:g}, spaced {how} ({many}), the same on every instance; values "
        "beyond them count as the nearest target",
    )


def _seen(curves: Curves, optima: Floats | None, options: ViewOptions) -> Scale:
    best, worst = _bounds(curves)
    found = np.isfinite(best)
    if (best[found] == worst[found]).all():
        count = len(curves.instances)
        which = "on the only instance" if count == 1 else f"on each of the {count} instances"
        raise ReportError(f"{which} all values are equal: there is nothing to compare")
    if optima is None and options.scale == "log" and best[found].min() <= 0:
        raise ReportError(
            f"a logarithmic scale needs values above 0, found {best[found].min():g}: add "
            "--optimum VALUE, or use --scale linear"
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
        f"on each instance {of} is mapped to the span from the worst (0) to the best (1) of the "
        "compared algorithms: the numbers depend on which are compared, and a narrow span counts "
        "as much as a wide one",
    )


def _bounds(curves: Curves) -> tuple[Floats, Floats]:
    """The best and the worst value on each instance; infinite if there is none."""
    best = np.full(len(curves.instances), np.inf)
    worst = np.full(len(curves.instances), -np.inf)
    instance = curves.instance_of_point
    np.minimum.at(best, instance, curves.y)
    np.maximum.at(worst, instance, curves.y)
    return best, worst


def _is_wide(best: Floats, worst: Floats) -> bool:
    return bool(best.min() > 0 and np.median(worst / best) >= LOG_SCALE_RATIO)


def _check_optima(curves: Curves, optima: Floats, maximised: bool) -> None:
    at = optima[curves.instance_of_point]
    below = curves.y < at - OPTIMUM_TOLERANCE * np.maximum(1.0, np.abs(at))
    if below.any():
        sign = -1 if maximised else 1
        worst = int(np.argmin(np.where(below, curves.y - at, 0.0)))
        instance = curves.instances[int(curves.instance_of_point[worst])]
        raise ReportError(
            f"the value {sign * curves.y[worst]:g} on {instance} is better than the best possible, "
            f"{sign * at[worst]:g}: correct --optimum, or leave it out and use --targets seen"
        )
