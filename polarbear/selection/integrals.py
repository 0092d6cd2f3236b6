"""Integrals over time as weights on a grid: sum_t weights[t] * theta(t).

Between two times of the grid theta is taken to be linear, which is what the trapezoid rule means.
All weights are at least zero and sum to one, so a value is a mean share of firsts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def at_points(times: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Weights[point, time] that give theta at each point, by linear interpolation."""
    points = np.atleast_1d(points)
    weights = np.zeros((len(points), len(times)))
    if len(times) == 1:
        weights[:] = 1.0
        return weights
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
    width = np.zeros(len(points))
    width[:-1] += steps / 2
    width[1:] += steps / 2
    mass = width * density
    if not mass.sum() > 0:  # a single point
        mass = density
    return normalised(mass @ at_points(times, points))


def over_distribution(
    times: np.ndarray,
    cdf: Callable[[np.ndarray], np.ndarray],
    partial_mean: Callable[[np.ndarray], np.ndarray],
) -> tuple[np.ndarray, float]:
    """Weights of the mean under a distribution cut off at the grid, and its mass on the grid.

    ``partial_mean(x)`` is the integral of t p(t) up to x. With it the integral of a theta that is
    linear between the times is exact, however narrow the distribution is.
    """
    with np.errstate(over="ignore"):  # far from the grid densities vanish, as they should
        below, moment = cdf(times), partial_mean(times)
    mass, step = np.diff(below), np.diff(times)
    later = np.clip((np.diff(moment) - times[:-1] * mass) / step, 0.0, mass)
    weights = np.zeros(len(times))
    weights[:-1] += mass - later
    weights[1:] += later
    total = float(below[-1] - below[0])
    return (normalised(weights) if total > 0 else weights), total


def normalised(weights: np.ndarray) -> np.ndarray:
    return np.asarray(weights / weights.sum())
