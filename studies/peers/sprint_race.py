"""SPRINT-Race: Pareto racing by sequential probability ratio tests (Zhang et al. 2015).

On an instance one algorithm dominates another if it is nowhere worse and somewhere better; the
objectives are here the times. For each pair p is how often the first is the one that dominates,
among instances on which one does. Two of Wald's tests run beside each other (Sobel and Wald 1949):
p = 1/2 - delta against 1/2, and 1/2 against 1/2 + delta. Both upper: the second is out; both lower:
the first is out; in between: neither dominates, and the pair is done with. The error that is
allowed in all is shared between the pairs.

An instance on which two trajectories cross counts for neither: the method finds the algorithm that
wins more of the whole trajectories, not the one that is worse at every time.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

FIRST_OUT = "first out"
SECOND_OUT = "second out"
NEITHER = "neither"
OPEN = "open"


def log_ratio(wins: np.ndarray, losses: np.ndarray, low: float, high: float) -> np.ndarray:
    """The log-likelihood ratio of p = high against p = low."""
    return np.asarray(wins * np.log(high / low) + losses * np.log((1 - high) / (1 - low)))


def decided(wins: int, losses: int, delta: float, error: float) -> str:
    """The decision of both tests, with this error on either side, after these wins and losses."""
    mark = np.log((1 - error) / error)
    below = float(log_ratio(np.array(wins), np.array(losses), 0.5 - delta, 0.5))
    above = float(log_ratio(np.array(wins), np.array(losses), 0.5, 0.5 + delta))
    if above >= mark:
        return SECOND_OUT
    if below <= -mark:
        return FIRST_OUT
    return NEITHER if below >= mark and above <= -mark else OPEN


def raced(
    values: np.ndarray, level: float, delta: float
) -> tuple[list[tuple[int, int, int]], list[tuple[int, set[int]]]]:
    """The eliminations (loser, winner, instances), and after each instance (runs, candidates)."""
    n = values.shape[1]
    error = level / (n * (n - 1) / 2)
    candidates = set(range(n))
    unsettled = set(combinations(range(n), 2))
    wins = np.zeros((n, n), dtype=int)
    out: list[tuple[int, int, int]] = []
    spent = 0
    history = []
    for n_seen, instance in enumerate(values, start=1):
        running = {i for pair in unsettled for i in pair}
        spent += len(running)
        for a, b in sorted(unsettled):
            a_never_worse = (instance[a] <= instance[b]).all()
            b_never_worse = (instance[b] <= instance[a]).all()
            wins[a, b] += a_never_worse and not b_never_worse
            wins[b, a] += b_never_worse and not a_never_worse
        for a, b in sorted(unsettled):
            verdict = decided(int(wins[a, b]), int(wins[b, a]), delta, error)
            if verdict == NEITHER:
                unsettled.discard((a, b))
            elif verdict in (FIRST_OUT, SECOND_OUT) and {a, b} <= candidates:
                loser, by = (a, b) if verdict == FIRST_OUT else (b, a)
                out.append((loser, by, n_seen))
                candidates.discard(loser)
        unsettled = {pair for pair in unsettled if set(pair) <= candidates}
        history.append((spent, set(candidates)))
        if not unsettled:
            break
    return out, history
