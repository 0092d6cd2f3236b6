"""AOCC: the area over the convergence curve, which is the mean share of targets over time.

The areas are exact: a run is a step function that is known between the times of the grid, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polarbear.classical.bootstrap import Resamples
from polarbear.classical.curves import Curves
from polarbear.numerics.arrays import Floats


@dataclass(frozen=True)
class Aocc:
    """Areas[instance, algorithm] in [0, 1], and what they say on average.

    ``first`` is the share of resamples in which an algorithm has the highest mean, ties shared.
    ``log_time`` says whether every order of magnitude of time counts the same, or every moment.
    """

    areas: Floats
    mean: Floats
    low: Floats
    high: Floats
    median: Floats
    first: Floats
    log_time: bool

    def order(self) -> list[int]:
        """Algorithms from best to worst by the mean."""
        return [int(a) for a in np.argsort(-self.mean, kind="stable")]


def areas(curves: Curves, shares: Floats, log_time: bool) -> Floats:
    """The mean over time of each run's share of targets: [instance, algorithm].

    ``shares`` has one number a point of the curves. The cost is linear in the points. A span of a
    single time leaves the share at that time.
    """
    first, last = curves.span
    shape = (len(curves.instances), len(curves.algorithms))
    if first == last:
        return curves.on(np.array([first]), shares, 0.0)[:, :, 0]
    t, ends = (np.log(curves.t), np.log(last)) if log_time else (curves.t, last)
    until = np.append(t[1:], ends)
    filled = np.diff(curves.starts) > 0
    until[curves.starts[1:][filled] - 1] = ends  # a run's last value holds to the end
    length = np.log(last / first) if log_time else last - first
    total = np.bincount(curves.run_of_point, weights=shares * (until - t), minlength=curves.runs)
    return (total / length).reshape(shape)


def aocc(curves: Curves, shares: Floats, drawn: Resamples, log_time: bool = False) -> Aocc:
    """The distribution over instances, and its mean with a bootstrap interval."""
    found = areas(curves, shares, log_time)
    low, high = drawn.interval(found)
    means = drawn.means(found)
    is_best = means == means.max(axis=1, keepdims=True)
    first = (is_best / is_best.sum(axis=1, keepdims=True)).mean(axis=0)
    return Aocc(found, drawn.mean(found), low, high, np.median(found, axis=0), first, log_time)
