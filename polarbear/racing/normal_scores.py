"""Normal approximations of what is known about a pair: its lead and the width of the ROPE."""

from __future__ import annotations

import numpy as np

from polarbear.inference.relations import DecisionTables

MIN_TAIL = 1e-6  # probabilities are clipped to this distance from 0 and 1


def normal_scores(
    tables: DecisionTables, a: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The lead of a over b and the half-width of the ROPE, in posterior standard deviations.

    Both are [time, pair] and grow with the square root of the number of instances.
    """
    from scipy.special import ndtri

    above, below = tables.better[:, a, b], tables.better[:, b, a]
    total = above + below
    share = np.divide(above, total, out=np.full_like(above, 0.5), where=total > 0)
    lead = ndtri(np.clip(share, MIN_TAIL, 1 - MIN_TAIL))
    return lead, half_width(np.abs(lead), tables.equivalent[:, a, b])


def half_width(shift: np.ndarray, alike: np.ndarray) -> np.ndarray:
    """The half-width of the ROPE in standard deviations, from P(equivalent)."""
    from scipy.special import ndtr

    alike = np.clip(alike, MIN_TAIL, 1 - MIN_TAIL)
    low, high = np.zeros_like(shift), np.full_like(shift, 1e3)
    for _ in range(60):
        middle = (low + high) / 2
        more = ndtr(middle - shift) - ndtr(-middle - shift) < alike
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    return high
