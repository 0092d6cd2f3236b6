"""CAISEr: how many instances a comparison needs, said before it begins (Campelo and Wanner 2020).

The smallest number at which a paired t-test finds a standardised difference d with the power asked
for; levels are divided by the comparisons, as Holm's first step (and 'worst case') has it. For the
sign test, which asks who wins more often, the number is divided by its asymptotic relative
efficiency of 0.637.
"""

from __future__ import annotations

import math

import numpy as np
from f_race import holm
from scipy.stats import binomtest, nct
from scipy.stats import t as student

SIGN_TEST = 0.637


def power(n: int, d: float, level: float) -> float:
    """The power of a two-sided paired t-test of n differences with a mean of d deviations."""
    mark = student.isf(level / 2, n - 1)
    return float(nct.sf(mark, n - 1, d * np.sqrt(n)) + nct.cdf(-mark, n - 1, d * np.sqrt(n)))


def instances(
    comparisons: int, d: float, least_power: float, level: float, sign_test: bool = False
) -> int:
    n = 2
    while power(n, d, level / comparisons) < least_power:
        n += 1
    return math.ceil(n / SIGN_TEST) if sign_test else n


def compared(costs: np.ndarray, level: float) -> np.ndarray:
    """Sign tests of all pairs of costs[instance, algorithm], Holm-corrected: a better than b."""
    n = costs.shape[1]
    a, b = np.triu_indices(n, 1)
    won = [(int((costs[:, i] < costs[:, j]).sum()), int((costs[:, j] < costs[:, i]).sum()))
           for i, j in zip(a, b, strict=True)]  # fmt: skip
    p = np.array([binomtest(w, w + lost).pvalue if w + lost else 1.0 for w, lost in won])
    is_better = np.zeros((n, n), dtype=bool)
    for i, j, adjusted_p, (wins, losses) in zip(a, b, holm(p), won, strict=True):
        if adjusted_p <= level:
            is_better[(i, j) if wins > losses else (j, i)] = True
    return is_better
