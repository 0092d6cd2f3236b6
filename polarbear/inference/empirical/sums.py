"""Weighted sums of scores over problems, at all times and for many draws of the weights.

From one time to the next hardly any duel turns round. So the sum at the first time is kept up by
what changes, which takes a tenth of the work of multiplying all scores by all weights; where much
changes, they are multiplied. Sums are exact (bootstrap.py), so both ways give the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

_FEW = 0.15  # of all scores change: beyond that, multiplying is quicker
_SMALL = 2**18  # scores, whose multiplication takes less than loading scipy.sparse


def weighted_sums(scores: np.ndarray, n_times: int) -> Callable[[np.ndarray], np.ndarray]:
    """From weights[draw, problem] to sums[column, draw] of scores[problem, column], the times of
    each item being neighbouring columns."""

    def multiplied(weights: np.ndarray) -> np.ndarray:
        return np.asarray(scores.T @ weights.T.astype(scores.dtype, copy=False))

    if scores.size < _SMALL:
        return multiplied
    n_problems = len(scores)
    by_item = scores.reshape(n_problems, -1, n_times)
    changes = np.empty_like(by_item)
    changes[:, :, 0] = by_item[:, :, 0]
    np.subtract(by_item[:, :, 1:], by_item[:, :, :-1], out=changes[:, :, 1:])
    if np.count_nonzero(changes) > _FEW * changes.size:
        return multiplied
    from scipy.sparse import csr_array

    sparse = csr_array(changes.reshape(n_problems, -1).T)

    def kept_up(weights: np.ndarray) -> np.ndarray:
        found = np.asarray(sparse @ np.ascontiguousarray(weights.T, dtype=scores.dtype))
        running = found.reshape(-1, n_times, len(weights))
        for time in range(1, n_times):
            running[:, time] += running[:, time - 1]
        return found

    return kept_up
