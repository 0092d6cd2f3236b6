"""Whether a preference is strictly monotone, tried on samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

PAIRS = 600


class Counterexample(NamedTuple):
    """Two curves, one above the other at all times, that is not worth more."""

    lower: np.ndarray
    higher: np.ndarray
    value_of_lower: float
    value_of_higher: float


def counterexample(
    value: Callable[[np.ndarray], np.ndarray], n_times: int, seed: int
) -> Counterexample | None:
    """The first pair of curves that value[curve] of curves[curve, time] ranks wrongly, if any."""
    lower, higher = ordered_pairs(n_times, seed)
    below, above = value(lower), value(higher)
    wrong = np.flatnonzero(~(above > below))
    if not len(wrong):
        return None
    k = wrong[0]
    return Counterexample(lower[k], higher[k], float(below[k]), float(above[k]))


def ordered_pairs(n_times: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Curves of probabilities, and curves that are higher at all times: [pair, time] each.

    Flat, wavering and smooth curves of all sizes; gaps that are even, that vary, and that are
    small everywhere but at some times, which finds preferences that dislike variation.
    """
    rng = np.random.default_rng(seed)
    level = 10.0 ** rng.uniform(-2.0, 0.0, (PAIRS, 1))
    kind = np.arange(PAIRS) % 3
    noise = rng.uniform(size=(PAIRS, n_times))
    frequency, phase = rng.uniform(0, 3, (PAIRS, 1)), rng.uniform(0, 1, (PAIRS, 1))
    wave = 0.5 + 0.5 * np.sin(2 * np.pi * (frequency * np.linspace(0, 1, n_times) + phase))
    shape = np.choose(kind[:, None], [np.full_like(noise, 0.5), noise, wave])
    lower = 0.001 + 0.9 * level * shape
    even = np.broadcast_to(rng.uniform(0.05, 0.9, (PAIRS, 1)), noise.shape)
    spiked = np.where(rng.uniform(size=noise.shape) < 2.0 / (n_times + 1), 0.9, 0.02)
    gap_kind = (np.arange(PAIRS) // 3) % 3
    gap = np.choose(gap_kind[:, None], [even, rng.uniform(0.02, 0.9, noise.shape), spiked])
    return lower, lower + (1.0 - lower) * gap
