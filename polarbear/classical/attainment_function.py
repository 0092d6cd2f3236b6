"""EAF: the share of runs that had attained a level of progress by a time, and its differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from polarbear.numerics.arrays import Floats

QUARTILES = (25.0, 50.0, 75.0)


@dataclass(frozen=True)
class Eaf:
    """Attained[algorithm, level, time]: the share of runs; level 0 is the easiest target.

    ``contours`` has for each algorithm and percentage of runs the points (t, level) of a step
    function: the level that this percentage has attained.
    """

    times: Floats
    levels: Floats
    attained: Floats
    contours: tuple[dict[float, Floats], ...]


@dataclass(frozen=True)
class Lead:
    """Where in the plane of times and levels one algorithm leads another.

    ``most`` is the largest difference, of ``attained`` and ``attained_by_other``, at ``t`` and
    ``progress``; ``target`` is that distance if all instances have the same targets.
    """

    share_of_plane: float
    most: float
    t: float
    progress: float
    target: float | None
    attained: float
    attained_by_other: float


@dataclass(frozen=True)
class EafDifference:
    """Difference[level, time] of the EAFs of a pair, positive where the first leads; its leads."""

    difference: Floats
    leads: tuple[Lead | None, Lead | None]


def eaf(progress: Floats, times: Floats, levels: Floats, weights: Floats | None = None) -> Eaf:
    """The EAF on a grid, from progress[instance, algorithm, time] and weights of instances."""
    instances, n, size = progress.shape
    each = np.ones(instances) if weights is None else weights
    attained = np.empty((n, len(levels), size))
    quantiles = np.empty((n, len(QUARTILES), size))
    for a in range(n):
        order = np.argsort(progress[:, a], axis=0, kind="stable")
        for k in range(size):
            own = order[:, k]
            values = progress[own, a, k]
            below = np.concatenate([[0], np.cumsum(each[own])])  # the weight of all runs before
            total = below[-1]
            attained[a, :, k] = (total - below[np.searchsorted(values, levels)]) / total
            # The highest level that the percentage of runs has; up to rounding of the weights.
            most_below = total * (1 - np.array(QUARTILES) / 100 + 1e-9)
            quantiles[a, :, k] = values[np.searchsorted(below, most_below) - 1]
    contours = tuple(
        {percent: _steps(times, line) for percent, line in zip(QUARTILES, lines, strict=True)}
        for lines in quantiles
    )
    return Eaf(times, levels, attained, contours)


def difference(
    found: Eaf, pair: tuple[int, int], weights: Floats, target: Callable[[float], float | None]
) -> EafDifference:
    """What the first of a pair attains more often than the second; times have ``weights``."""
    one, other = (found.attained[a] for a in pair)
    leads = _lead(found, one, other, weights, target), _lead(found, other, one, weights, target)
    return EafDifference(one - other, leads)


def _lead(
    found: Eaf,
    own: Floats,
    other: Floats,
    weights: Floats,
    target: Callable[[float], float | None],
) -> Lead | None:
    ahead = own - other
    if not (ahead > 0).any():
        return None
    k, time = np.unravel_index(int(ahead.argmax()), ahead.shape)
    level = float(found.levels[k])
    return Lead(
        float(((ahead > 0).mean(axis=0) * weights).sum() / weights.sum()),
        float(ahead[k, time]),
        float(found.times[time]),
        level,
        target(level),
        float(own[k, time]),
        float(other[k, time]),
    )


def _steps(times: Floats, line: Floats) -> Floats:
    """The points (t, level) at which a line in the plane increases."""
    capped = np.where(line < 0, -np.inf, np.minimum(line, 1.0))
    rises = capped > np.concatenate([[-np.inf], capped[:-1]])
    return np.column_stack([times[rises], capped[rises]])
