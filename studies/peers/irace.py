"""irace's elimination rules: one number a run, tested after `firstTest` instances, then at each.

Lopez-Ibanez et al. (2016), section 3: Friedman's test with Conover's comparisons against the best
(Wilcoxon's signed ranks once two are left), or paired t-tests against the best without correction,
which is what irace's `testType: t-test` does. An algorithm that is significantly worse than the
best is out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from f_race import friedman as tested
from scipy.stats import rankdata, ttest_rel, wilcoxon
from scipy.stats import t as student

FIRST_TEST = 5
EACH_TEST = 1

Test = Callable[[np.ndarray, float], list[int]]


def friedman(costs: np.ndarray, level: float) -> list[int]:
    """Columns of costs[instance, algorithm] that are significantly worse than the best."""
    n = costs.shape[1]
    if n == 2:
        gap = costs[:, 0] - costs[:, 1]
        if not gap.any() or wilcoxon(gap).pvalue > level:
            return []
        sums = rankdata(costs, axis=1).sum(axis=0)
        return [] if sums[0] == sums[1] else [int(sums.argmax())]
    ranks = rankdata(costs, axis=1)
    p, comparisons = tested(ranks)
    best = int(ranks.sum(axis=0).argmin())
    if p > level:
        return []
    return [j for j in range(n) if j != best and comparisons[best, j] <= level]


def t_test(costs: np.ndarray, level: float) -> list[int]:
    """The same by paired t-tests on the costs themselves.

    As in irace 3.5, an algorithm that was better than the best on no instance is out without a
    test, also one that ties with it everywhere.
    """
    best = int(costs.mean(axis=0).argmin())
    out = []
    for j in range(costs.shape[1]):
        if j == best:
            continue
        never_better = bool((costs[:, j] >= costs[:, best]).all())
        if never_better or ttest_rel(costs[:, j], costs[:, best]).pvalue <= level:
            out.append(j)
    return out


def critical_difference(ranks: np.ndarray, level: float) -> float:
    """By how much rank sums must differ after a Friedman test (Conover 1999, p. 371)."""
    blocks, m = ranks.shape
    squares = float((ranks**2).sum())
    sums = ranks.sum(axis=0)
    freedom = (blocks - 1) * (m - 1)
    return float(
        student.isf(level / 2, freedom)
        * np.sqrt(2 * (blocks * squares - (sums**2).sum()) / freedom)
    )


def raced(
    costs: np.ndarray, test: Test, level: float
) -> tuple[list[tuple[int, int]], list[tuple[int, set[int]]]]:
    """The eliminations (algorithm, instances), and after each instance (runs, candidates)."""
    candidates = list(range(costs.shape[1]))
    out: list[tuple[int, int]] = []
    spent = 0
    history = []
    for n_seen in range(1, len(costs) + 1):
        spent += len(candidates)
        if n_seen >= FIRST_TEST and (n_seen - FIRST_TEST) % EACH_TEST == 0 and len(candidates) > 1:
            worse = [candidates[j] for j in test(costs[:n_seen, candidates], level)]
            out += [(who, n_seen) for who in worse]
            candidates = [who for who in candidates if who not in worse]
        history.append((spent, set(candidates)))
        if len(candidates) == 1:
            break
    return out, history
