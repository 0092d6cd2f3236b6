"""F-Race at each timepoint: the baseline that `race.py` compares with.

Birattari, Stuetzle, Paquete, Varrentrapp (2002) and Birattari et al. (2010): a Friedman test over
the instances seen so far (instances are blocks, survivors are treatments); where it rejects,
Conover's comparisons between survivors. Made anytime in the plainest way: the tests are done at
every timepoint; out is who is significantly worse than one other survivor at every timepoint. That
asks for all tests at once, so it needs no correction over timepoints (an intersection-union test),
and comparisons are one-sided. Beside it stands the same with Holm's correction, over all timepoints
and, among comparisons, over all pairs and timepoints.

As in PolarBear's crossing resolution, a pair of which each is significantly better somewhere is
settled, and an algorithm all of whose pairs are settled is not run any more.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2, rankdata
from scipy.stats import t as student


def holm(p_values: np.ndarray) -> np.ndarray:
    """Adjusted p-values of any shape: to be compared with the level of the whole family."""
    flat = p_values.ravel()
    order = np.argsort(flat)
    stepped = flat[order] * (len(flat) - np.arange(len(flat)))
    adjusted = np.empty_like(flat)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1)
    return adjusted.reshape(p_values.shape)


def friedman(ranks: np.ndarray) -> tuple[float, np.ndarray]:
    """p-value of the Friedman test for ranks[block, treatment], and those of all comparisons.

    comparisons[a, b] is the two-sided p-value of Conover's test where a has the smaller rank sum,
    else 1: 'a is better than b'.
    """
    blocks, m = ranks.shape
    sums = ranks.sum(axis=0)
    spread = (ranks**2).sum() - blocks * m * (m + 1) ** 2 / 4
    if spread <= 0:  # everybody tied with everybody
        return 1.0, np.ones((m, m))
    statistic = (m - 1) * ((sums - blocks * (m + 1) / 2) ** 2).sum() / spread
    freedom = (blocks - 1) * (m - 1)
    left = max(1 - statistic / (blocks * (m - 1)), 0.0)
    scale = np.sqrt(2 * blocks * left * spread / freedom)
    gap = sums[None, :] - sums[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * student.sf(np.abs(gap) / scale, freedom)
    return float(chi2.sf(statistic, m - 1)), np.where(gap > 0, p, 1.0)


def better(values: np.ndarray, level: float) -> np.ndarray:
    """Where a is significantly better than b at time t: bool[time, a, b].

    ``values[instance, algorithm, time]``, smaller is better, of survivors on the same instances.
    """
    _, n, n_times = values.shape
    tests = [friedman(rankdata(values[:, :, t], axis=1)) for t in range(n_times)]
    differ = holm(np.array([p for p, _ in tests])) <= level
    comparisons = np.stack([pairs for _, pairs in tests])
    a, b = np.triu_indices(n, 1)
    family = np.minimum(comparisons[:, a, b], comparisons[:, b, a])
    adjusted = np.ones_like(comparisons)
    adjusted[:, a, b] = adjusted[:, b, a] = holm(family)
    return np.asarray((adjusted <= level) & (comparisons < 1) & differ[:, None, None])


def better_at_each(values: np.ndarray, level: float) -> np.ndarray:
    """The same without correction over times, and one-sided: bool[time, a, b]."""
    found = []
    for t in range(values.shape[2]):
        p, comparisons = friedman(rankdata(values[:, :, t], axis=1))
        found.append((comparisons / 2 <= level) & (comparisons < 1) & (p <= level))
    return np.stack(found)
