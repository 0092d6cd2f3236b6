"""Lays choice sets out so that each set's sum is one addition away from two earlier sums."""

from __future__ import annotations

import numpy as np

from polarbear.inference.loops.likelihood import SetSums
from polarbear.rankings import ChoiceSets

_LANES = 8  # sets a timepoint are padded to a multiple, so that vector loops have no remainder


def helmert(n: int) -> np.ndarray:
    """The paper's Helmert matrix Q[n, n - 1]: orthonormal columns, each summing to zero."""
    q = np.zeros((n, n - 1))
    for k in range(1, n):
        q[:k, k - 1] = np.sqrt(1 / (k * (k + 1)))
        q[k, k - 1] = -np.sqrt(k / (k + 1))
    return q


def set_sums(sets: ChoiceSets) -> SetSums:
    """Order the sets by size and find for each a smaller one that lacks a single member.

    Where there is none, one is added with count zero; the set of all algorithms is always there,
    because a Dirichlet prior counts on it. Sets are keyed by (timepoint, mask) in one integer.
    """
    n, n_times = sets.n_algorithms, sets.n_times
    if sets.steps is not None:
        return _wide_sums(sets)
    times = np.arange(n_times, dtype=np.int64) << n
    counted = (sets.set_times() << n) | sets.masks
    everyone = times | ((1 << n) - 1)
    wanted = np.union1d(counted, everyone)
    sizes = _size(wanted, n)
    levels = {size: wanted[sizes == size] for size in range(2, n + 1)}
    parts: dict[int, np.ndarray] = {}
    for size in range(n, 2, -1):
        parts[size], levels[size - 1] = _split_off_one(levels[size], levels[size - 1], n)
    parts[2] = levels[2] & -levels[2]

    keys = np.concatenate([levels[size] for size in range(2, n + 1)])
    removed = np.concatenate([parts[size] for size in range(2, n + 1)])
    by_size = np.repeat(np.arange(2, n + 1), [len(levels[size]) for size in range(2, n + 1)])
    order = np.lexsort((keys, by_size, keys >> n))
    keys, removed, by_size = keys[order], removed[order], by_size[order]

    time = keys >> n
    lengths = np.bincount(time, minlength=n_times)
    padded = -(-lengths // _LANES) * _LANES
    offsets = np.concatenate([[0], np.cumsum(padded)]).astype(np.int64)
    local = np.arange(len(keys)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    slot = offsets[time] + local

    widest = int(padded.max())

    sorter = np.argsort(keys)
    rest = keys ^ removed
    found = sorter[np.minimum(np.searchsorted(keys, rest, sorter=sorter), len(keys) - 1)]
    mask = (1 << n) - 1
    left = np.where(by_size == 2, widest + _bit_number(rest & mask), local[found])
    layout = {
        "left": np.full(offsets[-1], widest, dtype=np.uint32),
        "right": np.full(offsets[-1], widest, dtype=np.uint32),
        "counts": np.zeros(offsets[-1]),
        "masks": np.zeros(offsets[-1], dtype=np.int64),
    }
    layout["left"][slot] = left
    layout["right"][slot] = widest + _bit_number(removed)
    layout["masks"][slot] = keys & mask
    at = slot[sorter[np.searchsorted(keys, counted, sorter=sorter)]]
    layout["counts"][at] = sets.counts
    full = slot[sorter[np.searchsorted(keys, everyone, sorter=sorter)]]
    return SetSums(
        helmert(n),
        np.ascontiguousarray(sets.wins, dtype=float),
        offsets.astype(np.uint64),
        full=full,
        widest=np.array([widest]),
        **layout,
    )


def _wide_sums(sets: ChoiceSets) -> SetSums:
    """Sets that are laid out by what they grew from; the set of all comes first at each time."""
    assert sets.steps is not None
    n = sets.n_algorithms
    to_all = np.array([[-1, 1], *([1, i] for i in range(2, n))])
    lengths = np.diff(sets.offsets)
    padded = -(-(lengths + n - 1) // _LANES) * _LANES
    offsets = np.concatenate([[0], np.cumsum(padded)]).astype(np.int64)
    widest = int(padded.max())
    left, right = (np.full(offsets[-1], widest, dtype=np.uint32) for _ in range(2))
    counts = np.zeros(offsets[-1])
    for t, first in enumerate(offsets[:-1]):
        here = slice(*sets.offsets[t : t + 2])
        back, added = np.concatenate([to_all, sets.steps[here]]).T
        slot = slice(first, first + len(added))
        left[slot] = np.where(back > 0, np.arange(len(back)) - back, widest - 1 - back)
        right[slot] = widest + added
        counts[first + n - 1 : first + len(added)] = sets.counts[here]
    return SetSums(
        helmert(n),
        np.ascontiguousarray(sets.wins, dtype=float),
        offsets.astype(np.uint64),
        left,
        right,
        counts,
        masks=np.empty(0, dtype=np.int64),
        full=offsets[:-1] + n - 2,
        widest=np.array([widest]),
    )


def with_prior(sets: SetSums, alpha: float) -> SetSums:
    """A Dirichlet prior counted in: in softmax space it is a ranking more.

    w_i grows by alpha, c of the set of all by n alpha.
    """
    counts = sets.counts.copy()
    counts[sets.full] += sets.wins.shape[1] * alpha
    return sets._replace(wins=sets.wins + alpha, counts=counts)


def _split_off_one(
    larger: np.ndarray, smaller: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """For each larger set the bit to take away, and the smaller sets that are then needed."""
    bit = larger & -larger
    open_ = np.ones(len(larger), dtype=bool)
    # sets start their search at different members: if all split off the same one, each addition
    # to its gradient would wait for the one before
    first = (larger ^ (larger >> n)) % n
    for i in range(n):
        candidate = np.int64(1) << ((first + i) % n)
        fits = open_ & (larger & candidate != 0)
        fits[fits] = np.isin(larger[fits] ^ candidate[fits], smaller)
        bit[fits] = candidate[fits]
        open_ &= ~fits
    return bit, np.union1d(smaller, larger ^ bit)


def _size(keys: np.ndarray, n: int) -> np.ndarray:
    return np.asarray(np.sum([keys >> i & 1 for i in range(n)], axis=0))


def _bit_number(bits: np.ndarray) -> np.ndarray:
    """The position of the only bit set; exact, since powers of two are exact as floats."""
    return np.asarray(np.log2(np.maximum(bits, 1).astype(float)).astype(np.int32))
