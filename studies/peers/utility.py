"""Anytime behaviour as one number: quality weighted by when it is likely to be asked for.

Jesus, Liefooghe, Derbel and Paquete (2020) value a trajectory by a utility over time and quality.
Here it is additive: how likely a run is stopped at a time, times the quality it has by then. With
every moment as likely as any other this is the AOCC; with every order of magnitude, its logarithmic
variant. Quality is a share of targets where optima are known (`classical.shares`), otherwise the
value's place between the best and worst seen on that instance, which every newcomer moves.
"""

from __future__ import annotations

import numpy as np


def seen_quality(values: np.ndarray) -> np.ndarray:
    """Between 0 at the worst and 1 at the best that was seen on an instance, at any time."""
    worst = values.max(axis=(1, 2), keepdims=True)
    best = values.min(axis=(1, 2), keepdims=True)
    return np.asarray((worst - values) / np.where(worst > best, worst - best, 1.0))


def stopped(times: np.ndarray, log: bool = False) -> np.ndarray:
    """The probability that a run stops between a time and the next: uniform, or on a log scale."""
    steps = np.diff(np.log(times) if log else times)
    return np.asarray(np.append(steps, 0.0) / steps.sum())


def utility(quality: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Expected quality of each run: [instance, algorithm]."""
    return np.asarray(quality @ weights)
