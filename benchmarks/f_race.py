"""F-Race at each timepoint: the baseline that `race.py` compares with.

Birattari, Stuetzle, Paquete, Varrentrapp (2002) and Birattari et al. (2010): a Friedman test over
the instances seen so far (instances are blocks, survivors are treatments); where it rejects,
Conover's comparisons between survivors. It is made anytime in the simplest way: the tests are done
at every timepoint, and an algorithm is eliminated if it is significantly worse than one other
survivor at every timepoint. An elimination requires all tests at once, so it needs no correction
over timepoints (an intersection-union test), and comparisons are one-sided. A second variant has
Holm's correction, over all timepoints and, among comparisons, over all pairs and timepoints.

As in PolarBear's crossing resolution, a pair is settled if each algorithm of it is significantly
better at some timepoint, and an algorithm all of whose pairs are settled is not run any more.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2, rankdata
from scipy.stats import t as student


def holm(p_values: np.ndarray) -> np.ndarray:
    """Adjusted p-values of any shape, which are compared with the level of the whole family."""
    flat = p_values.ravel()
    order = np.argsort(flat)
    stepped = flat[order] * (len(flat) - np.arange(len(flat)))
    adjusted = np.empty_like(flat)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1)
    return adjusted.reshape(p_values.shape)


def friedman(ranks: np.ndarray) -> tuple[float, np.ndarray]:
    """The p-values of the Friedman test for ranks[block, treatment] and of all comparisons.

    comparisons[a, b] is the two-sided p-value of Conover's test where a has the smaller rank sum,
    else 1: 'a is better than b'.
    """
    blocks, m = ranks.shape
    sums = ranks.sum(axis=0)
    spread = (ranks**2).sum() - blocks * m * (m + 1) ** 2 / 4
    if spread <= 0:  # All treatments are tied in every block.
        return 1.0, np.ones((m, m))
    statistic = (m - 1) * ((sums - blocks * (m + 1) / 2) ** 2).sum() / spread
    freedom = (blocks - 1) * (m - 1)
    unexplained = max(1 - statistic / (blocks * (m - 1)), 0.0)
    scale = np.sqrt(2 * blocks * unexplained * spread / freedom)
    gap = sums[None, :] - sums[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * student.sf(np.abs(gap) / scale, freedom)
    return float(chi2.sf(statistic, m - 1)), np.where(gap > 0, p, 1.0)


def better(values: np.ndarray, level: float) -> np.ndarray:
    """Whether a is significantly better than b at time t, with Holm's correction: bool[time, a, b].

    In ``values[instance, algorithm, time]``, of survivors on the same instances, smaller is better.
    """
    _, n, n_times = values.shape
    tests = [friedman(rankdata(values[:, :, t], axis=1)) for t in range(n_times)]
    differ = holm(np.array([p for p, _ in tests])) <= level
    comparisons = np.stack([pairs for _, pairs in tests])
    a, b = np.triu_indices(n, 1)
    family = np.minimum(comparisons[:, a, b], comparisons[:, b, a])
    adjusted = np.ones_like(comparisons)
    adjusted_family = holm(family)
    adjusted[:, a, b] = adjusted_family
    adjusted[:, b, a] = adjusted_family
    return np.asarray((adjusted <= level) & (comparisons < 1) & differ[:, None, None])


def better_at_each(values: np.ndarray, level: float) -> np.ndarray:
    """The relations of `better`, one-sided and without a correction over times."""
    relations = []
    for t in range(values.shape[2]):
        p, comparisons = friedman(rankdata(values[:, :, t], axis=1))
        relations.append((comparisons / 2 <= level) & (comparisons < 1) & (p <= level))
    return np.stack(relations)
