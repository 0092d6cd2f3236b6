"""Weighted sums of scores over problems, at all times and for many draws of the weights.

From one time to the next hardly any duel turns round. So the sum at the first time is kept up by
what changes, which takes a tenth of the work of multiplying all scores by all weights; where much
changes, they are multiplied. Sums are exact (bootstrap.py), so both ways give the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polarbear.numerics.threads import in_threads

_FEW = 0.15  # of all scores change: beyond that, multiplying is quicker
_SMALL = 2**18  # scores, whose multiplication takes less than loading scipy.sparse

Sums = Callable[[list[np.ndarray]], np.ndarray]


def weighted_sums(scores: list[np.ndarray], n_times: int, threads: int | None = None) -> Sums:
    """From weights[draw, problem] to sums[column, draw] of scores[problem, column], both in blocks
    of problems; the times of each item are neighbouring columns."""
    if sum(block.size for block in scores) < _SMALL:
        return _multiplied(scores)
    changes = in_threads(lambda block: _changes(block, n_times), scores, threads)
    if sum(map(np.count_nonzero, changes)) > _FEW * sum(block.size for block in changes):
        return _multiplied(scores)
    return _kept_up(changes, n_times, threads)


def _changes(scores: np.ndarray, n_times: int) -> np.ndarray:
    """From one time to the next, beginning with the first: [problem, column]."""
    by_item = scores.reshape(len(scores), -1, n_times)
    return np.diff(by_item, axis=2, prepend=np.float32(0)).reshape(scores.shape)


def _multiplied(scores: list[np.ndarray]) -> Sums:
    turned = [block.T for block in scores]

    def sums(weights: list[np.ndarray]) -> np.ndarray:
        return _products(turned, weights)

    return sums


def _kept_up(changes: list[np.ndarray], n_times: int, threads: int | None) -> Sums:
    sparse = in_threads(lambda block: _sparse(np.ascontiguousarray(block.T)), changes, threads)

    def sums(weights: list[np.ndarray]) -> np.ndarray:
        found = _products(sparse, weights)
        running = found.reshape(-1, n_times, found.shape[1])
        for time in range(1, n_times):
            running[:, time] += running[:, time - 1]
        return found

    return sums


def _sparse(dense: np.ndarray) -> Any:
    """Its rows without zeros; SciPy's own way of finding them takes twice as long."""
    from scipy.sparse import csr_array

    there = np.flatnonzero(dense)
    row, column = np.divmod(there.astype(np.int32), np.int32(dense.shape[1]))
    begins = np.concatenate([[0], np.bincount(row, minlength=len(dense)).cumsum()])
    return csr_array((dense.ravel()[there], column, begins.astype(np.int32)), shape=dense.shape)


def _products(blocks: list[Any], weights: list[np.ndarray]) -> np.ndarray:
    """Of blocks in their own precision, in which they are exact, added in double."""
    found = np.zeros((blocks[0].shape[0], len(weights[0])))
    for block, weight in zip(blocks, weights, strict=True):
        found += block @ np.ascontiguousarray(weight.T, dtype=block.dtype)
    return found
