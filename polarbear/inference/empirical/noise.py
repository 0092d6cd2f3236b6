"""How an instance's scores at different times hang together.

An instance on which a beats b at one time is likely to have the same winner at the next. The
correlation of scores, less each pair's mean, is taken over all pairs and instances for each number
of steps on the grid between two times, and then drawn through by a + b exp(-steps / l), the rest
being noise of each time's own: a covariance of few parameters that can be inverted, whatever the
number of instances.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np

from polarbear.numerics.threads import in_threads, single_threaded_blas
from polarbear.rankings.duels import Duels, Scores

_LENGTHS = np.array([0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6])  # of the whole grid
_BLOCKS = 4  # of problems, some 1,000: further ones would hardly change a correlation of all pairs
_PARTS = np.linspace(0, 1, 11)


def noise_correlation(
    duels: Duels, pairs: Sequence[Scores], threads: int | None = None
) -> np.ndarray:
    """The correlation of scores at two times, the same for all pairs: [time, time].

    ``pairs`` are the scores of each block of problems.
    """
    n_times = duels.positions.shape[2]
    steps = np.arange(n_times)
    observed, counted = _by_steps(duels, pairs, threads)
    fitted = _fitted(observed, counted)
    found = fitted[np.abs(np.subtract.outer(steps, steps))]
    np.fill_diagonal(found, 1)
    return np.asarray(found)


def _by_steps(
    duels: Duels, pairs: Sequence[Scores], threads: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Correlations of scores that are so many steps apart, and what they rest on: [steps]."""
    n_times = duels.positions.shape[2]
    blocks = [
        (*scores, duels.weights_of(block).astype(np.float32))
        for block, scores in islice(zip(duels.blocks(), pairs, strict=True), _BLOCKS)
    ]

    def of_a_block(block: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        score, there, weight = block
        met = np.full(score.shape[1], weight.sum()) if there.all() else weight[:, 0] @ there
        return met, weight[:, 0] @ score

    def spread_of_a_block(block: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        score, there, weight = block
        residual = np.sqrt(weight) * (score - mean)
        if not there.all():
            residual[~there] = 0
        return np.einsum("ij,ij->j", residual, residual), _sums_by_steps(residual, n_times)

    with single_threaded_blas():
        met, won = map(sum, zip(*in_threads(of_a_block, blocks, threads), strict=True))
        of = np.where(met > 0, met, 1)
        mean = won / of
        found = in_threads(spread_of_a_block, blocks, threads)
    spread, together = map(sum, zip(*found, strict=True))
    deviation = np.sqrt(spread / of)
    apart = sum(
        weight.sum(dtype=float) * _sums_by_steps(deviation, n_times)
        if there.all()
        else _sums_by_steps(np.sqrt(weight) * there * deviation, n_times)
        for _, there, weight in blocks
    )
    return np.asarray(together / np.maximum(apart, 1e-12)), np.asarray(apart)


def _sums_by_steps(values: np.ndarray, n_times: int) -> np.ndarray:
    """The sum of all products of values so many steps apart, times running fastest: [steps]."""
    rows = values.reshape(-1, n_times)
    products = rows.T @ rows
    return np.array([products.trace(steps, dtype=float) for steps in range(len(products))])


def _fitted(observed: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """The nearest a + b exp(-steps / l) with a, b >= 0 and a + b <= 1: [steps]."""
    n_times = len(observed)
    if n_times == 1:
        return np.ones(1)
    steps = np.arange(n_times) / (n_times - 1)
    constant, falling = np.meshgrid(_PARTS, _PARTS, indexing="ij")
    allowed = constant + falling <= 1 + 1e-9
    constant, falling = constant[allowed][:, None], falling[allowed][:, None]
    curves = [constant + falling * np.exp(-steps / length) for length in _LENGTHS]
    candidates = np.concatenate(curves)
    misses = (counted[1:] * (candidates[:, 1:] - observed[1:]) ** 2).sum(axis=1)
    return np.asarray(candidates[misses.argmin()])
