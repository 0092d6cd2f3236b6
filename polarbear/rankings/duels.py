"""Duels and first places on each problem, from rankings.

The problem is the unit of evidence. Its seeds, if there are several, are averaged: a problem on
which a beats b with two seeds of three counts as two thirds of a win, and a problem counts once,
whatever its number of seeds.

A problem contributes to a pair at a time only if both algorithms ran at least to that time, and to
first places only if all algorithms of the field did. Which algorithm runs on an instance, and how
far, is decided before its results are known, so leaving the rest out is unbiased. Two algorithms
that a truncated ranking only places below the recorded ones have not met: this is not a tie.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from polarbear.rankings.ranking import ABSENT, BELOW

PROBLEMS_PER_BLOCK = 256  # sums of this many rounded weights are exact in single precision
# scores[problem, column] and whether the problem says anything in that column
Scores = tuple[np.ndarray, np.ndarray]


def place_of_pair(a: int, b: int, n: int) -> int:
    """The index of a pair of n algorithms in the order of np.triu_indices."""
    low, high = min(a, b), max(a, b)
    return low * (2 * n - low - 1) // 2 + high - low - 1


def fewest_shared(shared: np.ndarray, algorithms: Sequence[str], names: Iterable[str]) -> int:
    """The lowest number of problems, shared[time, pair], that two of these share at any time.

    ``names`` are at least two of the algorithms.
    """
    items = combinations(map(algorithms.index, names), 2)
    pairs = [place_of_pair(a, b, len(algorithms)) for a, b in items]
    return int(shared[:, pairs].min())


@dataclass(frozen=True)
class DuelRecord:
    """Numbers of problems on which a wins, loses and draws against b: [time, pair] each.

    Pairs are in the order of np.triu_indices. A problem with several seeds counts as a fraction of
    a win (or loss), its share of wins less that of losses, and as a draw for the rest.
    """

    wins: np.ndarray
    losses: np.ndarray
    draws: np.ndarray
    algorithms: int

    def won(self) -> np.ndarray:
        """Wins of a against b as a table: [time, a, b]."""
        a, b = np.triu_indices(self.algorithms, 1)
        table = np.zeros((len(self.wins), self.algorithms, self.algorithms))
        table[:, a, b], table[:, b, a] = self.wins, self.losses
        return table


@dataclass(frozen=True)
class ProblemDuels:
    """Positions[row, algorithm, time], ordered by problem.

    Problem k is called ``names[k]``, has the rows ``starts[k]:starts[k + 1]``, and counts as
    ``weights[k]`` problems (one where ``weights`` is None).
    """

    positions: np.ndarray
    starts: np.ndarray
    names: tuple[str, ...]
    weights: np.ndarray | None = None

    @property
    def n_problems(self) -> int:
        return len(self.starts) - 1

    @property
    def problem(self) -> np.ndarray:
        """The index of the problem of each row."""
        return np.repeat(np.arange(self.n_problems), np.diff(self.starts))

    def record(self) -> DuelRecord:
        """Wins, losses and draws of all pairs at all times."""
        _, n, n_times = self.positions.shape
        totals = np.zeros((3, n * (n - 1) // 2 * n_times))
        for block in self.blocks():
            score, there = self.pair_scores(block)
            lead = np.where(there, 2 * score - 1, 0)
            weight = np.ones(len(lead)) if self.weights is None else self.weights[block]
            wins, losses = weight @ np.maximum(lead, 0), weight @ np.maximum(-lead, 0)
            totals += wins, losses, weight @ there - wins - losses
        wins, losses, draws = totals.reshape(3, -1, n_times).swapaxes(1, 2)
        return DuelRecord(wins, losses, draws, n)

    def shared_problems(self) -> np.ndarray:
        """The number of problems that both algorithms of a pair ran on: int[time, pair]."""
        _, n, n_times = self.positions.shape
        total = np.zeros(n * (n - 1) // 2 * n_times, dtype=int)
        for block in self.blocks():
            total += self.pair_scores(block)[1].sum(axis=0)
        return total.reshape(-1, n_times).T

    def blocks(self) -> Iterator[slice]:
        """Slices of consecutive problems."""
        for first in range(0, self.n_problems, PROBLEMS_PER_BLOCK):
            yield slice(first, min(first + PROBLEMS_PER_BLOCK, self.n_problems))

    def pair_scores(self, problems: slice) -> Scores:
        """The share of seeds on which a beats b, a draw counting half: columns are (pair, time)."""
        places = self._rows(problems)
        a, b = np.triu_indices(places.shape[1], 1)
        one, two = places.take(a, axis=1), places.take(b, axis=1)
        met = (one != ABSENT) & (two != ABSENT) & ((one != BELOW) | (two != BELOW))
        halves = ((one < two).view(np.int8) + (one <= two).view(np.int8)) * met
        won = np.multiply(halves, np.float32(0.5), dtype=np.float32)
        return self._by_problem(won, met, problems)

    def first_scores(self, problems: slice, field: Sequence[int]) -> Scores:
        """The share of the first place, divided among ties: columns are (algorithm, time).

        Algorithms in the ``field`` compete with each other, any other one with the field.
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
        """Whether a winner of the field, also a tied one, is in a group: columns (group, time)."""
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
        """Averages over the rows of each problem that say anything."""
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
) -> ProblemDuels:
    """Rows grouped by problem; without ``problems`` each row is a problem, named by its number.

    ``weights`` has one number for each row, the same for all rows of a problem.
    """
    if problems is None:
        names = tuple(map(str, range(len(positions))))
        return ProblemDuels(positions, np.arange(len(positions) + 1), names, weights)
    found, first, name = np.unique(np.asarray(problems), return_index=True, return_inverse=True)
    appearance = np.argsort(first)
    number = np.argsort(appearance)[name.ravel()]
    order = np.argsort(number, kind="stable")
    starts = np.searchsorted(number[order], np.arange(len(first) + 1))
    of_problems = None if weights is None else weights[order][starts[:-1]]
    names = tuple(found[appearance].tolist())
    return ProblemDuels(np.ascontiguousarray(positions[order]), starts, names, of_problems)
