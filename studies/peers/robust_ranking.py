"""Robust ranking: the differences in mean rank that survive resampling of the instances.

Fawcett, Vallati, Hoos and Gerevini (2023), as in the package robustranking: instances are drawn
with replacement; one algorithm is better than another as surely as its mean score is smaller in the
resamples. The best and all who are not significantly worse form the first group, and so on, levels
corrected by Holm over the comparisons with a group's best. Made anytime in the plainest way: at
every time.
"""

from __future__ import annotations

import numpy as np
from f_race import holm
from scipy.stats import rankdata

RESAMPLES = 1000


def resampled_means(scores: np.ndarray, seed: int, resamples: int = RESAMPLES) -> np.ndarray:
    """Means of scores[instance, ...] over instances drawn with replacement: [resample, ...]."""
    size = len(scores)
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(size, np.full(size, 1 / size), size=resamples)
    return np.asarray(np.tensordot(counts / size, scores, axes=1))


def worse_in(means: np.ndarray) -> np.ndarray:
    """Share of resamples[resample, algorithm] in which b is not better than a: p[a, b].

    It is the p-value of 'a is better than b'.
    """
    return np.asarray((means[:, None, :] <= means[:, :, None]).mean(axis=0))


def groups(scores: np.ndarray, level: float, seed: int = 0) -> list[list[int]]:
    """Those who cannot be told from the best, of scores[instance, algorithm]; then the rest."""
    means = resampled_means(scores, seed)
    p = worse_in(means)
    remaining = list(range(scores.shape[1]))
    ordered_groups = []
    while remaining:
        best = min(remaining, key=lambda i: (float(scores[:, i].mean()), i))
        others = [i for i in remaining if i != best]
        adjusted = holm(np.array([p[best, i] for i in others])) if others else np.array([])
        tied = [i for i, p_value in zip(others, adjusted, strict=True) if p_value > level]
        group = [best, *tied]
        ordered_groups.append(sorted(group))
        remaining = [i for i in remaining if i not in group]
    return ordered_groups


def better_at_each(values: np.ndarray, level: float, seed: int = 0) -> np.ndarray:
    """Whether a is better than b at time t by resampled mean ranks: bool[time, a, b]."""
    means = resampled_means(rankdata(values, axis=1), seed)  # [resample, algorithm, time]
    return np.stack([worse_in(means[:, :, t]) <= level for t in range(values.shape[2])])
