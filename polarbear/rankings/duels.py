"""What rankings say duel by duel: who beat whom on each problem, and who was first.

A problem is the unit. Its seeds, if there are several, are averaged: a problem on which a beats b
with two seeds of three counts as two thirds of a win, and a problem counts once however many seeds
it has.

Only instances on which both ran at least to a time say anything about a pair at that time, and only
those on which all the others ran, too, say who was first. Whether an algorithm is run on an
instance, and how far, is decided before that instance is looked at, so leaving the rest out favours
nobody. Two of which a ranking says only that they are below those it recorded have not met: which
of them was better is unknown, and no tie.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from polarbear.rankings.choice_sets import ABSENT, BELOW

PROBLEMS_AT_A_TIME = 256  # sums of so many rounded weights are exact in single precision
# scores[problem, column] and whether the problem says anything in that column
Scores = tuple[np.ndarray, np.ndarray]


def place_of_pair(a: int, b: int, n: int) -> int:
    """Where two of n algorithms stand among all pairs, as np.triu_indices has them."""
    low, high = min(a, b), max(a, b)
    return low * (2 * n - low - 1) // 2 + high - low - 1


@dataclass(frozen=True)
class Duels:
    """Positions[row, algorithm, time] in the order of problems; problem k has the rows
    ``starts[k]:starts[k + 1]``, and counts as ``weights[k]`` problems: one where they are None."""

    positions: np.ndarray
    starts: np.ndarray
    weights: np.ndarray | None = None

    @property
    def n_problems(self) -> int:
        return len(self.starts) - 1

    @property
    def problem(self) -> np.ndarray:
        """Which problem each row belongs to."""
        return np.repeat(np.arange(self.n_problems), np.diff(self.starts))

    def weights_of(self, problems: slice) -> np.ndarray:
        """How many problems each of some counts as, to multiply what has one row a problem."""
        if self.weights is None:
            return np.ones((problems.stop - problems.start, 1), dtype=np.float32)
        return self.weights[problems, None]

    def blocks(self) -> Iterator[slice]:
        """Some problems at a time."""
        for first in range(0, self.n_problems, PROBLEMS_AT_A_TIME):
            yield slice(first, min(first + PROBLEMS_AT_A_TIME, self.n_problems))

    def pair_scores(self, problems: slice) -> Scores:
        """The share of a's wins over b, a tie being half of one: columns are (pair, time)."""
        places = self._rows(problems)
        a, b = np.triu_indices(places.shape[1], 1)
        one, two = places.take(a, axis=1), places.take(b, axis=1)
        met = (one != ABSENT) & (two != ABSENT) & ((one != BELOW) | (two != BELOW))
        halves = ((one < two).view(np.int8) + (one <= two).view(np.int8)) * met
        won = np.multiply(halves, np.float32(0.5), dtype=np.float32)
        return self._by_problem(won, met, problems)

    def first_scores(self, problems: slice, field: Sequence[int]) -> Scores:
        """The share of the first place, tied ones dividing it: columns are (algorithm, time).

        Those in the ``field`` compete with each other; of somebody else it is asked whether it
        would have been first among the field and itself.
        """
        places = self._rows(problems)
        inside = places[:, list(field)]
        complete = (inside != ABSENT).all(axis=1, keepdims=True)
        best = np.where(inside == ABSENT, np.iinfo(places.dtype).max, inside)
        best = best.min(axis=1, keepdims=True)
        tied = np.maximum((inside == best).sum(axis=1, keepdims=True), 1)
        there = complete & (places != ABSENT) & (np.minimum(places, best) != BELOW)
        share = ((places == best) / tied).astype(np.float32)
        others = np.setdiff1d(np.arange(places.shape[1]), field)
        own = places[:, others]
        share[:, others] = (own < best) + (own == best) / (tied + 1)
        share[~there] = 0
        return self._by_problem(share, there, problems)

    def group_scores(
        self, problems: slice, field: Sequence[int], groups: Sequence[Sequence[int]]
    ) -> Scores:
        """Whether a group has a winner of the field, alone or tied: columns are (group, time)."""
        inside = self._rows(problems)[:, list(field)]
        complete = (inside != ABSENT).all(axis=1, keepdims=True)
        best = inside.min(axis=1, keepdims=True)
        complete &= best != BELOW
        first = (inside == best) & complete
        index = {item: place for place, item in enumerate(field)}
        has = np.stack(
            [first[:, [index[i] for i in set(group)]].any(axis=1) for group in groups], axis=1
        )
        there = np.broadcast_to(complete, has.shape)
        return self._by_problem(has.astype(np.float32), there, problems)

    def _rows(self, problems: slice) -> np.ndarray:
        return self.positions[self.starts[problems.start] : self.starts[problems.stop]]

    def _by_problem(self, scores: np.ndarray, there: np.ndarray, problems: slice) -> Scores:
        """Averaged over the rows of a problem in which there was something to say."""
        rows = len(scores)
        flat, present = scores.reshape(rows, -1), there.reshape(rows, -1)
        if problems.stop - problems.start == rows:
            return flat, present
        first = self.starts[problems.start : problems.stop] - self.starts[problems.start]
        count = np.add.reduceat(present, first, axis=0, dtype=np.float32)
        total = np.add.reduceat(flat, first, axis=0, dtype=np.float32)
        return total / np.maximum(count, 1), count > 0


def duels_of(
    positions: np.ndarray,
    problems: Sequence[str] | np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> Duels:
    """Rows gathered by problem, problems by first appearance, so that a further one changes no
    other's draws; without ``problems`` each row is one of its own. ``weights`` has one number a
    row, the same for all rows of a problem."""
    if problems is None:
        return Duels(positions, np.arange(len(positions) + 1), weights)
    _, first, name = np.unique(np.asarray(problems), return_index=True, return_inverse=True)
    number = np.argsort(np.argsort(first))[name.ravel()]
    order = np.argsort(number, kind="stable")
    starts = np.searchsorted(number[order], np.arange(len(first) + 1))
    of_problems = None if weights is None else weights[order][starts[:-1]]
    return Duels(np.ascontiguousarray(positions[order]), starts, of_problems)
