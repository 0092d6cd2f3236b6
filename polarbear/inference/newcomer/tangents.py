"""Draws from smooth concave log-densities on a line, by rejection under two tangents.

A tangent of a concave function lies above it everywhere. One from each side of the mode, a standard
deviation away, make a tent of two exponentials under which some 76 % of proposals are accepted if
the density is normal, and whose draws are exact whatever its shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from polarbear.errors import InferenceError

_LONGEST_STEP = 3.0
_PATIENCE = 20  # rounds after which a draw's tangents must have been badly placed
_FROM_AFAR = 300  # Newton steps that then lead anywhere a float's logarithm can be
_MOST_ROUNDS = 2000
_STEEPNESS = (0.2, 4.0)  # slope times distance from the mode; one, for a normal density


class Density(Protocol):
    """D log-densities, evaluated at x[D]."""

    def slope_and_curvature(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...

    def value_and_slope(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...

    def value(self, x: np.ndarray) -> np.ndarray: ...

    def of(self, draws: np.ndarray) -> Density: ...


@dataclass(frozen=True)
class _Tangents:
    """Lines value + slope (x - at), one for each draw."""

    at: np.ndarray
    value: np.ndarray
    slope: np.ndarray

    def __call__(self, x: np.ndarray, draws: np.ndarray) -> np.ndarray:
        return np.asarray(self.value[draws] + self.slope[draws] * (x - self.at[draws]))


def near_mode(
    density: Density, x: np.ndarray, steps: int = _FROM_AFAR
) -> tuple[np.ndarray, np.ndarray]:
    """Where so many Newton steps lead, none too long, and the curvatures before the last."""
    for _ in range(steps):
        slope, curvature = density.slope_and_curvature(x)
        curvature = np.maximum(curvature, 1e-12)
        step = slope / curvature
        x = x + np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
        if np.abs(step * np.sqrt(curvature)).max() < 1e-3:
            break
    return x, curvature


def draw(
    density: Density, start: np.ndarray, rng: np.random.Generator, steps: int = 2
) -> np.ndarray:
    """One draw from each density; ``start`` should not be far from their modes."""
    mode, curvature = near_mode(density, start, steps)
    deviation = 1 / np.sqrt(curvature)
    rising, falling = (_tangents(density, mode, side * deviation) for side in (-1, 1))
    tilt = rising.slope - falling.slope
    gap = falling.value - rising.value
    peak = (gap + rising.slope * rising.at - falling.slope * falling.at) / tilt
    left_share = -falling.slope / tilt

    x, open_ = np.empty(len(mode)), np.arange(len(mode))
    for _ in range(_PATIENCE if steps < _FROM_AFAR else _MOST_ROUNDS):
        here = density if len(open_) == len(x) else density.of(open_)
        left = rng.random(len(open_)) < left_share[open_]
        slope = np.where(left, rising.slope[open_], falling.slope[open_])
        proposed = peak[open_] - rng.standard_exponential(len(open_)) / slope
        tent = np.where(left, rising(proposed, open_), falling(proposed, open_))
        accepted = here.value(proposed) - tent > -rng.standard_exponential(len(open_))
        x[open_[accepted]] = proposed[accepted]
        open_ = open_[~accepted]
        if not len(open_):
            return x
    if steps < _FROM_AFAR:
        x[open_] = draw(density.of(open_), mode[open_], rng, _FROM_AFAR)
        return x
    raise InferenceError(
        f"no rating could be drawn for {len(open_)} of {len(x)} draws: the rankings and the prior "
        "together leave it (nearly) flat; choose a less diffuse prior"
    )


def _tangents(density: Density, mode: np.ndarray, distance: np.ndarray) -> _Tangents:
    """At that distance from the modes; moved, by bisection, where too flat there or too steep."""
    near, far = np.zeros_like(mode), np.full_like(mode, np.inf)
    at = mode + distance
    value, slope = density.value_and_slope(at)
    flattest, steepest = _STEEPNESS
    amiss = np.arange(len(mode))
    for _ in range(_MOST_ROUNDS):
        steepness = -slope[amiss] * distance[amiss]
        flat, steep = steepness < flattest, steepness > steepest
        near[amiss[flat]] = np.abs(distance[amiss[flat]])
        far[amiss[steep]] = np.abs(distance[amiss[steep]])
        amiss = amiss[flat | steep]
        if not len(amiss):
            break
        bounded = np.isfinite(far[amiss])
        moved = np.where(bounded, (near[amiss] + far[amiss]) / 2, 2 * near[amiss])
        distance[amiss] = np.copysign(moved, distance[amiss])
        at[amiss] = mode[amiss] + distance[amiss]
        value[amiss], slope[amiss] = density.of(amiss).value_and_slope(at[amiss])
    return _Tangents(at, value, slope)
