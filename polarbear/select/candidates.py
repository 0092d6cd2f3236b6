"""Who competes where no race has decided it: whoever is not confidently dominated."""

from __future__ import annotations

import numpy as np

from polarbear.errors import SelectionError

ALPHA = 0.99


def undominated(theta: np.ndarray, alpha: float = ALPHA) -> list[int]:
    """Items of theta[draw, time, item] that none of the others alpha-dominates at every time.

    The race's pointwise elimination, on one posterior: P(theta_b(t) > theta_a(t)) >= alpha at
    each t takes a out.
    """
    if not 0.5 < alpha <= 1:
        raise SelectionError(f"the decision threshold alpha must lie in (0.5, 1], found {alpha:g}")
    above = _dominates_everywhere(theta, alpha)
    reaches = above.copy()
    for _ in range(theta.shape[2]):
        reaches |= (reaches.astype(int) @ above.astype(int)) > 0
    above &= ~(reaches & reaches.T)  # nobody goes because of a circle of dominances
    return [int(i) for i in np.flatnonzero(~above.any(axis=0))]


def _dominates_everywhere(theta: np.ndarray, alpha: float) -> np.ndarray:
    """bool[b, a]: b alpha-dominates a at every time. Most pairs fall out at the first times."""
    _, times, n = theta.shape
    possible = ~np.eye(n, dtype=bool)
    ends_first = [0, times - 1, *range(1, times - 1)][:times]
    for t in ends_first:
        draws = np.ascontiguousarray(theta[:, t].T)
        for b, a in np.argwhere(possible):
            share = np.count_nonzero(draws[b] > draws[a]) / draws.shape[1]
            possible[b, a] = share >= alpha
        if not possible.any():
            break
    return possible
