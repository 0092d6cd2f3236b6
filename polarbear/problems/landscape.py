"""Cheap features of the landscape of a problem in a box, from a small random sample.

None of them changes if objective values are multiplied by a factor or shifted. Their sample costs
``SAMPLE_PER_VARIABLE`` evaluations for each variable.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polarbear.numerics.arrays import Floats
from polarbear.numerics.seeds import derived_seed
from polarbear.problems.base import Problem

SAMPLE_PER_VARIABLE = 10
BEST_SHARE = 0.1  # of the sample, whose dispersion is compared with that of all
DIGITS = 6  # significant digits: the last bits of sums differ between machines
PREFIX = "landscape."


def landscape_features(problem: Problem, instance: str, maximise: bool = False) -> dict[str, float]:
    """The features of a problem by their names; empty if too few values are finite.

    The sample depends on the name of the instance and the number of variables alone.
    """
    if problem.lower is None or problem.upper is None:
        raise ValueError("the features of a landscape need a box, which this problem lacks")
    dimension = len(problem.lower)
    rng = np.random.default_rng(derived_seed("landscape", instance, dimension))
    unit_points = rng.random((SAMPLE_PER_VARIABLE * dimension, dimension))
    points = problem.lower + unit_points * (problem.upper - problem.lower)
    values = np.empty(len(points))
    is_feasible = np.ones(len(points), dtype=bool)
    for k, point in enumerate(points):
        returned = problem.evaluate(point)
        if isinstance(returned, tuple):
            value, constraints = returned
            is_feasible[k] = max(constraints, default=0.0) <= 0
        else:
            value = returned
        values[k] = -value if maximise else value
    is_finite = np.isfinite(values)
    features = {}
    if not is_feasible.all():
        features["feasible_share"] = float(is_feasible.mean())
    if is_finite.sum() > 2 * dimension + 2:
        features |= _of_sample(2 * unit_points[is_finite] - 1, values[is_finite])
    return {f"{PREFIX}{name}": _rounded(number) for name, number in features.items()}


def _of_sample(points: Floats, values: Floats) -> dict[str, float]:
    """The features of a sample of points in [-1, 1]^d."""
    spread = values.std()
    if spread == 0:
        return {}
    standardised = (values - values.mean()) / spread
    distances = np.sqrt(np.square(points[:, np.newaxis] - points[np.newaxis]).sum(axis=2))
    to_best = distances[values.argmin()]
    n_best = max(2, round(BEST_SHARE * len(values)))
    best = np.argsort(values, kind="stable")[:n_best]
    is_better = values[np.newaxis] < values[:, np.newaxis]
    to_others = np.where(np.eye(len(values), dtype=bool), np.inf, distances)
    to_better = np.where(is_better, distances, np.inf).min(axis=1)
    has_better = np.isfinite(to_better)
    squares = _fit(np.hstack([points, np.square(points)]), standardised)
    curvatures = np.abs(squares.coefficients[points.shape[1] :])
    return {
        "linear_fit": _fit(points, standardised).explained,
        "quadratic_fit": squares.explained,
        "conditioning": float(np.log10(curvatures.max() / max(curvatures.min(), 1e-9))),
        "skewness": float((standardised**3).mean()),
        "kurtosis": float((standardised**4).mean()),
        "distance_correlation": float(np.corrcoef(to_best, values)[0, 1]),
        "dispersion": _mean_distance(distances[np.ix_(best, best)]) / _mean_distance(distances),
        "nearest_better": float(
            to_others.min(axis=1)[has_better].mean() / to_better[has_better].mean()
        ),
    }


class _Fit(NamedTuple):
    """A linear model: its coefficients, and the adjusted share of variance that it explains."""

    coefficients: Floats
    explained: float


def _fit(columns: Floats, standardised: Floats) -> _Fit:
    """The least-squares fit of values of mean 0 and variance 1 by some columns and a constant."""
    n = len(standardised)
    design = np.hstack([np.ones((n, 1)), columns])
    coefficients: Floats = np.asarray(np.linalg.lstsq(design, standardised, rcond=None)[0], float)
    residual = np.square(standardised - design @ coefficients).sum() / (n - design.shape[1])
    return _Fit(coefficients[1:], float(1 - residual * (n - 1) / n))


def _mean_distance(distances: Floats) -> float:
    """The mean distance of two different points."""
    n = len(distances)
    return float(distances.sum() / (n * (n - 1)))


def _rounded(number: float) -> float:
    return float(f"{number:.{DIGITS}g}")
