"""Duels and first places on each problem, from rankings.

The problem is the unit of evidence. Its seeds, if there are several, are averaged: a problem on
which a beats b with two seeds of three counts as two thirds of a win, and a problem counts once,
whatever its number of seeds.

A problem contributes to a pair at a time only if both algorithms ran at least to that time, and to
first places only if all algorithms of the field did. Which algorithm runs on an instance, and how
far, is decided before its results are known, so leaving the rest out is unbiased. Two algorithms
that a truncated ranking only places below the recorded ones have not met: this is not a tie.

With several objectives there are no rankings, and duels have results instead (`front_duels`). One
without a winner is a draw, and it counts as incomparable unless the two fronts are equal.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from polarbear.errors import RankingError
from polarbear.rankings.front_duels import DRAW, INCOMPARABLE, LOSS, NOT_MET, WIN
from polarbear.rankings.ranking import ABSENT, BELOW, NO_TOTAL_ORDER

PROBLEMS_PER_BLOCK = 256  # sums of this many rounded weights are exact in single precision
# The share of a duel that its first algorithm has won, by its result.
_SHARE_WON = np.zeros(1 + max(DRAW, INCOMPARABLE, NOT_MET, WIN) - LOSS, dtype=np.float32)
_SHARE_WON[WIN] = 1.0
_SHARE_WON[[DRAW, INCOMPARABLE]] = 0.5
MOST_COUNTED = 255  # problems whose number fits into a byte
# scores[problem, column], and whether the score is known: bool[problem, column]
Scores = tuple[np.ndarray, np.ndarray]


def index_of_pair(a: int, b: int, n: int) -> int:
    """The index of a pair of n algorithms in the order of np.triu_indices."""
    low = min(a, b)
    high = max(a, b)
    return low * (2 * n - low - 1) // 2 + high - low - 1


def fewest_shared(shared: np.ndarray, algorithms: Sequence[str], names: Iterable[str]) -> int:
    """The lowest number of problems, shared[time, pair], that two of these share at any time.

    ``names`` are at least two of the algorithms.
    """
    items = combinations(map(algorithms.index, names), 2)
    pairs = [index_of_pair(a, b, len(algorithms)) for a, b in items]
    return int(shared[:, pairs].min())


@dataclass(frozen=True)
class DuelRecord:
    """Numbers of problems on which a wins, loses and draws against b: [time, pair] each.

    Pairs are in the order of np.triu_indices. A problem with several seeds counts as a fraction of
    a win (or loss), its share of wins less that of losses, and as a draw for the rest. ``shared``
    counts the problems that both ran on, each once whatever its weight. ``has_fractions`` says that
    some problem has several seeds, so that it may count as a fraction. ``incomparable`` is the
    number of problems on which the two fronts are, which are draws, too; None with one objective.
    """

    wins: np.ndarray
    losses: np.ndarray
    draws: np.ndarray
    shared: np.ndarray
    algorithms: int
    has_fractions: bool = False
    incomparable: np.ndarray | None = None

    def incomparable_shares(self) -> np.ndarray | None:
        """The share of all duels that are incomparable at each time; None with one objective.

        It is 0 where there was no duel.
        """
        if self.incomparable is None:
            return None
        n_duels = (self.wins + self.losses + self.draws).sum(axis=1)
        return np.asarray(self.incomparable.sum(axis=1) / np.where(n_duels > 0, n_duels, 1))

    def won(self) -> np.ndarray:
        """Wins of a against b as a table: [time, a, b]."""
        a, b = np.triu_indices(self.algorithms, 1)
        table = np.zeros((len(self.wins), self.algorithms, self.algorithms))
        table[:, a, b] = self.wins
        table[:, b, a] = self.losses
        return table

    def is_unbeaten(self, a: int, b: int) -> np.ndarray:
        """Whether a has won all of its duels with b: bool[time]; true where there was none."""
        pair = index_of_pair(a, b, self.algorithms)
        lost = self.losses if a < b else self.wins
        return np.asarray((lost[:, pair] == 0) & (self.draws[:, pair] == 0))

    def same_values(self, algorithms: Sequence[str], names: Sequence[str]) -> np.ndarray | None:
        """The number of problems on which two of ``names`` had equal values, on all: [time, a, b].

        It is 0 for a pair that differed on some problem, or shared none. None if some of the names
        are not among the algorithms, or if problems have several seeds, whose differences may
        cancel out.
        """
        if self.has_fractions or not {*names} <= {*algorithms}:
            return None
        is_same = (self.wins == 0) & (self.losses == 0)
        if self.incomparable is not None:
            is_same &= self.incomparable == 0
        a, b = np.triu_indices(self.algorithms, 1)
        table = np.zeros((len(self.wins), self.algorithms, self.algorithms), dtype=int)
        table[:, a, b] = np.where(is_same, self.shared, 0)
        table += table.swapaxes(1, 2)
        items = [algorithms.index(name) for name in names]
        return table[:, items][:, :, items]

    def decided_at(self, index: np.ndarray | None) -> "DuelRecord":
        """The record in which each pair has the duels of another time: index[time, pair]."""
        if index is None:
            return self
        incomparable = None
        if self.incomparable is not None:
            incomparable = np.take_along_axis(self.incomparable, index, axis=0)
        return replace(
            self,
            wins=np.take_along_axis(self.wins, index, axis=0),
            losses=np.take_along_axis(self.losses, index, axis=0),
            draws=np.take_along_axis(self.draws, index, axis=0),
            shared=np.take_along_axis(self.shared, index, axis=0),
            incomparable=incomparable,
        )

    def scaled(self, factor: float) -> "DuelRecord":
        """The record in which every problem has its weight times this factor."""
        return replace(
            self,
            wins=factor * self.wins,
            losses=factor * self.losses,
            draws=factor * self.draws,
            incomparable=None if self.incomparable is None else factor * self.incomparable,
        )


@dataclass(frozen=True)
class ProblemDuels:
    """The duels on each problem, by positions[row, algorithm, time] in the order of problems.

    Problem k is called ``names[k]``, has the rows ``starts[k]:starts[k + 1]``, and counts as
    ``weights[k]`` problems (one where ``weights`` is None). With several objectives
    ``results[row, pair, time]`` has the duels, and positions only say who is present.
    """

    positions: np.ndarray
    starts: np.ndarray
    names: tuple[str, ...]
    weights: np.ndarray | None = None
    results: np.ndarray | None = None

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
        has_one_row = len(self.positions) == self.n_problems
        if has_one_row and self.weights is None and self.results is None:
            return self._counted_record()
        totals = np.zeros((4, n * (n - 1) // 2 * n_times))
        for block in self.blocks():
            score, met = self.pair_scores(block)
            lead = np.where(met, 2 * score - 1, 0)
            weight = np.ones(len(lead)) if self.weights is None else self.weights[block]
            wins = weight @ np.maximum(lead, 0)
            losses = weight @ np.maximum(-lead, 0)
            draws = weight @ met - wins - losses
            totals += wins, losses, draws, met.sum(axis=0)
        wins, losses, draws, shared = totals.reshape(4, -1, n_times).swapaxes(1, 2)
        has_fractions = len(self.positions) > self.n_problems
        incomparable = self._count_incomparable()
        return DuelRecord(wins, losses, draws, shared, n, has_fractions, incomparable)

    def _count_incomparable(self) -> np.ndarray | None:
        """The number of problems with incomparable fronts: [time, pair]; None for one objective."""
        if self.results is None:
            return None
        total = np.zeros(self.results[0].size)
        for block in self.blocks():
            results = self.results[self._rows_of(block)]
            is_incomparable = (results == INCOMPARABLE).astype(np.float32)
            share, met = self._by_problem(is_incomparable, results != NOT_MET, block)
            weight = np.ones(len(share)) if self.weights is None else self.weights[block]
            total += weight @ (share * met)
        return total.reshape(self.results.shape[1:]).T

    def _counted_record(self) -> DuelRecord:
        """The record where each problem has one row and counts once: whole numbers."""
        _, n, n_times = self.positions.shape
        wins, losses, shared = np.zeros((3, n * (n - 1) // 2, n_times))
        for first in range(0, len(self.positions), MOST_COUNTED):
            positions = self.positions[first : first + MOST_COUNTED]
            is_complete = not ((positions == ABSENT) | (positions == BELOW)).any()
            for a in range(n - 1):
                pairs = slice(index_of_pair(a, a + 1, n), index_of_pair(a, n - 1, n) + 1)
                of_a = positions[:, a, np.newaxis]
                of_b = positions[:, a + 1 :]
                is_won = of_a < of_b
                is_lost = of_a > of_b
                if is_complete:
                    shared[pairs] += len(positions)
                else:
                    met = (of_a != ABSENT) & (of_b != ABSENT) & ((of_a != BELOW) | (of_b != BELOW))
                    is_won &= met
                    is_lost &= met
                    shared[pairs] += _count(met)
                wins[pairs] += _count(is_won)
                losses[pairs] += _count(is_lost)
        draws = shared - wins - losses
        return DuelRecord(wins.T, losses.T, draws.T, shared.T, n)

    def weighted_record(self, weights: np.ndarray) -> DuelRecord:
        """The record of duels over several times, with a weight[time] each, as that of one time.

        A problem counts as the weighted share of times won, less that of times lost; it is shared
        if both ran on it at each time with a weight.
        """
        _, n, n_times = self.positions.shape
        has_weight = weights > 0
        shares = weights[has_weight] / weights.sum()
        totals = np.zeros((4, n * (n - 1) // 2))
        for block in self.blocks():
            score, met = self.pair_scores(block)
            met_at_all = met.reshape(len(met), -1, n_times)[:, :, has_weight].all(axis=2)
            share_won = score.reshape(len(score), -1, n_times)[:, :, has_weight] @ shares
            lead = np.where(met_at_all, 2 * share_won - 1, 0)
            problem_weights = np.ones(len(lead)) if self.weights is None else self.weights[block]
            wins = problem_weights @ np.maximum(lead, 0)
            losses = problem_weights @ np.maximum(-lead, 0)
            draws = problem_weights @ met_at_all - wins - losses
            totals += wins, losses, draws, met_at_all.sum(axis=0)
        wins, losses, draws, shared = totals[:, np.newaxis]
        return DuelRecord(wins, losses, draws, shared, n)

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
        if self.results is not None:
            results = self.results[self._rows_of(problems)]
            share_won = _SHARE_WON[results]
            return self._by_problem(share_won, results != NOT_MET, problems)
        positions = self._rows(problems)
        a, b = np.triu_indices(positions.shape[1], 1)
        of_a = positions.take(a, axis=1)
        of_b = positions.take(b, axis=1)
        met = (of_a != ABSENT) & (of_b != ABSENT) & ((of_a != BELOW) | (of_b != BELOW))
        halves = ((of_a < of_b).view(np.int8) + (of_a <= of_b).view(np.int8)) * met
        won = np.multiply(halves, np.float32(0.5), dtype=np.float32)
        return self._by_problem(won, met, problems)

    def first_scores(self, problems: slice, field: Sequence[int]) -> Scores:
        """The share of the first place, divided among ties: columns are (algorithm, time).

        Algorithms in the ``field`` compete with each other, any other one with the field.
        """
        self._check_total_order("first places")
        positions = self._rows(problems)
        inside = positions[:, list(field)]
        complete = (inside != ABSENT).all(axis=1, keepdims=True)
        best = np.where(inside == ABSENT, np.iinfo(positions.dtype).max, inside)
        best = best.min(axis=1, keepdims=True)
        tied = np.maximum((inside == best).sum(axis=1, keepdims=True), 1)
        is_known = complete & (positions != ABSENT) & (np.minimum(positions, best) != BELOW)
        share = ((positions == best) / tied).astype(np.float32)
        others = np.setdiff1d(np.arange(positions.shape[1]), field)
        own = positions[:, others]
        share[:, others] = (own < best) + (own == best) / (tied + 1)
        share[~is_known] = 0
        return self._by_problem(share, is_known, problems)

    def group_scores(
        self, problems: slice, field: Sequence[int], groups: Sequence[Sequence[int]]
    ) -> Scores:
        """Whether a winner of the field, also a tied one, is in a group: columns (group, time)."""
        self._check_total_order("winners of a problem")
        inside = self._rows(problems)[:, list(field)]
        complete = (inside != ABSENT).all(axis=1, keepdims=True)
        best = inside.min(axis=1, keepdims=True)
        complete &= best != BELOW
        first = (inside == best) & complete
        column = {algorithm: k for k, algorithm in enumerate(field)}
        has_winner = np.stack(
            [first[:, [column[i] for i in set(group)]].any(axis=1) for group in groups], axis=1
        )
        is_known = np.broadcast_to(complete, has_winner.shape)
        return self._by_problem(has_winner.astype(np.float32), is_known, problems)

    def _check_total_order(self, needing_order: str) -> None:
        if self.results is not None:
            raise RankingError(f"there are no {needing_order}: {NO_TOTAL_ORDER}")

    def _rows_of(self, problems: slice) -> slice:
        """The rows of some problems."""
        return slice(int(self.starts[problems.start]), int(self.starts[problems.stop]))

    def _rows(self, problems: slice) -> np.ndarray:
        return self.positions[self._rows_of(problems)]

    def _by_problem(self, scores: np.ndarray, is_known: np.ndarray, problems: slice) -> Scores:
        """Averages over those rows of each problem whose scores are known."""
        n_rows = len(scores)
        flat_scores = scores.reshape(n_rows, -1)
        flat_known = is_known.reshape(n_rows, -1)
        if problems.stop - problems.start == n_rows:
            return flat_scores, flat_known
        first = self.starts[problems.start : problems.stop] - self.starts[problems.start]
        count = np.add.reduceat(flat_known, first, axis=0, dtype=np.float32)
        total = np.add.reduceat(flat_scores, first, axis=0, dtype=np.float32)
        return total / np.maximum(count, 1), count > 0


def _count(flags: np.ndarray) -> np.ndarray:
    """The number of flags that are set along the first axis, which has at most MOST_COUNTED."""
    return np.asarray(np.add.reduce(flags.view(np.uint8), axis=0, dtype=np.uint8))


def duels_of(
    positions: np.ndarray,
    problems: Sequence[str] | np.ndarray | None = None,
    weights: np.ndarray | None = None,
    results: np.ndarray | None = None,
) -> ProblemDuels:
    """Rows grouped by problem; without ``problems`` each row is a problem, named by its number.

    ``weights`` has one number for each row, the same for all rows of a problem. ``results`` are
    those of fronts, with several objectives.
    """
    if problems is None:
        names = tuple(map(str, range(len(positions))))
        return ProblemDuels(positions, np.arange(len(positions) + 1), names, weights, results)
    distinct, first, index = np.unique(np.asarray(problems), return_index=True, return_inverse=True)
    appearance = np.argsort(first)  # problems keep the order in which they appear
    number = np.argsort(appearance)[index.ravel()]
    order = np.argsort(number, kind="stable")
    starts = np.searchsorted(number[order], np.arange(len(first) + 1))
    return ProblemDuels(
        positions=np.ascontiguousarray(positions[order]),
        starts=starts,
        names=tuple(distinct[appearance].tolist()),
        weights=None if weights is None else weights[order][starts[:-1]],
        results=None if results is None else np.ascontiguousarray(results[order]),
    )
