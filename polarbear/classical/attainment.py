"""ECDF, AOCC and EAF: the targets reached by a time, the area below, and the share of runs.

Areas are exact: a run is a step function that is known between the times of the grid, too.
Intervals are bootstrapped over problems: all instances that are seeds of a problem are drawn
together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polarbear.classical.common_runs import Curves
from polarbear.inference.strongest_rival import p_best
from polarbear.numerics.arrays import Floats

LEVEL = 0.95
TAILS = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
EAF_LEVELS = np.arange(1, 101) / 100  # levels of progress, which is 0 at the easiest target
QUARTILES = (25.0, 50.0, 75.0)


@dataclass(frozen=True)
class Resamples:
    """The number of times that each resample has each instance: times[resample, instance].

    The same resamples serve all algorithms, so that differences are paired. ``problems`` is the
    number of problems; ``weights`` are those of the instances, None if all are 1.
    """

    times: np.ndarray
    problems: int
    weights: Floats | None = None

    def mean(self, values: Floats) -> Floats:
        """The mean of values[instance, ...] over all instances."""
        return np.asarray(np.average(values, axis=0, weights=self.weights))

    def means(self, values: Floats) -> Floats:
        """The mean of values[instance, ...] in each resample: [resample, ...]."""
        total = self.times @ values.reshape(len(values), -1)
        instances = self.times.sum(axis=1)  # varies if problems differ in seeds
        return np.asarray(total / instances[:, None]).reshape(len(self.times), *values.shape[1:])

    def interval(self, values: Floats) -> tuple[Floats, Floats]:
        """The central 95 % of resampled means; NaN if there is one problem only."""
        if self.problems < 2:
            unknown = np.full(values.shape[1:], np.nan)
            return unknown, unknown
        low, high = np.quantile(self.means(values), TAILS, axis=0)
        return low, high

    def clearly_apart(self, values: Floats) -> tuple[np.ndarray, np.ndarray]:
        """Two masks of times: the mean of values[instance, time] is clearly above 0, or below 0.

        The 95 % band is simultaneous: each time gets the same multiple of its standard error, so
        that looking at many times does not make one of them stand out by chance.
        """
        mean = self.mean(values)
        resampled_means = self.means(values)
        standard_error = resampled_means.std(axis=0)
        varies = standard_error > 0
        if self.problems < 2 or not varies.any():
            nowhere = np.zeros(values.shape[1:], dtype=bool)
            return nowhere, nowhere
        deviations = np.abs(resampled_means - mean)[:, varies] / standard_error[varies]
        largest_deviations = deviations.max(axis=1)
        width = np.quantile(largest_deviations, LEVEL) * standard_error
        is_above = np.asarray(varies & (mean > width))
        is_below = np.asarray(varies & (-mean > width))
        return is_above, is_below


def resamples(
    problems: Sequence[str], count: int, seed: int, weights: Floats | None = None
) -> Resamples:
    """Resample problems with replacement; ``problems`` has the problem of each instance.

    A problem of weight w counts as w problems, both in the number drawn and in its probability.
    """
    rng = np.random.default_rng(seed)
    names, first_instances, sorted_index = np.unique(
        np.asarray(problems), return_index=True, return_inverse=True
    )
    # Problems are numbered in the order of their first instances, not by their sorted names.
    number_of_sorted = np.argsort(np.argsort(first_instances))
    problem_of_instance = number_of_sorted[sorted_index.ravel()]
    problem_weights = np.ones(len(names))
    if weights is not None:
        problem_weights = weights[np.sort(first_instances)]
    n_drawn = max(1, round(problem_weights.sum()))
    shares = problem_weights / problem_weights.sum()
    times_drawn = rng.multinomial(n_drawn, shares, size=count).astype(float)
    return Resamples(times_drawn[:, problem_of_instance], len(names), weights)


@dataclass(frozen=True)
class Ecdf:
    """The mean shares[algorithm, time] of targets reached, with their 95 % intervals."""

    mean: Floats
    low: Floats
    high: Floats


def ecdf(shares: Floats, drawn: Resamples) -> Ecdf:
    """The ECDF from shares[instance, algorithm, time] of targets that each run had reached."""
    intervals = [drawn.interval(shares[:, a]) for a in range(shares.shape[1])]
    return Ecdf(
        mean=drawn.mean(shares),
        low=np.stack([low for low, _ in intervals]),
        high=np.stack([high for _, high in intervals]),
    )


@dataclass(frozen=True)
class Aocc:
    """Areas[instance, algorithm] in [0, 1], their means with 95 % intervals, and medians.

    ``first`` is the share of resamples in which an algorithm has the highest mean, ties shared.
    """

    areas: Floats
    mean: Floats
    low: Floats
    high: Floats
    median: Floats
    first: Floats

    def order(self) -> list[int]:
        """Algorithms from best to worst by the mean."""
        return [int(a) for a in np.argsort(-self.mean, kind="stable")]


def aocc(curves: Curves, shares: Floats, drawn: Resamples, log_time: bool = False) -> Aocc:
    """The AOCC from the share of targets at each point of the curves; optionally over log t."""
    areas = _areas(curves, shares, log_time)
    low, high = drawn.interval(areas)
    return Aocc(
        areas=areas,
        mean=drawn.mean(areas),
        low=low,
        high=high,
        median=np.median(areas, axis=0),
        first=p_best(drawn.means(areas)),
    )


def _areas(curves: Curves, shares: Floats, log_time: bool) -> Floats:
    """The mean over time of each run's share of targets; at a single time, the share there."""
    first, last = curves.span
    if first == last:
        return curves.on(np.array([first]), shares, 0.0)[:, :, 0]
    scaled = np.log if log_time else np.asarray
    t = scaled(curves.t)
    start = float(scaled(np.float64(first)))
    end = float(scaled(np.float64(last)))
    until = np.append(t[1:], end)
    # The last value of a run holds to the end of the span.
    has_points = np.diff(curves.starts) > 0
    until[curves.starts[1:][has_points] - 1] = end
    total = np.bincount(curves.run_of_point, weights=shares * (until - t), minlength=curves.runs)
    areas: Floats = total / (end - start)
    return areas.reshape(len(curves.instances), len(curves.algorithms))


