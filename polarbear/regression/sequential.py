"""Sequential tests of win rates at many times, by random signs.

The score of a problem at a time is 1 if the candidate wins its duel, 0 if it loses, and 1/2 for a
draw. If the two versions are interchangeable, scores less 1/2 are as likely with either sign, all
times of a problem at once. Random signs of problems therefore give the distribution of any
statistic, whatever the correlation of times (the maximum over windows of times included).

A test looks at the data several times. The error that it may have used by a look is proportional to
the number of instances (Lan and DeMets 1983). Random signs follow the same looks: the bound of a
look is such that, of the sign patterns that have not crossed an earlier bound, as many cross it as
the error allows.

A win rate below one half is tested by its excess over that rate with the same signs. Signs then
vary by at least as much as the scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

SIGN_PATTERNS = 2000
ROUNDING = 1e-6  # of statistics in single precision


def look_sizes(limit: int, first: int = 8, share: float = 0.25) -> list[int]:
    """The numbers of instances at which a test looks; the last is ``limit``."""
    sizes = [min(first, limit)]
    while sizes[-1] < limit:
        sizes.append(min(limit, sizes[-1] + max(first, int(share * sizes[-1]))))
    return sizes


def windows(times: int) -> np.ndarray:
    """Windows of 1, 2, 4, ... times, overlapping by half, and all times: [window, (start, stop)].

    If the mean of win rates in a window is below a bound, so is one of them.
    """
    found, length = [], 1
    while length < times:
        starts = [*range(0, times - length, max(1, length // 2)), times - length]
        found += [(start, start + length) for start in starts]
        length *= 2
    return np.array([*found, (0, times)])


def window_means(scores: np.ndarray, spans: np.ndarray) -> np.ndarray:
    """Means over windows of times: [problem, window]; NaN where a problem has no score."""
    known = ~np.isnan(scores)
    zero = np.zeros((len(scores), 1))
    total = np.hstack([zero, np.where(known, scores, 0).cumsum(axis=1)])
    count = np.hstack([zero, known.cumsum(axis=1)])
    start, stop = spans.T
    with np.errstate(invalid="ignore"):
        return np.asarray((total[:, stop] - total[:, start]) / (count[:, stop] - count[:, start]))


def statistics(scores: np.ndarray, rate: float, sizes: Sequence[int], seed: int) -> np.ndarray:
    """Standardised excess of mean scores over a rate: [1 + pattern, look, column].

    Row 0 is that of the data, the others are those of random signs.
    """
    signs = np.random.default_rng(seed).integers(0, 2, (SIGN_PATTERNS, max(sizes)))
    signs = (2 * signs - 1).astype(np.float32)
    known = ~np.isnan(scores)
    excess = np.where(known, scores - rate, 0)
    centred = np.where(known, scores - 0.5, 0).astype(np.float32)
    sums = np.zeros((1 + SIGN_PATTERNS, scores.shape[1]), dtype=np.float32)
    squares = np.zeros(scores.shape[1])
    found = []
    for first, last in pairwise([0, *sizes]):
        sums[0] += excess[first:last].sum(axis=0)
        sums[1:] += signs[:, first:last] @ centred[first:last]
        squares += np.square(centred[first:last]).sum(axis=0)
        found.append(sums / np.sqrt(np.maximum(squares, 1e-6)))
    return np.stack(found, axis=1)


def first_crossing(
    path: np.ndarray, shares: Sequence[float], error: float
) -> tuple[int, float] | None:
    """The first look at which the data cross the bound, and the bound: path[1 + pattern, look].

    ``shares`` are the shares of the error that may be used by each look.
    """
    alive, used = np.ones(len(path) - 1, dtype=bool), 0
    for look, share in enumerate(shares):
        allowed = int(error * share * len(path)) - used
        if allowed < 1:
            continue
        values = path[1:, look]
        largest = np.sort(values[alive])[::-1]
        outside = largest[min(allowed, len(largest) - 1)] + ROUNDING
        crossing = alive & (values > outside)
        # Statistics of few problems have few values: the data have to reach one that crosses.
        bound = float(values[crossing].min() - ROUNDING if crossing.any() else outside)
        if path[0, look] > bound:
            return look, bound
        used += int(crossing.sum())
        alive &= ~crossing
    return None
