"""Beliefs about a pair as normal ones: how far from even, and from what counts as equivalent."""

from __future__ import annotations

import numpy as np

from polarbear.inference.relations import Pointwise

SURE = 1e-6  # nothing is more certain than this


def scores(pointwise: Pointwise, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By how much a leads b, and the half-width of what counts as equivalent, in standard
    deviations of what is believed: both [time, pair].

    More instances make both grow by the square root of their number.
    """
    from scipy.special import ndtri  # which only a race needs, not who reads one

    lead = ndtri(np.clip(pointwise.dominance[:, a, b], SURE, 1 - SURE))
    return lead, half_width(np.abs(lead), pointwise.equivalence[:, a, b])


def half_width(shift: np.ndarray, alike: np.ndarray) -> np.ndarray:
    """The half-width of what counts as equivalent, in standard deviations, by P(equivalent)."""
    from scipy.special import ndtr

    alike = np.clip(alike, SURE, 1 - SURE)
    low, high = np.zeros_like(shift), np.full_like(shift, 1e3)
    for _ in range(60):
        middle = (low + high) / 2
        more = ndtr(middle - shift) - ndtr(-middle - shift) < alike
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    return high
