"""Draws of the distribution over instances, and what each says of duels and first places.

A draw gives every problem a weight from the exponential distribution (a Bayesian bootstrap: the
posterior of a Dirichlet process), the same for all pairs and times; one that counts as w problems
has it from Gamma(w), as the sum of w such weights has. To them a draw adds the prior's imaginary
instances: a random order of the algorithms, all its rotations, and their reversals, each the same
at all times and with a weight from Gamma(c / 2n). So one draw is one distribution over instances,
from which all duels are read off: each is Beta(c/2 + wins, c/2 + losses). That duels are even says
nothing of first places, which two may share between them and leave none to a third: only two of the
c imaginary instances count there, so that they are Dirichlet(2/n + first places).

Weights are multiples of 2^-10 (of 2^-20, in double precision, where problems do not count as one)
and scores of 2^-12, so that every sum is exact and draws depend neither on the number of threads
nor on the library that multiplies matrices. The weights of a problem depend on the seed, its place
in the list and what it counts as alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polarbear.inference.empirical.evenness import CONCENTRATIONS, evenness_weights
from polarbear.inference.empirical.sums import weighted_sums
from polarbear.numerics.threads import in_threads, single_threaded_blas
from polarbear.rankings.duels import Duels, Scores

_WEIGHT_UNIT = 2.0**-10
_SCORE_UNIT = 2.0**-12
_GREATEST = 32 - _WEIGHT_UNIT  # of a weight: exceeded once in 10^14
_FINER_UNIT, _GREATEST_OF_MANY = 2.0**-20, 2.0**12  # where a problem counts as up to 1,000
_PROBLEMS_A_TASK = 32  # whose weights are drawn
_DRAWS_A_TASK, _NUMBERS_A_TASK = 500, 2**19  # keep to caches; sums are exact, however they are cut
_COLUMNS_AT_ONCE = 8192  # of scores: with more, too few draws would fit beside them
_IN_FIRST_PLACES = 2.0  # imaginary instances that count there
_PRIOR_STREAM = 2**31  # beyond any problem's place in the list


@dataclass(frozen=True)
class Imaginary:
    """The prior's instances in each draw: an order, its rotations, and their reversals, with
    weights[draw, 2n]. ``order[draw, algorithm]`` is where an algorithm stands in the first.

    ``further[draw, 2n]`` is the weight that they have in duels alone.
    """

    order: np.ndarray
    weights: np.ndarray
    further: np.ndarray

    @cached_property
    def place(self) -> np.ndarray:
        """Of each algorithm: [draw, k, algorithm]."""
        n = self.order.shape[1]
        turned = (self.order[:, None] - np.arange(n, dtype=np.int16)[:, None]) % np.int16(n)
        return np.concatenate([turned, np.int16(n - 1) - turned], axis=1)

    def wins(self) -> np.ndarray:
        """The weight in duels of those in which a comes before b: [draw, pair].

        If a stands before b, so it does in every rotation but those that begin after a and not
        after b; of reversals the same holds the other way round.
        """
        n = self.order.shape[1]
        weights = self.weights + self.further
        rotated, reversed_ = weights[:, :n], weights[:, n:]
        begun = np.take_along_axis(np.cumsum(rotated - reversed_, axis=1), self.order, axis=1)
        a, b = np.triu_indices(n, 1)
        found = begun[:, a]
        found -= begun[:, b]
        sums = rotated.sum(axis=1)[:, None], reversed_.sum(axis=1)[:, None]
        found += np.where(self.order[:, a] < self.order[:, b], *sums)
        return np.asarray(found)

    def groups(self, field: Sequence[int], groups: Sequence[Sequence[int]]) -> np.ndarray:
        """The weight of those whose first of the field is in a group: [draw, group]."""
        place = self.place[:, :, list(field)]
        first = np.asarray(field)[place.argmin(axis=2)]
        return np.stack(
            [(self.weights * np.isin(first, group)).sum(axis=1) for group in groups], axis=1
        )

    def firsts(self, field: Sequence[int]) -> np.ndarray:
        """The weight of those in which one is first, of the field and itself: [draw, algorithm]."""
        n = self.order.shape[1]
        found = np.empty(self.order.shape)
        found[:, field] = self.groups(field, [[i] for i in field])
        for i in set(range(n)) - set(field):
            found[:, i] = self.groups([*field, i], [[i]])[:, 0]
        return found


def scores_of_pairs(duels: Duels, threads: int | None = None) -> list[Scores]:
    """Of all pairs at all times, in blocks of problems."""
    return in_threads(duels.pair_scores, duels.blocks(), threads)


def sums_of_scores(
    duels: Duels, pairs: Sequence[Scores], threads: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of scores, of their squares, and of problems on which two met: [pair, time] each."""

    def of_a_block(block: tuple[slice, Scores]) -> np.ndarray:
        weight, (score, there) = duels.weights_of(block[0]), block[1]
        parts = weight * score, weight * score**2, weight * there
        return np.stack([part.sum(axis=0, dtype=float) for part in parts])

    blocks = zip(duels.blocks(), pairs, strict=True)
    sums = np.asarray(sum(in_threads(of_a_block, blocks, threads)))
    won, squared, met = sums.reshape(3, -1, duels.positions.shape[2])
    return won, squared, met


