"""Draws of the distribution over problems: a Bayesian bootstrap.

A draw gives every problem a weight from the exponential distribution, the same for all pairs and
times (the posterior of a Dirichlet process, Rubin 1981). A problem that counts as w problems has a
weight from Gamma(w). The neutral prior adds imaginary problems: random orders of the algorithms and
their reversals, constant over time, with weights that sum to Gamma(c). So one draw is one
distribution over problems, from which win probabilities, shares of first places and everything else
are read. Without ties the win probability of a pair is Beta(c/2 + wins, c/2 + losses).

The weight of a problem depends on the seed and its name only, and the position of an algorithm in
an imaginary problem on the seed and its name only. So neither further problems nor further
algorithms change anything about the others.

Weights are multiples of 2^-10 (of 2^-20, in double precision, where problems are weighted) and
scores multiples of 2^-12. Every sum is exact, so draws do not depend on the number of threads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property, partial

import numpy as np

from polarbear.numerics.threads import in_threads, single_threaded_blas
from polarbear.rankings.duels import ProblemDuels, Scores, index_of_pair

_ORDERS = 4  # imaginary problems are this many random orders and their reversals
_WEIGHT_UNIT = 2.0**-10
_MAX_WEIGHT = 32 - 2.0**-10  # exceeded once in 10^14 draws
_FINE_WEIGHT_UNIT = 2.0**-20  # the unit where problems have weights, up to 1,000 each
_MAX_FINE_WEIGHT = 2.0**12
_SCORE_UNIT = 2.0**-12
_MAX_COLUMNS = 4096  # columns of scores that are multiplied at once: bounds memory
_DRAWS_PER_TASK = 128
_PRIOR_STREAM = "imaginary problems"


class Bootstrap:
    """Draws of a distribution over problems, and what they say about algorithms."""

    def __init__(
        self,
        duels: ProblemDuels,
        algorithms: Sequence[str],
        draws: int,
        seed: int,
        concentration: float,
    ) -> None:
        self.duels = duels
        self.draws = draws
        self._seed = seed
        self._names = algorithms
        self._concentration = concentration

    def wins(self) -> np.ndarray:
        """Draws of P(a beats b on a new problem): [draw, time, pair].

        Pairs are in the order of np.triu_indices. A draw of two algorithms counts as half a win.
        """
        first, second = np.triu_indices(len(self._names), 1)
        first_wins = self._imaginary_order[:, :, first] > self._imaginary_order[:, :, second]
        prior = np.einsum("dk,dkp->dp", self._imaginary_weights, first_wins)
        return self._shares(self.duels.pair_scores, prior)

    def firsts(self, field: Sequence[int] | None = None) -> np.ndarray:
        """Draws of the share of problems on which an algorithm is first: [draw, time, algorithm].

        Algorithms in the ``field`` (all, if not given) compete with each other, any other one with
        the field. Problems that some of them did not run on are left out.
        """
        n = len(self._names)
        inside = list(range(n) if field is None else field)
        prior = np.empty((self.draws, n))
        prior[:, inside] = self._imaginary_firsts(inside, [[i] for i in inside])
        for i in set(range(n)) - set(inside):
            prior[:, i] = self._imaginary_firsts([*inside, i], [[i]])[:, 0]
        return self._shares(lambda block: self.duels.first_scores(block, inside), prior)

    def has_winner(self, groups: Sequence[Sequence[int]], field: Sequence[int]) -> np.ndarray:
        """Draws of the share of problems whose first of the field is in a group: [draw, time,
        group]."""
        prior = self._imaginary_firsts(field, groups)
        return self._shares(lambda block: self.duels.group_scores(block, field, groups), prior)

    def group_wins(self, groups: Sequence[Sequence[int]], rivals: Sequence[int]) -> np.ndarray:
        """Draws of P(a group's union beats a rival on a new problem): [draw, time, group, rival].

        The results of the duels have a column for each group and rival, in this order.
        """
        order = self._imaginary_order
        best = np.stack([order[:, :, list(group)].max(axis=2) for group in groups], axis=2)
        best = best[:, :, :, np.newaxis]
        of_rivals = order[:, :, np.newaxis, list(rivals)]
        share_won = (best > of_rivals) + 0.5 * (best == of_rivals)
        prior = np.einsum("dk,dkgr->dgr", self._imaginary_weights, share_won)
        flat_prior = prior.reshape(self.draws, -1)
        shares = self._shares(self.duels.pair_scores, flat_prior)
        return shares.reshape(*shares.shape[:2], len(groups), len(rivals))

    @cached_property
    def _imaginary_order(self) -> np.ndarray:
        """Imaginary results, larger is better: [draw, problem, algorithm]."""
        drawn = [
            _generator(self._seed, _PRIOR_STREAM, name).random((self.draws, _ORDERS))
            for name in self._names
        ]
        order = np.stack(drawn, axis=2)
        return np.concatenate([order, -order], axis=1)

    @cached_property
    def _imaginary_weights(self) -> np.ndarray:
        """Weights of the imaginary problems: [draw, problem]."""
        shape = self._concentration / (2 * _ORDERS)
        rng = _generator(self._seed, _PRIOR_STREAM)
        return rng.standard_gamma(shape, (self.draws, 2 * _ORDERS))

    def _imaginary_firsts(
        self, field: Sequence[int], groups: Sequence[Sequence[int]]
    ) -> np.ndarray:
        """The weight of imaginary problems with their first in a group: [draw, group]."""
        first = np.asarray(field)[self._imaginary_order[:, :, list(field)].argmax(axis=2)]
        weights = self._imaginary_weights
        return np.stack([(weights * np.isin(first, group)).sum(axis=1) for group in groups], axis=1)

    @cached_property
    def _weights(self) -> list[np.ndarray]:
        """Weights of the problems, in blocks: [draw, problem]."""
        duels = self.duels
        if self._is_plain:
            unit = _WEIGHT_UNIT
            largest = _MAX_WEIGHT
            precision: type = np.float32
        else:
            unit = _FINE_WEIGHT_UNIT
            largest = _MAX_FINE_WEIGHT
            precision = float
        rows: np.ndarray = np.empty((duels.n_problems, self.draws), precision)
        for k, name in enumerate(duels.names):
            rng = _generator(self._seed, name)
            if duels.weights is None:
                drawn = rng.standard_exponential(self.draws)
            else:
                drawn = rng.standard_gamma(duels.weights[k], self.draws)
            rows[k] = np.minimum(np.round(drawn / unit) * unit, largest)
        return [np.ascontiguousarray(rows[block].T) for block in duels.blocks()]

    @property
    def _is_plain(self) -> bool:
        """Whether all problems count as one."""
        return self.duels.weights is None

    def _shares(self, scores: Callable[[slice], Scores], prior: np.ndarray) -> np.ndarray:
        """Weighted means of scores, with ``prior[draw, item]`` added at every time: [draw, time,
        item]."""
        blocks = [scores(block) for block in self.duels.blocks()]
        n_items = prior.shape[1]
        n_times = self.duels.positions.shape[2]
        shares = np.empty((self.draws, n_items, n_times), dtype=np.float32)
        stride = max(1, _MAX_COLUMNS // n_times)
        for start in range(0, n_items, stride):
            items = slice(start, min(start + stride, n_items))
            columns = slice(items.start * n_times, items.stop * n_times)
            rounded = [self._rounded(score[:, columns]) for score, _ in blocks]
            patterns, pattern = _distinct_columns([is_known[:, columns] for _, is_known in blocks])
            fill = partial(
                self._fill, shares[:, items], rounded, patterns, pattern, prior[:, items]
            )
            with single_threaded_blas():
                in_threads(fill, range(0, self.draws, _DRAWS_PER_TASK))
        return shares.swapaxes(1, 2)

    def _fill(
        self,
        shares: np.ndarray,
        scores: list[np.ndarray],
        patterns: list[np.ndarray],
        pattern: np.ndarray,
        prior: np.ndarray,
        first: int,
    ) -> None:
        """Fill shares[draw, item, time] for one task's draws.

        ``patterns[pattern[k]]`` says which problems are known in column k of the scores.
        """
        draws = slice(first, first + _DRAWS_PER_TASK)
        weights = [block[draws] for block in self._weights]
        imaginary = self._imaginary_weights[draws].sum(axis=1)[:, None]
        weighted_scores = np.zeros((len(imaginary), len(pattern)))
        total_weights = np.zeros((len(imaginary), patterns[0].shape[1]))
        for block, score, is_known in zip(weights, scores, patterns, strict=True):
            weighted_scores += block @ score
            total_weights += block @ is_known
        means = weighted_scores.reshape(len(imaginary), -1, shares.shape[2])
        means += prior[draws, :, None]
        means /= (total_weights + imaginary)[:, pattern].reshape(means.shape)
        shares[draws] = means

    def _rounded(self, scores: np.ndarray) -> np.ndarray:
        """Scores as halves, or as multiples of a small unit, so that weighted sums are exact."""
        doubled = 2 * scores
        if self._is_plain and (doubled == np.floor(doubled)).all():
            return scores
        return np.round(scores.astype(float) / _SCORE_UNIT) * _SCORE_UNIT


def mean_win_rates(wins: np.ndarray, n: int, field: Sequence[int] | None = None) -> np.ndarray:
    """Draws of the mean win rate of each algorithm against the others of a field, or against all.

    It takes the place of shares of first places where outcomes have no total order. ``wins`` are
    [draw, time, pair], the result is [draw, time, algorithm].
    """
    inside = list(range(n) if field is None else field)
    rates = np.empty((*wins.shape[:2], n), dtype=wins.dtype)
    for a in range(n):
        total = np.zeros(wins.shape[:2])
        rivals = [b for b in inside if b != a]
        for b in rivals:
            of_pair = wins[:, :, index_of_pair(a, b, n)]
            total += of_pair if a < b else 1 - of_pair
        rates[:, :, a] = total / max(1, len(rivals))
    return rates


def _distinct_columns(blocks: list[np.ndarray]) -> tuple[list[np.ndarray], np.ndarray]:
    """The distinct columns of a table in blocks of rows, and the index of each column among them.

    Few differ: most algorithms ran on the same problems up to the same times.
    """
    packed = np.packbits(np.concatenate(blocks), axis=0).T
    index_of: dict[bytes, int] = {}
    index = np.array([index_of.setdefault(column.tobytes(), len(index_of)) for column in packed])
    first = np.unique(index, return_index=True)[1]
    return [block[:, first].astype(np.float32) for block in blocks], index


def _generator(seed: int, *names: str) -> np.random.Generator:
    """A generator that depends on a seed and names only."""
    key = hashlib.blake2b("\0".join(names).encode(), digest_size=8).digest()
    return np.random.default_rng([seed, int.from_bytes(key, "little")])
