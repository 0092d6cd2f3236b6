"""Counts what many algorithms were chosen from, each set as an earlier one and one more.

Of more than fifty algorithms hardly two rankings leave the same set over, and a set no longer fits
into the bits of one number. But what a ranking leaves over grows by one algorithm at a time, from
its last places to its first: a row (back, added) says how many sets earlier the one stands that
lacks only ``added``; where back is negative that is the single algorithm -1 - back.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from polarbear.rankings.choice_sets import ABSENT, BELOW, MAX_EXACT_TIE, ChoiceSets

FEW = 12  # algorithms, of whose sets rankings share most
SETS_OF_A_TIE = 4096  # at least: about as many as the widest that is counted in closed form has
MOST_SETS = 2**19  # of the wide ties of one timepoint, which bounds memory


def count_wide(positions: np.ndarray, weights: np.ndarray, seed: int) -> ChoiceSets:
    """Choice sets of positions[instance, algorithm, time] with weights[instance]."""
    _, n, n_times = positions.shape
    wins, rankings = np.zeros((n_times, n)), np.zeros(n_times, dtype=np.int64)
    steps, counts, lengths, sampled = [], [], [], 0
    # one time's positions side by side: they are looked at several times
    for t, places in enumerate(np.ascontiguousarray(positions.transpose(2, 0, 1))):
        present = places != ABSENT
        recorded = present & (places != BELOW)
        last = recorded & (places == places.max(axis=1, keepdims=True))
        width = np.maximum(last.sum(axis=1, keepdims=True), 1)
        wins[t] = weights @ (recorded - last / width)
        rankings[t] = (present.sum(axis=1) > 1).sum()
        plain = (np.sort(places, axis=1) == np.arange(n)).all(axis=1)  # everybody, and no ties
        others, alike, times = _each_once(places[~plain], weights[~plain])
        tree = _Tree(seed, len(others))
        tree.add_plain(np.argsort(-places[plain], axis=1), weights[plain])
        for row, weight, often in zip(others, alike, times, strict=True):
            tree.add(row, float(weight), int(often))
        found, count = tree.all()
        steps.append(found)
        counts.append(count)
        lengths.append(len(count))
        sampled += tree.sampled
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return ChoiceSets(
        wins,
        offsets,
        np.empty(0, dtype=np.int64),
        np.concatenate(counts),
        rankings,
        sampled,
        np.concatenate(steps),
    )


def _each_once(
    places: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each row once, with the sum of its weights and how often it was there."""
    if not len(places):
        return places, weights, weights
    rows, which = np.unique(places, axis=0, return_inverse=True)
    which = which.ravel()
    return rows, np.bincount(which, weights, len(rows)), np.bincount(which, minlength=len(rows))


class _Tree:
    """The sets of one timepoint, as rankings come in."""

    def __init__(self, seed: int, rankings: int) -> None:
        """``rankings`` says how many will be added one by one."""
        self.seed, self.sampled = seed, 0
        self._sets_of_a_tie = max(SETS_OF_A_TIE, MOST_SETS // max(rankings, 1))
        self._parts: list[tuple[np.ndarray, np.ndarray]] = []
        self._steps: list[tuple[int, int]] = []
        self._counts: list[float] = []

    def add_plain(self, orders: np.ndarray, weights: np.ndarray) -> None:
        """Rankings of all without ties, from the last place to the first: orders[ranking, n]."""
        count, n = orders.shape
        steps = np.ones((count, n - 1, 2), dtype=np.int32)
        steps[:, 0, 0] = -1 - orders[:, 0]
        steps[:, :, 1] = orders[:, 1:]
        self._parts.append((steps.reshape(-1, 2), np.repeat(weights, n - 1)))

    def add(self, places: np.ndarray, weight: float, times: int) -> None:
        """One ranking that was there so many times, block by block from its last place; those below
        all recorded come first, and there was no choice among them."""
        below: list[int] = []  # algorithms so far, and where the set of all of them stands
        at = None
        found = sorted(set(places[places != ABSENT].tolist()), reverse=True)
        for place in found:
            block = np.flatnonzero(places == place).tolist()
            if place == BELOW:
                at = self._grow(at, below, block, [0.0] * len(block))
            elif len(block) <= MAX_EXACT_TIE:
                at = self._tie(at, below, block, weight)
            else:
                at = self._wide_tie(at, below, block, weight)
                self.sampled += times
            below = below + block

    def all(self) -> tuple[np.ndarray, np.ndarray]:
        """Steps[set, 2] and counts of all sets."""
        rest = np.array(self._steps, dtype=np.int32).reshape(-1, 2), np.array(self._counts)
        steps, counts = zip(*self._parts, rest, strict=True)
        return np.concatenate(steps), np.concatenate(counts)

    def _set(self, at: int | None, single: int | None, added: int, count: float) -> int:
        """One more set, from the one that stands at a place or from a single algorithm."""
        here = len(self._counts)
        self._steps.append((-1 - (single or 0) if at is None else here - at, added))
        self._counts.append(count)
        return here

    def _grow(
        self, at: int | None, below: list[int], items: list[int], counts: list[float]
    ) -> int | None:
        """Sets that grow by an item each; returns where the last of them stands."""
        before = below
        for item, count in zip(items, counts, strict=True):
            if before:
                at = self._set(at, before[0] if len(before) == 1 else None, item, count)
            before = [*before, item]
        return at

    def _tie(self, at: int | None, below: list[int], block: list[int], weight: float) -> int | None:
        """Every subset of a tied block with all that is below it, by the closed form."""
        width = len(block)
        places: dict[tuple[int, ...], int | None] = {(): at}
        for size in range(1, width + 1):
            count = weight / comb(width, size)
            for items in combinations(block, size):
                there = [*below, *items[:-1]]
                places[items] = self._grow(places[items[:-1]], there, [items[-1]], [count])
        return places[tuple(block)]

    def _wide_tie(
        self, at: int | None, below: list[int], block: list[int], weight: float
    ) -> int | None:
        """Some orderings of a tied block: all rotations of a random one, which puts everybody
        equally often in every place, or where that were too many sets some that are evenly
        spaced, of another random one in each ranking."""
        width = len(block)
        rng = np.random.default_rng([self.seed, len(self._counts), len(below), *block])
        order = rng.permutation(block)
        orderings = max(2, min(width, self._sets_of_a_tie // width))
        last = at
        for shift in np.arange(orderings) * width // orderings:
            items = np.roll(order, -int(shift)).tolist()
            last = self._grow(at, below, items, [weight / orderings] * width)
        return last