class Bootstrap:
    """Draws of a distribution over instances, to ask what it says."""

    def __init__(
        self,
        duels: Duels,
        draws: int,
        seed: int,
        concentration: float | None = None,
        threads: int | None = None,
        pairs: list[Scores] | None = None,
    ) -> None:
        """``concentration`` fixes c, which is learned from all pairs otherwise. ``pairs`` are the
        scores of all of them, in blocks of problems, if they are known already."""
        self.duels, self.draws, self.threads = duels, draws, threads
        if pairs is not None:
            self.pairs = pairs
        rng = np.random.default_rng([seed, _PRIOR_STREAM])
        if concentration is None:
            won, _, met = sums_of_scores(duels, self.pairs, threads)
            likely = evenness_weights(won, met)
            self.concentration = rng.choice(CONCENTRATIONS, size=draws, p=likely)
        else:
            self.concentration = np.full(draws, float(concentration))
        self._imaginary = _imaginary(duels.positions.shape[1], self.concentration, rng)
        weights = _weights(duels.n_problems, duels.weights, draws, seed, threads)
        self._weights = [weights[block].T for block in duels.blocks()]

    @cached_property
    def pairs(self) -> list[Scores]:
        return scores_of_pairs(self.duels, self.threads)

    def wins(self, pairs: Sequence[int] | None = None) -> np.ndarray:
        """P(a beats b on a new instance), of pairs as np.triu_indices has them: [draw, time, pair].

        Of some ``pairs`` only, if they are given by their places. A tie is half a win.
        """
        prior, scores = self._imaginary, self.pairs
        imaginary = prior.wins()
        if pairs is not None:
            n_times = self.duels.positions.shape[2]
            columns = (np.asarray(pairs)[:, None] * n_times + np.arange(n_times)).ravel()
            scores = [(score[:, columns], there[:, columns]) for score, there in scores]
            imaginary = imaginary[:, list(pairs)]
        of = (prior.weights + prior.further).sum(axis=1)
        return self._shares(scores, imaginary, of)

    def firsts(self, field: Sequence[int] | None = None, duels: Duels | None = None) -> np.ndarray:
        """The share of instances on which an algorithm is first: [draw, time, algorithm].

        Among the ``field``, everybody if not given; of those who are not in it, among the field and
        itself. Of instances that all of them ran on. ``duels`` are those of the same problems at
        other times.
        """
        duels = duels or self.duels
        inside = list(range(duels.positions.shape[1]) if field is None else field)

        def first_scores(block: slice) -> Scores:
            return duels.first_scores(block, inside)

        scores = in_threads(first_scores, duels.blocks(), self.threads)
        prior = self._imaginary
        return self._shares(scores, prior.firsts(inside), prior.weights.sum(axis=1))

    def has_winner(self, groups: Sequence[Sequence[int]], field: Sequence[int]) -> np.ndarray:
        """The share of instances on which the first of the field is in a group: [draw, time,
        group]."""
        scores = [self.duels.group_scores(block, field, groups) for block in self.duels.blocks()]
        prior = self._imaginary
        return self._shares(scores, prior.groups(field, groups), prior.weights.sum(axis=1))

    def _shares(self, blocks: list[Scores], imaginary: np.ndarray, prior: np.ndarray) -> np.ndarray:
        """Weighted means of scores; at every time ``imaginary[draw, item]`` of ``prior[draw]`` is
        added."""
        items = imaginary.shape[1]
        n_times = blocks[0][0].shape[1] // items
        found = np.empty((self.draws, items, n_times), dtype=np.float32)
        stride = max(1, _COLUMNS_AT_ONCE // n_times)
        with single_threaded_blas():
            for first in range(0, items, stride):
                some = slice(first, min(first + stride, items))
                columns = slice(some.start * n_times, some.stop * n_times)
                part = [(score[:, columns], there[:, columns]) for score, there in blocks]
                self._fill(found[:, some], part, imaginary[:, some], prior)
        return found.swapaxes(1, 2)

    def _fill(
        self, found: np.ndarray, blocks: list[Scores], imaginary: np.ndarray, prior: np.ndarray
    ) -> None:
        """The same of some items: found[draw, item, time]."""
        _, items, n_times = found.shape
        scores = in_threads(_rounded, [score for score, _ in blocks], self.threads)
        if self.duels.weights is not None:  # which take more than the 24 bits of single precision
            scores = [score.astype(np.float64, copy=False) for score in scores]
        sums = weighted_sums(scores, n_times, self.threads)
        patterns, runs = _patterns([there for _, there in blocks])
        at_once = max(1, min(_DRAWS_A_TASK, _NUMBERS_A_TASK // (items * n_times)))

        def run(first: int) -> None:
            some = slice(first, min(first + at_once, self.draws))
            weights = [block[some] for block in self._weights]
            of = np.zeros((some.stop - first, patterns[0].shape[1]))
            for block, pattern in zip(weights, patterns, strict=True):
                of += block @ pattern
            of += prior[some, None]
            columns = sums(weights)
            shares = columns.reshape(items, n_times, -1)
            shares += imaginary[some].T[:, None]
            for begin, end, which in runs:
                columns[begin:end] /= of[:, which]
            found[some] = shares.transpose(2, 0, 1)

        in_threads(run, range(0, self.draws, at_once), self.threads)


def _rounded(scores: np.ndarray) -> np.ndarray:
    """In single precision where all are wins, losses and ties of two: sums fit into 24 bits."""
    doubled = 2 * scores
    if (doubled == np.floor(doubled)).all():
        return scores
    return np.asarray(np.round(scores.astype(np.float64) / _SCORE_UNIT) * _SCORE_UNIT)


def _patterns(there: list[np.ndarray]) -> tuple[list[np.ndarray], list[tuple[int, int, int]]]:
    """Each way for a column to be there, once, since few differ; and from which column up to which
    they have which of these ways, neighbours mostly having the same."""
    turns = np.any([(block[:, 1:] != block[:, :-1]).any(axis=0) for block in there], axis=0)
    begins = [0, *(1 + np.flatnonzero(turns)).tolist()]
    number: dict[bytes, int] = {}
    columns = np.vstack([block[:, begins] for block in there]).T
    which = [number.setdefault(column.tobytes(), len(number)) for column in columns]
    example = dict(zip(reversed(which), reversed(begins), strict=True))
    examples = [example[k] for k in range(len(number))]
    runs = zip(begins, [*begins[1:], there[0].shape[1]], which, strict=True)
    return [block[:, examples].astype(np.float32) for block in there], list(runs)


def _weights(
    problems: int, counts: np.ndarray | None, draws: int, seed: int, threads: int | None
) -> np.ndarray:
    """weights[problem, draw]: exponential, or Gamma where problems count as so many."""
    found = np.empty((problems, draws), dtype=np.float32 if counts is None else np.float64)

    def run(first: int) -> None:
        some = range(first, min(first + _PROBLEMS_A_TASK, problems))
        drawn = np.empty((len(some), draws))
        for row, k in zip(drawn, some, strict=True):
            rng = np.random.default_rng([seed, k])
            if counts is None:
                rng.standard_exponential(out=row)
            else:
                rng.standard_gamma(counts[k], out=row)
        units = (_WEIGHT_UNIT, _GREATEST) if counts is None else (_FINER_UNIT, _GREATEST_OF_MANY)
        found[some.start : some.stop] = _in_units(drawn, *units)

    in_threads(run, range(0, problems, _PROBLEMS_A_TASK), threads)
    return found


def _in_units(weights: np.ndarray, unit: float, greatest: float) -> np.ndarray:
    """In their place: multiples of the unit, of which sums are exact."""
    weights /= unit
    np.round(weights, out=weights)
    weights *= unit
    np.minimum(weights, greatest, out=weights)
    return weights


def _imaginary(n: int, concentration: np.ndarray, rng: np.random.Generator) -> Imaginary:
    """A random order, its rotations and their reversals: each pair is even, and so are firsts."""
    draws = len(concentration)
    order = rng.permuted(np.broadcast_to(np.arange(n, dtype=np.int16), (draws, n)), axis=1)
    shared = np.minimum(concentration, _IN_FIRST_PLACES)[:, None] / (2 * n)
    weights = rng.standard_gamma(shared, (draws, 2 * n))
    further = rng.standard_gamma(concentration[:, None] / (2 * n) - shared, (draws, 2 * n))
    return Imaginary(np.argsort(order, axis=1).astype(np.int16), weights, further)
