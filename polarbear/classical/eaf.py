"""EAF: the share of runs that had attained a target by a time, and how it differs for a pair.

Contours are moocore's; on a grid of times and targets the function is counted, which is exact at
its points and costs a sort, while the number of exact rectangles grows with the square of the runs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polarbear.classical.curves import Curves
from polarbear.numerics.arrays import Floats

BEYOND = 2.0  # how far from the targets a run stands that attained none of them
QUARTILES = (25.0, 50.0, 75.0)


@dataclass(frozen=True)
class Eaf:
    """Attained[algorithm, level, time]: the share of runs; levels of progress, 0 is easiest."""

    times: Floats
    levels: Floats
    attained: Floats


@dataclass(frozen=True)
class Lead:
    """Where one of a pair is ahead of the other by the most, and on how much of the plane."""

    share_of_plane: float
    most: float
    time: float
    level: float
    own: float
    other: float


@dataclass(frozen=True)
class EafDifference:
    """Difference[level, time] of two EAFs: above 0 where the first of the pair is ahead."""

    pair: tuple[str, str]
    times: Floats
    levels: Floats
    difference: Floats
    leads: tuple[Lead | None, Lead | None]


def counted(progress: Floats, times: Floats, levels: Floats, weights: Floats | None = None) -> Eaf:
    """The EAF on a grid, from progress[instance, algorithm, time], instances having weights."""
    instances, n, size = progress.shape
    each = np.ones(instances) if weights is None else weights
    attained = np.empty((n, len(levels), size))
    for a in range(n):
        order = np.argsort(progress[:, a], axis=0, kind="stable")
        for k in range(size):
            own = order[:, k]
            missed = np.searchsorted(progress[own, a, k], levels, side="left")
            passed = np.concatenate([[0], np.cumsum(each[own])])
            attained[a, :, k] = (passed[-1] - passed[missed]) / passed[-1]
    return Eaf(times, levels, attained)


def difference(
    eaf: Eaf, pair: tuple[int, int], names: tuple[str, str], weights: Floats
) -> EafDifference:
    """What the first of a pair attains more often than the second; ``weights`` are of the times."""
    one, other = eaf.attained[pair[0]], eaf.attained[pair[1]]
    found = one - other
    leads = (_lead(eaf, one, other, weights), _lead(eaf, other, one, weights))
    return EafDifference(names, eaf.times, eaf.levels, found, leads)


def _lead(eaf: Eaf, own: Floats, other: Floats, weights: Floats) -> Lead | None:
    ahead = own - other
    if not (ahead > 0).any():
        return None
    level, time = np.unravel_index(int(ahead.argmax()), ahead.shape)
    return Lead(
        float(((ahead > 0).mean(axis=0) * weights).sum() / weights.sum()),
        float(ahead[level, time]),
        float(eaf.times[time]),
        float(eaf.levels[level]),
        float(own[level, time]),
        float(other[level, time]),
    )


def contours(
    curves: Curves, progress: Floats, algorithm: int, percentiles: tuple[float, ...] = QUARTILES
) -> dict[float, Floats]:
    """The lines in the plane that so many per cent of an algorithm's runs have passed.

    Points (t, progress), in the order of time: from each on, that progress is attained, until the
    next. ``progress`` has one number a point of the curves.
    """
    import moocore

    points, sets = as_sets(curves, progress, algorithm)
    found = moocore.eaf(points, sets, percentiles=list(percentiles))
    made = {}
    for percentile in percentiles:
        line = found[np.isclose(found[:, 2], percentile) & (found[:, 0] <= curves.span[1]), :2]
        line = line[np.argsort(line[:, 0], kind="stable")]
        made[percentile] = np.column_stack([line[:, 0], 1.0 - line[:, 1]])
    return made


def as_sets(curves: Curves, progress: Floats, algorithm: int) -> tuple[Floats, np.ndarray]:
    """An algorithm's runs as moocore wants them: both objectives minimised, a number a set.

    The objectives are time and what is missing to the hardest target. Each run also gets a point
    outside of the plane, for a run that attained nothing counts as one that did not.
    """
    n = len(curves.algorithms)
    run = curves.run_of_point
    mine = (run % n == algorithm) & (progress >= 0.0)
    instances = np.arange(len(curves.instances))
    outside = np.column_stack(
        [np.full(len(instances), curves.span[1] * BEYOND), np.full(len(instances), BEYOND)]
    )
    inside = np.column_stack([curves.t[mine], 1.0 - np.minimum(progress[mine], 1.0)])
    sets = np.concatenate([run[mine] // n, instances])
    together = np.argsort(sets, kind="stable")  # moocore takes a set that comes again for another
    return np.concatenate([inside, outside])[together], sets[together] + 1
