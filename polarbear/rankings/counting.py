"""Counts the choice sets of many rankings at once; `rankings` is the front.

A tie is the average over its k! orderings, in closed form: each subset of j of its k items, with
all that is ranked below them, counts 1 / C(k, j) (and what remains must be two or more).

Of a ranking whose best m were recorded, the others are what remained at every choice. Which of them
was better was not recorded, so there is no choice among them.
"""

from __future__ import annotations

from math import comb

import numpy as np

from polarbear.rankings.choice_sets import (
    ABSENT,
    BELOW,
    MAX_EXACT_TIE,
    ChoiceSets,
    choice_sets_from_terms,
)

LATIN_SQUARES = 4  # of a wide tie's own width: what its subsample of orderings consists of
_AT_A_TIME = 50_000  # rankings; bounds memory, not results
_TERMS_AT_A_TIME = 4_000_000
_TABLE_SIZE = 4_000_000  # timepoints times sets, up to which a table counts them


class _Terms:
    """Counts of sets, keyed by timepoint and mask in one integer."""

    def __init__(self, n_times: int, n: int) -> None:
        self.n = n
        self.table = np.zeros(n_times << n) if n_times << n <= _TABLE_SIZE else None
        self._keys: list[np.ndarray] = [
            np.empty(0, dtype=np.int64)
        ]  # what was gathered, and what came since
        self._counts: list[np.ndarray] = [np.empty(0)]

    def add(self, times: np.ndarray, masks: np.ndarray, counts: np.ndarray) -> None:
        keys = (times << self.n) | masks
        if self.table is not None:
            np.add.at(self.table, keys, counts)
            return
        self._keys.append(keys)
        self._counts.append(counts)
        if sum(map(len, self._keys[1:])) > max(len(self._keys[0]), _TERMS_AT_A_TIME):
            self._gather()

    def _gather(self) -> None:
        """Each key once; its counts are added in the order in which they came."""
        all_keys, all_counts = np.concatenate(self._keys), np.concatenate(self._counts)
        if (all_counts == 1).all():  # to count keys takes no order of theirs, only to sort them
            keys, often = np.unique(all_keys, return_counts=True)
            counts = often.astype(float)
        else:
            keys, place = np.unique(all_keys, return_inverse=True)
            counts = np.bincount(place.ravel(), all_counts, len(keys))
        self._keys, self._counts = [keys], [counts]

    def all(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Timepoints, masks and counts."""
        if self.table is None:
            self._gather()
            (keys,), (counts,) = self._keys, self._counts
        else:
            keys = np.flatnonzero(self.table)
            counts = self.table[keys]
        return keys >> self.n, keys & ((1 << self.n) - 1), counts


def count(positions: np.ndarray, weights: np.ndarray, seed: int) -> ChoiceSets:
    """Choice sets of positions[instance, algorithm, time] with weights[instance].

    The seed is for the orderings of ties wider than MAX_EXACT_TIE.
    """
    n_instances, n, n_times = positions.shape
    terms = _Terms(n_times, n)
    wins, rankings = np.zeros((n_times, n)), np.zeros(n_times, dtype=np.int64)
    sampled = 0
    stride = max(1, _AT_A_TIME // n_times)
    for first in range(0, n_instances, stride):
        some = slice(first, first + stride)
        places, weight = positions[some], weights[some]
        present = places != ABSENT
        recorded = present & (places != BELOW)
        last = recorded & (places == places.max(axis=1, keepdims=True))
        width = np.maximum(last.sum(axis=1, keepdims=True), 1)
        wins += np.einsum("p,pat->ta", weight, recorded - last / width)
        rankings += (present.sum(axis=1) > 1).sum(axis=0)
        ties = _add_choices(places, weight, terms)
        sampled += _add_ties(*_gathered(*ties, n), terms, seed)
    return choice_sets_from_terms(wins, *terms.all(), rankings, sampled)


def _add_choices(
    places: np.ndarray, weights: np.ndarray, terms: _Terms
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Add what untied choices were made from; returns time, items, rest and weight of each tie."""
    _, n, n_times = places.shape
    bits = np.int64(1) << np.arange(n)
    times = np.broadcast_to(np.arange(n_times), (len(places), n_times))
    weight = np.broadcast_to(weights[:, None], times.shape)
    remaining = np.einsum("pat,a->pt", places >= 0, bits)
    ties = []
    for position in range(places.max(initial=ABSENT, where=places != BELOW) + 1):
        rest = np.einsum("pat,a->pt", places > position, bits)
        chosen = remaining ^ rest
        several = remaining & (remaining - 1) != 0
        tied = chosen & (chosen - 1) != 0
        untied = several & ~tied & (chosen != 0)
        terms.add(times[untied], remaining[untied], weight[untied])
        ties.append((times[tied], chosen[tied], rest[tied], weight[tied]))
        remaining = rest
    if not ties:
        return (*np.empty((3, 0), dtype=np.int64), np.empty(0))
    time, items, below, count = (np.concatenate(parts) for parts in zip(*ties, strict=True))
    return time, items, below, count


def _gathered(
    times: np.ndarray, items: np.ndarray, rest: np.ndarray, weights: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Each tie once, with the sum of its weights and how often it was there."""
    keys = (times << n) | items
    order = np.lexsort((rest, keys))
    keys, rest = keys[order], rest[order]
    new = np.ones(len(keys), dtype=bool)
    new[1:] = (keys[1:] != keys[:-1]) | (rest[1:] != rest[:-1])
    group = np.cumsum(new) - 1
    total = np.bincount(group, weights[order])
    return times[order][new], items[order][new], rest[new], total, np.bincount(group)


def _add_ties(
    times: np.ndarray,
    items: np.ndarray,
    rest: np.ndarray,
    weights: np.ndarray,
    repeated: np.ndarray,
    terms: _Terms,
    seed: int,
) -> int:
    """Add the terms of ties; returns how many were too wide for their closed form."""
    member = (items[:, None] >> np.arange(terms.n)) & 1
    widths = member.sum(axis=1)
    for width in np.unique(widths[widths <= MAX_EXACT_TIE]):
        subset = np.arange(1, 1 << width)
        inside = (subset >> np.arange(width)[:, None]) & 1
        shares = np.array([1 / comb(width, j) for j in inside.sum(axis=0)])
        alike = np.flatnonzero(widths == width)
        stride = max(1, _TERMS_AT_A_TIME >> int(width))
        for first in range(0, len(alike), stride):
            some = alike[first : first + stride]
            bits = np.int64(1) << np.nonzero(member[some])[1].reshape(-1, width)
            masks = rest[some, None] | (bits @ inside)
            several = masks & (masks - 1) != 0
            counts = weights[some, None] * shares
            time = np.broadcast_to(times[some, None], masks.shape)
            terms.add(time[several], masks[several], counts[several])
    wide = np.flatnonzero(widths > MAX_EXACT_TIE)
    for k in wide:
        masks, shares = _sampled_tie(int(items[k]), int(rest[k]), terms.n, seed)
        terms.add(np.full(len(masks), times[k]), masks, shares * weights[k])
    return int(repeated[wide].sum())


def _sampled_tie(block: int, rest: int, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Sets of a wide tie, and their shares, over random Latin squares of orderings.

    Rotating each random ordering through all its shifts puts every item equally often in every
    place, so that the subsample favours nobody; and the same tie always gets the same orderings,
    so that counts of separate piles of rankings add up.
    """
    rng = np.random.default_rng([seed, block, rest])
    items = np.array([i for i in range(n) if block >> i & 1])
    width = len(items)
    shifts = (np.arange(width)[:, None] + np.arange(width)) % width
    orders = np.concatenate([rng.permutation(items)[shifts] for _ in range(LATIN_SQUARES)])
    chosen = np.cumsum(np.int64(1) << orders, axis=1)
    remaining = (block | rest) ^ np.concatenate(
        [np.zeros((len(orders), 1), dtype=np.int64), chosen[:, :-1]], axis=1
    )
    sets, times = np.unique(remaining, return_counts=True)
    several = sets & (sets - 1) != 0
    return sets[several], times[several] / len(orders)