@dataclass(frozen=True)
class Eaf:
    """Attained[algorithm, level, time]: the share of runs, at the levels EAF_LEVELS.

    ``contours`` has for each algorithm and percentage of runs the points (t, level) of a step
    function: the level that this percentage has attained.
    """

    attained: Floats
    contours: tuple[dict[float, Floats], ...]


def eaf(progress: Floats, times: Floats, weights: Floats | None = None) -> Eaf:
    """The EAF on a grid, from progress[instance, algorithm, time] and weights of instances."""
    if weights is None:
        weights = np.ones(len(progress))
    shares = weights / weights.sum()
    attained = [np.tensordot(shares, progress >= level, 1) for level in EAF_LEVELS]
    # The highest level that at least these shares of runs have attained.
    quantiles = np.array(QUARTILES) / 100
    lines = -np.quantile(-progress, quantiles, axis=0, weights=weights, method="inverted_cdf")
    contours = tuple(
        {percent: _steps(times, lines[k, a]) for k, percent in enumerate(QUARTILES)}
        for a in range(progress.shape[1])
    )
    return Eaf(np.stack(attained, axis=1), contours)


def _steps(times: Floats, line: Floats) -> Floats:
    """The points (t, level) at which a line in the plane increases."""
    capped = np.where(line < 0, -np.inf, np.minimum(line, 1.0))
    rises = capped > np.concatenate([[-np.inf], capped[:-1]])
    return np.column_stack([times[rises], capped[rises]])
