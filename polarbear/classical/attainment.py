"""ECDF, AOCC and EAF: how many targets runs reach by a time, how soon, and how many runs.

Areas are exact: a run is a step function that is known between the times of the grid, too.
Intervals are bootstrapped over problems: instances that are seeds of one are drawn together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polarbear.classical.common_runs import Curves
from polarbear.inference.strongest_rival import p_best
from polarbear.numerics.arrays import Floats

LEVEL = 0.95
TAILS = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
EAF_LEVELS = np.arange(1, 101) / 100  # of progress; the easiest target would be level 0
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
        """Where the mean of values[instance, time] is above 0, and where below: [time] each.

        The 95 % band is simultaneous: each time gets the same multiple of its standard error, so
        that looking at many times does not make one of them stand out by chance.
        """
        centre, means = self.mean(values), self.means(values)
        error = means.std(axis=0)
        varies = error > 0
        if self.problems < 2 or not varies.any():
            nowhere = np.zeros(values.shape[1:], dtype=bool)
            return nowhere, nowhere
        furthest = (np.abs(means - centre)[:, varies] / error[varies]).max(axis=1)
        width = np.quantile(furthest, LEVEL) * error
        return np.asarray(varies & (centre > width)), np.asarray(varies & (-centre > width))


def resamples(
    problems: Sequence[str], count: int, seed: int, weights: Floats | None = None
) -> Resamples:
    """Resample problems with replacement; ``problems`` has the problem of each instance.

    A problem of weight w counts as w problems, both in the number drawn and in its probability.
    """
    rng = np.random.default_rng(seed)
    names, first, of = np.unique(np.asarray(problems), return_index=True, return_inverse=True)
    place = np.argsort(np.argsort(first))[of.ravel()]  # in the order of their first instances
    each = np.ones(len(names)) if weights is None else weights[np.sort(first)]
    number = max(1, round(each.sum()))
    drawn = rng.multinomial(number, each / each.sum(), size=count)
    return Resamples(drawn.astype(float)[:, place], len(names), weights)


@dataclass(frozen=True)
class Ecdf:
    """The mean shares[algorithm, time] of targets reached, with their 95 % intervals."""

    mean: Floats
    low: Floats
    high: Floats


def ecdf(shares: Floats, drawn: Resamples) -> Ecdf:
    """The ECDF from shares[instance, algorithm, time] of targets that each run had reached."""
    bands = [drawn.interval(shares[:, a]) for a in range(shares.shape[1])]
    low, high = (np.stack(ends) for ends in zip(*bands, strict=True))
    return Ecdf(drawn.mean(shares), low, high)


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
    found = _areas(curves, shares, log_time)
    low, high = drawn.interval(found)
    first = p_best(drawn.means(found))
    return Aocc(found, drawn.mean(found), low, high, np.median(found, axis=0), first)


def _areas(curves: Curves, shares: Floats, log_time: bool) -> Floats:
    """The mean over time of each run's share of targets; at a single time, the share there."""
    first, last = curves.span
    if first == last:
        return curves.on(np.array([first]), shares, 0.0)[:, :, 0]
    t, (start, end) = curves.t, np.array(curves.span)
    if log_time:
        t, start, end = np.log(t), np.log(start), np.log(end)
    until = np.append(t[1:], end)
    is_filled = np.diff(curves.starts) > 0
    until[curves.starts[1:][is_filled] - 1] = end  # a run's last value holds to the end
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
    each = np.ones(len(progress)) if weights is None else weights
    share = each / each.sum()
    attained = [np.tensordot(share, progress >= level, 1) for level in EAF_LEVELS]
    # The highest level that at least these shares of runs have attained.
    of_runs = np.array(QUARTILES) / 100
    lines = -np.quantile(-progress, of_runs, axis=0, weights=each, method="inverted_cdf")
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
