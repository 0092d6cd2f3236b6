"""Choice sets: the sufficient statistics of Plackett-Luce rankings.

The log-likelihood of all rankings at one timepoint is

    sum_i w_i mu_i  -  sum_S c_S logsumexp(mu[S])

``w_i`` counts how often i was chosen while something else remained, and ``c_S`` how often the set S
of two or more was what remained. A set is a bitmask: bit i stands for algorithm i.

A tie is the average over its k! orderings, in closed form: each subset of j of its k items,
together with everything ranked below them, counts 1 / C(k, j) (sets of one are dropped). If only
the best m of a ranking were recorded, the others remain at every choice, and there is no choice
among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import NamedTuple

import numpy as np

from polarbear.errors import RankingError
from polarbear.rankings.ranking import ABSENT, BELOW, Coverage
from polarbear.wording import counted

MAX_EXACT_TIE = 12  # a wider tie has more than 4,095 terms and is subsampled
MAX_MASKED = 50  # bits of a mask that leave room for a timepoint beside it in 63 bits
LATIN_SQUARES = 4  # in the subsample of the orderings of a wide tie
MAX_RANKINGS = 50_000  # counted in one block; this bounds memory and changes no result
MAX_TERMS = 4_000_000


@dataclass(frozen=True)
class ChoiceSets:
    """The choice sets of rankings of n algorithms at T timepoints.

    ``wins[T, n]`` is w; the sets of timepoint t are ``offsets[t]:offsets[t + 1]`` of ``masks``
    (ascending within a timepoint) and ``counts``. ``sampled_ties`` is the number of ties that were
    too wide for their closed form.
    """

    wins: np.ndarray
    offsets: np.ndarray
    masks: np.ndarray
    counts: np.ndarray
    coverage: Coverage
    sampled_ties: int = 0

    @property
    def n_times(self) -> int:
        return int(self.wins.shape[0])

    @property
    def n_algorithms(self) -> int:
        return int(self.wins.shape[1])

    def set_times(self) -> np.ndarray:
        """The index of the timepoint of each set."""
        return np.repeat(np.arange(self.n_times), np.diff(self.offsets))

    def pick(self, times: np.ndarray) -> ChoiceSets:
        """The choice sets of some timepoints, given by their indices in ascending order."""
        sizes = np.diff(self.offsets)[times]
        starts = self.offsets[:-1][times]
        first = np.concatenate([[0], np.cumsum(sizes)])
        sets = np.repeat(starts - first[:-1], sizes) + np.arange(first[-1])
        return replace(
            self,
            wins=self.wins[times],
            offsets=first.astype(np.int64),
            masks=self.masks[sets],
            counts=self.counts[sets],
            coverage=self.coverage.pick(times),
        )

    def weighted(self, weight: float) -> ChoiceSets:
        """The same rankings, each counted as ``weight`` of one."""
        return replace(self, wins=weight * self.wins, counts=weight * self.counts)

    def members(self) -> np.ndarray:
        """The algorithms in each set: bool[set, n]."""
        return (self.masks[:, None] >> np.arange(self.n_algorithms) & 1).astype(bool)


class _Terms:
    """The terms of the likelihood so far: counts of sets, by timepoint and mask in one integer."""

    def __init__(self, n: int) -> None:
        self.n = n
        self._keys: list[np.ndarray] = [np.empty(0, dtype=np.int64)]
        self._counts: list[np.ndarray] = [np.empty(0)]

    def add(self, times: np.ndarray, masks: np.ndarray, counts: np.ndarray) -> None:
        self._keys.append((times << self.n) | masks)
        self._counts.append(counts)
        if sum(map(len, self._keys[1:])) > max(len(self._keys[0]), MAX_TERMS):
            self.gather()

    def gather(self) -> tuple[np.ndarray, np.ndarray]:
        """Keys, ascending, each once, and their counts, added in the order in which they came."""
        counts = np.concatenate(self._counts)
        keys, index = np.unique(np.concatenate(self._keys), return_inverse=True)
        total = np.bincount(index.ravel(), counts, len(keys))
        self._keys = [keys]
        self._counts = [total]
        return keys, total


def count_choice_sets(
    positions: np.ndarray, weights: np.ndarray | None = None, seed: int = 0
) -> ChoiceSets:
    """Choice sets of positions[instance, algorithm, time]; instances have ``weights``.

    The seed is for the orderings of ties wider than MAX_EXACT_TIE, which are subsampled and counted
    in ``sampled_ties``.
    """
    positions = np.asarray(positions, dtype=np.int16)
    n_instances, n, n_times = positions.shape
    if n > MAX_MASKED:
        raise RankingError(
            f"Plackett-Luce models compare at most {MAX_MASKED} algorithms, found {n}: use the "
            "model 'empirical'"
        )
    if n + n_times.bit_length() > 62:
        raise RankingError(
            f"{counted(n, 'algorithm')} at {counted(n_times, 'timepoint')} are too many to count "
            "together: use a shorter grid"
        )
    weights = np.ones(n_instances) if weights is None else np.asarray(weights, dtype=float)
    if weights.shape != (n_instances,) or not np.all(np.isfinite(weights) & (weights > 0)):
        raise RankingError(
            f"expected {n_instances} finite weights above zero, one per instance, found {weights!r}"
        )
    terms = _Terms(n)
    wins = np.zeros((n_times, n))
    sampled = 0
    stride = max(1, MAX_RANKINGS // n_times)
    for first in range(0, n_instances, stride):
        block = slice(first, first + stride)
        block_positions = positions[block]
        block_weights = weights[block]
        recorded = (block_positions != ABSENT) & (block_positions != BELOW)
        is_last = recorded & (block_positions == block_positions.max(axis=1, keepdims=True))
        width = np.maximum(is_last.sum(axis=1, keepdims=True), 1)
        wins += np.einsum("p,pat->ta", block_weights, recorded - is_last / width)
        ties = _add_choices(block_positions, block_weights, terms)
        sampled += _add_ties(ties, terms, seed)
    keys, counts = terms.gather()
    offsets = np.searchsorted(keys >> n, np.arange(n_times + 1))
    masks = keys & ((1 << n) - 1)
    return ChoiceSets(wins, offsets, masks, counts, Coverage.of(positions), sampled)


class _Ties(NamedTuple):
    """Ties: the time of each, the mask of its items, of those ranked below them, and its weight."""

    times: np.ndarray
    items: np.ndarray
    below: np.ndarray
    weights: np.ndarray

    @classmethod
    def joined(cls, parts: Sequence[_Ties]) -> _Ties:
        if not parts:
            no_mask = np.empty(0, dtype=np.int64)
            return cls(no_mask, no_mask, no_mask, np.empty(0))
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    def distinct(self, n: int) -> tuple[_Ties, np.ndarray]:
        """Equal ties as one with the sum of their weights, and the number of each."""
        keys = np.stack([(self.times << n) | self.items, self.below])
        (keys, below), index, repeated = np.unique(
            keys, axis=1, return_inverse=True, return_counts=True
        )
        weights = np.bincount(index.ravel(), self.weights, len(repeated))
        return _Ties(keys >> n, keys & ((1 << n) - 1), below, weights), repeated


def _has_several(masks: np.ndarray) -> np.ndarray:
    """Whether each set has two members or more."""
    return np.asarray(masks & (masks - 1) != 0)


def _add_choices(positions: np.ndarray, weights: np.ndarray, terms: _Terms) -> _Ties:
    """Add the sets of untied choices, and return the ties."""
    _, n, n_times = positions.shape
    bits = np.int64(1) << np.arange(n)
    times = np.broadcast_to(np.arange(n_times), (len(positions), n_times))
    weight = np.broadcast_to(weights[:, None], times.shape)
    remaining = np.einsum("pat,a->pt", positions >= 0, bits)
    ties = []
    for position in range(positions.max(initial=ABSENT, where=positions != BELOW) + 1):
        below = np.einsum("pat,a->pt", positions > position, bits)
        chosen = remaining ^ below
        is_tied = _has_several(chosen)
        is_untied = _has_several(remaining) & ~is_tied & (chosen != 0)
        terms.add(times[is_untied], remaining[is_untied], weight[is_untied])
        ties.append(_Ties(times[is_tied], chosen[is_tied], below[is_tied], weight[is_tied]))
        remaining = below
    return _Ties.joined(ties)


def _add_ties(all_ties: _Ties, terms: _Terms, seed: int) -> int:
    """Add the terms of ties; return the number of ties too wide for their closed form."""
    ties, repeated = all_ties.distinct(terms.n)
    member = (ties.items[:, None] >> np.arange(terms.n)) & 1
    widths = member.sum(axis=1)
    for width in np.unique(widths[widths <= MAX_EXACT_TIE]):
        subset = np.arange(1, 1 << width)
        inside = (subset >> np.arange(width)[:, None]) & 1
        shares = np.array([1 / comb(width, j) for j in inside.sum(axis=0)])
        of_width = np.flatnonzero(widths == width)
        stride = max(1, MAX_TERMS >> int(width))
        for first in range(0, len(of_width), stride):
            block = of_width[first : first + stride]
            bits = np.int64(1) << np.nonzero(member[block])[1].reshape(-1, width)
            masks = ties.below[block, None] | (bits @ inside)
            several = _has_several(masks)
            counts = ties.weights[block, None] * shares
            times = np.broadcast_to(ties.times[block, None], masks.shape)
            terms.add(times[several], masks[several], counts[several])
    is_wide = widths > MAX_EXACT_TIE
    for k in np.flatnonzero(is_wide):
        masks, shares = _sampled_tie(int(ties.items[k]), int(ties.below[k]), terms.n, seed)
        terms.add(np.full(len(masks), ties.times[k]), masks, shares * ties.weights[k])
    return int(repeated[is_wide].sum())


def _sampled_tie(tied: int, below: int, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Sets of a wide tie, and their shares, over random Latin squares of orderings.

    All rotations of a random ordering put every item equally often in every place. The same tie
    always gets the same orderings, so that counts of separate rankings add up.
    """
    rng = np.random.default_rng([seed, tied, below])
    items = np.array([i for i in range(n) if tied >> i & 1])
    width = len(items)
    shifts = (np.arange(width)[:, None] + np.arange(width)) % width
    orders = np.concatenate([rng.permutation(items)[shifts] for _ in range(LATIN_SQUARES)])
    chosen = np.cumsum(np.int64(1) << orders, axis=1)
    remaining = (tied | below) ^ np.concatenate(
        [np.zeros((len(orders), 1), dtype=np.int64), chosen[:, :-1]], axis=1
    )
    sets, count = np.unique(remaining, return_counts=True)
    several = _has_several(sets)
    return sets[several], count[several] / len(orders)
