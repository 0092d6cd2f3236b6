"""Where rankings put one algorithm among the others: its rating's likelihood, given theirs.

Plackett-Luce is independent of irrelevant alternatives, so the probability of a ranking is that of
the others' order times that of the newcomer's place in it. As a function of the newcomer's
log-rating x alone, the second is

    w x  -  sum_S c_S log(e^x + s_S)

over the choice sets that the newcomer is in, with s_S the ratings of S without it added up: smooth
and concave.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from polarbear.inference.loops.newcomer import FURTHEST
from polarbear.rankings import ChoiceSets

_SMALLEST = 1e-260  # a vanished rating of others: one that log-ratings can still be far below


@dataclass(frozen=True)
class Placement:
    """The newcomer's part of choice sets: wins[T], and sets padded to the most any time has.

    ``members[T, m, S]`` says which of the m others are in a set, ``counts[T, S]`` how often it was
    what remained; padding has count zero.
    """

    wins: np.ndarray
    members: np.ndarray
    counts: np.ndarray

    @property
    def ranked(self) -> np.ndarray:
        """At which times the newcomer is in any ranking: bool[T]."""
        return np.asarray(self.counts.sum(axis=1) > 0)

    @property
    def met(self) -> np.ndarray:
        """Which of the others it ever stood in one ranking with: bool[m]."""
        return np.asarray(np.einsum("tms,ts->m", self.members, self.counts) > 0)

    def at(self, times: slice) -> Placement:
        """The same for a part of the grid, without padding that only other times need."""
        most = max(1, int((self.counts[times] > 0).sum(axis=1).max()))
        return Placement(
            self.wins[times], self.members[times][:, :, :most], self.counts[times][:, :most]
        )

    def among(self, ratings: np.ndarray) -> Likelihood:
        """The likelihood of the newcomer's log-rating, given the others' ratings[T, D, m]."""
        sums = np.maximum(ratings @ self.members, _SMALLEST)
        total = self.counts.sum(axis=1, keepdims=True)
        return Likelihood(self.wins[:, None], self.counts[:, :, None], total, sums)


def placement_of(sets: ChoiceSets, position: int) -> Placement:
    """Pick the newcomer, the algorithm at ``position``, out of all choice sets."""
    n, n_times = sets.n_algorithms, sets.n_times
    others = [i for i in range(n) if i != position]
    inside = (sets.masks >> position & 1 == 1) & (sets.counts > 0)
    times = sets.set_times()[inside]
    sizes = np.bincount(times, minlength=n_times)
    place = np.arange(len(times)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    members = np.zeros((n_times, n - 1, max(1, int(sizes.max()))))
    counts = np.zeros((n_times, members.shape[2]))
    members[times, :, place] = sets.masks[inside, None] >> np.array(others) & 1
    counts[times, place] = sets.counts[inside]
    return Placement(sets.wins[:, position].astype(float), members, counts)


@dataclass(frozen=True)
class Likelihood:
    """Log-likelihoods of log-ratings x[T, D], for D draws of the others at a time.

    wins[T, 1], counts[T, S, 1] and their total[T, 1]; sums[T, D, S] of the others' ratings.
    """

    wins: np.ndarray
    counts: np.ndarray
    total: np.ndarray
    sums: np.ndarray

    def of(self, draws: np.ndarray) -> Likelihood:
        """The same for some of the draws."""
        return replace(self, sums=self.sums[:, draws])

    def slope_and_curvature(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """First derivative, and minus the second."""
        e, chosen = self._remaining(x)
        slope = self._slope(e, chosen)  # leaves the probabilities of being chosen behind
        chosen *= chosen
        return slope, np.maximum(self.wins - slope - self._total(chosen), 0)

    def value(self, x: np.ndarray) -> np.ndarray:
        _, remaining = self._remaining(x)
        return self._value(x, np.log(remaining, out=remaining))

    def value_and_slope(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        e, remaining = self._remaining(x)
        return self._value(x, np.log(remaining)), self._slope(e, remaining)

    def _remaining(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The newcomer's rating, and the sum of ratings of each set with it."""
        e = np.exp(np.clip(x, -FURTHEST, FURTHEST))[:, :, None]
        return e, self.sums + e

    def _slope(self, e: np.ndarray, remaining: np.ndarray) -> np.ndarray:
        return np.asarray(self.wins - self._total(np.divide(e, remaining, out=remaining)))

    def _value(self, x: np.ndarray, logs: np.ndarray) -> np.ndarray:
        beyond = np.maximum(x - FURTHEST, 0)
        return np.asarray(self.wins * x - self.total * beyond - self._total(logs))

    def _total(self, terms: np.ndarray) -> np.ndarray:
        """Sums over sets, each counted as often as it occurred."""
        return np.asarray(np.matmul(terms, self.counts)[:, :, 0])
