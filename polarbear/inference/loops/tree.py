"""The log-likelihood of many algorithms at several times, with gradient and curvature.

Every set is an earlier one and one more algorithm, so that sets are the nodes of trees whose first
ones are single algorithms. Two algorithms stand together in a set and in all that grew from it from
where the later of the two was added: that is one addition for each pair of a set and an algorithm
in it, not one for each pair of its algorithms.
"""

from __future__ import annotations

import numpy as np

from polarbear.inference.loops.fastmath import fast_exp, fast_log
from polarbear.inference.loops.likelihood import LOWEST, ONE
from polarbear.numerics.compiling import kernel


@kernel
def tree_curvature(wins, offsets, left, right, counts, base, mu, values, slopes, bends):
    """Fill values[T], slopes[T, n] and bends[T, n, n], the negative Hessian, for mu[T, n].

    The sets of time t stand at offsets[t] .. offsets[t + 1] of left, right and counts; algorithm i
    is number base + i, and ``right`` always is one.
    """
    n_times, n = mu.shape
    singles = np.uint64(base)
    sums, rates, squares = np.empty(base + n), np.empty(base + n), np.empty(base + n)
    for t in range(n_times):
        first = offsets[t]
        start = np.uint64(first)
        m = offsets[t + 1] - first
        top = -np.inf
        for i in range(n):
            top = max(top, mu[t, i])
        value = 0.0
        for i in range(n):
            value += wins[t, i] * (mu[t, i] - top)
            sums[base + i] = fast_exp(max(mu[t, i] - top, LOWEST))
            rates[base + i] = 0.0
            squares[base + i] = 0.0
            for j in range(n):
                bends[t, i, j] = 0.0
        for k in range(m):
            sums[k] = sums[left[first + k]] + sums[right[first + k]]
        for k in range(m):
            value -= counts[first + k] * fast_log(sums[k])
            rates[k] = counts[first + k] / sums[k]
            squares[k] = rates[k] / sums[k]
        for k in range(m - 1, -1, -1):
            for part in (left[first + k], right[first + k]):
                rates[part] += rates[k]
                squares[part] += squares[k]
            with_added = bends[t, right[first + k] - base]
            square = squares[k]
            before = np.uint64(left[first + k])
            while before < singles:
                # most sets grew from the one just before: to look there is quicker than to be told
                while left[start + before] == before - ONE:
                    with_added[right[start + before] - singles] += square
                    before -= ONE
                with_added[right[start + before] - singles] += square
                before = np.uint64(left[start + before])
            with_added[before - singles] += square
        values[t] = value
        for i in range(n):
            own = sums[base + i]
            slopes[t, i] = wins[t, i] - own * rates[base + i]
            for j in range(i):
                both = -own * sums[base + j] * (bends[t, i, j] + bends[t, j, i])
                bends[t, i, j] = both
                bends[t, j, i] = both
            bends[t, i, i] = own * rates[base + i] - own * own * squares[base + i]
