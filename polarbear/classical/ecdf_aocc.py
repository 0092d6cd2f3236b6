"""ECDF and AOCC: the mean share of targets reached by a time, and its mean over time.

Areas are exact: a run is a step function that is known between the times of the grid, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polarbear.classical.curves import Curves
from polarbear.classical.resampling import Resamples
from polarbear.numerics.arrays import Floats


@dataclass(frozen=True)
class Ecdf:
    """Shares[algorithm, time] with their 95 % intervals."""

    times: Floats
    mean: Floats
    low: Floats
    high: Floats


def ecdf(times: Floats, shares: Floats, drawn: Resamples) -> Ecdf:
    """The ECDF from shares[instance, algorithm, time] of targets that each run had reached."""
    bands = [drawn.interval(shares[:, a]) for a in range(shares.shape[1])]
    low, high = (np.stack(ends) for ends in zip(*bands, strict=True))
    return Ecdf(times, drawn.mean(shares), low, high)


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
    means = drawn.means(found)
    is_best = means == means.max(axis=1, keepdims=True)
    first = (is_best / is_best.sum(axis=1, keepdims=True)).mean(axis=0)
    return Aocc(found, drawn.mean(found), low, high, np.median(found, axis=0), first)


def _areas(curves: Curves, shares: Floats, log_time: bool) -> Floats:
    """The mean over time of each run's share of targets; at a single time, the share there."""
    first, last = curves.span
    if first == last:
        return curves.on(np.array([first]), shares, 0.0)[:, :, 0]
    t, end = (np.log(curves.t), np.log(last)) if log_time else (curves.t, last)
    until = np.append(t[1:], end)
    is_filled = np.diff(curves.starts) > 0
    until[curves.starts[1:][is_filled] - 1] = end  # a run's last value holds to the end
    length = np.log(last / first) if log_time else last - first
    total = np.bincount(curves.run_of_point, weights=shares * (until - t), minlength=curves.runs)
    return (total / length).reshape(len(curves.instances), len(curves.algorithms))
