"""Choice sets: the sufficient statistics of Plackett-Luce rankings.

The log-likelihood of all rankings at one timepoint is

    sum_i w_i mu_i  -  sum_S c_S logsumexp(mu[S])

``w_i`` counts how often i was chosen while something else remained, and ``c_S`` how often the set S
of two or more was what remained. A set is a bitmask: bit i stands for algorithm i.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from polarbear.errors import RankingError
from polarbear.wording import counted

ABSENT = -1
BELOW = 2**15 - 2  # below all algorithms that have a position; the order among these is unknown
MAX_EXACT_TIE = 12  # a wider tie has more than 4,095 terms and is subsampled
MAX_MASKED = 50  # bits of a mask that leave room for a timepoint beside it in 63 bits
MAX_ALGORITHMS = 200


@dataclass(frozen=True)
class ChoiceSets:
    """The choice sets of rankings of n algorithms at T timepoints.

    ``wins[T, n]`` is w; the sets of timepoint t are ``offsets[t]:offsets[t + 1]`` of ``masks``
    (ascending within a timepoint) and ``counts``. ``rankings[T]`` is the number of rankings of two
    or more algorithms, ``sampled_ties`` the number of ties that were too wide for their closed
    form.

    For more than MAX_MASKED algorithms there are no sets; ``met[n, n]`` has the pairs of algorithms
    that occur in one ranking.
    """

    wins: np.ndarray
    offsets: np.ndarray
    masks: np.ndarray
    counts: np.ndarray
    rankings: np.ndarray
    sampled_ties: int = 0
    met: np.ndarray | None = None

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
            rankings=self.rankings[times],
        )

    def weighted(self, weight: float) -> ChoiceSets:
        """The same rankings, each counted as ``weight`` of one."""
        return replace(self, wins=weight * self.wins, counts=weight * self.counts)

    def members(self) -> np.ndarray:
        """The algorithms in each set: bool[set, n]."""
        return (self.masks[:, None] >> np.arange(self.n_algorithms) & 1).astype(bool)

    def compared(self) -> np.ndarray:
        """The pairs of algorithms that occur in one ranking: bool[n, n]."""
        if self.met is not None:
            return self.met
        bits = np.arange(self.n_algorithms)
        member = (np.unique(self.masks)[:, None] >> bits & 1).astype(np.int64)
        return np.asarray(np.eye(self.n_algorithms, dtype=bool) | ((member.T @ member) > 0))

    def log_likelihood(self, mu: np.ndarray) -> np.ndarray:
        """The log-likelihood at each timepoint for utilities ``mu[T, n]``."""
        inside = np.where(self.members(), mu[self.set_times()], -np.inf)
        terms = self.counts * np.logaddexp.reduce(inside, axis=1)
        sets = np.bincount(self.set_times(), weights=terms, minlength=self.n_times)
        return np.asarray((self.wins * mu).sum(axis=1) - sets)


def choice_sets_from_terms(
    wins: np.ndarray,
    times: np.ndarray,
    masks: np.ndarray,
    counts: np.ndarray,
    rankings: np.ndarray,
    sampled_ties: int = 0,
) -> ChoiceSets:
    """Choice sets from (timepoint, set, count) terms in any order, which may be repeated."""
    n_times, n = wins.shape
    if n > MAX_MASKED or n + int(n_times).bit_length() > 62:
        raise RankingError(
            f"{counted(n, 'algorithm')} at {counted(n_times, 'timepoint')} are too many to count "
            f"together; at most {MAX_MASKED} algorithms, fewer on very long grids"
        )
    keys, total = (times.astype(np.int64) << n) | masks, counts.astype(float)
    if not (keys[:-1] < keys[1:]).all():
        keys, place = np.unique(keys, return_inverse=True)
        total = np.bincount(place.ravel(), weights=counts, minlength=len(keys)).astype(float)
    offsets = np.searchsorted(keys >> n, np.arange(n_times + 1))
    return ChoiceSets(
        wins, offsets.astype(np.int64), keys & ((1 << n) - 1), total, rankings, sampled_ties
    )
