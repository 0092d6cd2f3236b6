"""Who competes where no race has decided it: whoever is not confidently dominated."""

from __future__ import annotations

import numpy as np

from polarbear.errors import SelectionError
from polarbear.inference import Posterior

ALPHA = 0.99


def undominated(posterior: Posterior, alpha: float = ALPHA) -> list[int]:
    """The algorithms that none of the others alpha-dominates at every time.

    The race's pointwise elimination, on one posterior: P(b beats a on more than half of the
    instances) >= alpha at each time takes a out.
    """
    if not 0.5 < alpha <= 1:
        raise SelectionError(f"the decision threshold alpha must lie in (0.5, 1], found {alpha:g}")
    above = _dominates_everywhere(posterior, alpha)
    reaches = above.copy()
    for _ in range(posterior.theta.shape[2]):
        reaches |= (reaches.astype(int) @ above.astype(int)) > 0
    above &= ~(reaches & reaches.T)  # nobody goes because of a circle of dominances
    return [int(i) for i in np.flatnonzero(~above.any(axis=0))]


def _dominates_everywhere(posterior: Posterior, alpha: float) -> np.ndarray:
    """bool[b, a]: b alpha-dominates a at every time. Most pairs fall out at the first times."""
    _, times, n = posterior.theta.shape
    possible = ~np.eye(n, dtype=bool)
    ends_first = [0, times - 1, *range(1, times - 1)][:times]
    for t in ends_first:
        for b, a in np.argwhere(possible):
            possible[b, a] = posterior.beats(int(b), int(a))[:, t].mean() >= alpha
        if not possible.any():
            break
    return possible
