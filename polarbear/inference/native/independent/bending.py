"""What kicks are taken from that need no choice sets: derivatives of the log-density at its mode.

Of few algorithms all third ones; of many, what second ones say of these.
"""

from __future__ import annotations

import numpy as np

from polarbear.inference.loops.likelihood import SetSums
from polarbear.inference.native.independent.mode import Density, Mode, runs_of_times
from polarbear.numerics.threads import in_threads, single_threaded_blas

LANES, ROWS = 8, 4  # numbers and algorithms that loops take at a time, so that none are left over
_PARTS = 4  # of the times, at least, where there are so many: threads share them
MOST = 12  # algorithms; of more there are too many third derivatives


def bend_of(sets: SetSums, mode: Mode, threads: int | None = None) -> np.ndarray | None:
    """What `loops.bent` takes for the gradient's second-order part, bend[T, d, pair].

    The sets have the prior counted in. Where they are told by what each grew from, it is
    pulls[T, n or more, 2, d or more] of `loops.curved`; of many algorithms told by members, None.
    """
    n_times, n, d = mode.spread.shape
    if not len(sets.masks):
        return _pulls(sets.helmert, mode.spread)
    if n > MOST:
        return None
    one, two = np.tril_indices(d)
    often = np.where(one == two, 0.5, 1.0)  # products of two different coordinates come twice
    bend = np.empty((n_times, d, len(one)))

    def fill(times: slice) -> None:
        third = _third(Density(sets, times), mode.centre[times], mode.spread[times])
        bend[times] = often * third[:, :, one, two]

    with single_threaded_blas():
        in_threads(fill, runs_of_times(sets, _PARTS), threads)
    return bend


def _pulls(helmert: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """The spread, and the curvature H times it, for which spread' H spread is 1."""
    n_times, n, d = spread.shape
    rows = -(-n // ROWS) * ROWS
    pulls = np.zeros((n_times, rows, 2, -(-d // LANES) * LANES), dtype=np.float32)
    pulls[:, :n, 0, :d] = spread
    pulls[:, :n, 1, :d] = helmert @ np.linalg.inv(helmert.T @ spread).swapaxes(1, 2)
    return pulls


def _third(density: Density, centre: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Third derivatives by u, [T, d, d, d].

    Those of a set's log-sum are the third cumulants of where in u its members are, drawn by their
    ratings: E[x x x] - 3 E[x] E[x x] + 2 E[x] E[x] E[x], each product in all its orders.
    """
    shares = density.member * np.exp(centre - centre.max(axis=1, keepdims=True))[:, None, :]
    totals = shares.sum(axis=2, keepdims=True)
    shares /= np.where(density.counts[:, :, None] == 0, 1.0, totals)
    counted = density.counts[:, :, None] * shares
    n_times, m, d = len(centre), shares.shape[1], spread.shape[2]
    mean = shares @ spread  # [T, m, d]
    weighted = density.counts[:, :, None] * mean
    single = counted.sum(axis=1)  # [T, n]
    couples = spread[:, :, :, None] * spread[:, :, None, :]
    raw = np.einsum("ti,tiq,tirv->tqrv", single, spread, couples, optimize=True)
    second = (shares @ couples.reshape(n_times, -1, d * d)).reshape(n_times, m, d, d)
    mixed = np.einsum("tsq,tsrv->tqrv", weighted, second, optimize=True)
    cubes = np.einsum("tsq,tsr,tsv->tqrv", weighted, mean, mean, optimize=True)
    mixed = mixed + mixed.transpose(0, 2, 1, 3) + mixed.transpose(0, 3, 2, 1)
    return np.asarray(mixed - raw - 2 * cubes)
