"""Choice sets: the sufficient statistics of any pile of Plackett-Luce rankings.

The log-likelihood of all rankings at one timepoint is

    sum_i w_i mu_i  -  sum_S c_S logsumexp(mu[S])

with ``w_i`` how often i was chosen while something else remained, and ``c_S`` how often the set S
of two or more was what remained. A set is a bitmask: bit i stands for algorithm i.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from polarbear.errors import RankingError
from polarbear.wording import counted

ABSENT = -1
BELOW = 2**15 - 2  # not recorded: below all that have a position, in an order nobody knows
MAX_EXACT_TIE = 12  # a wider tie has more than 4,095 terms and is subsampled
MAX_MASKED = 50  # bits of a mask that leave room for a timepoint beside it in 63 bits
MAX_ALGORITHMS = 200  # pairs of more would fill memory before they say anything


@dataclass(frozen=True)
class ChoiceSets:
    """What T timepoints of rankings of n algorithms boil down to; two of them add up.

    ``wins[T, n]`` holds w; the sets of timepoint t stand at ``offsets[t]:offsets[t + 1]`` of
    ``masks`` (ascending within a timepoint) and ``counts``. ``rankings[T]`` says how many rankings
    of two or more went in, ``sampled_ties`` how many ties were too wide for their closed form.

    Of more than MAX_MASKED algorithms there are no masks but ``steps[set, 2]``, as `wide` has them,
    and the same set may be there several times.
    """

    wins: np.ndarray
    offsets: np.ndarray
    masks: np.ndarray
    counts: np.ndarray
    rankings: np.ndarray
    sampled_ties: int = 0
    steps: np.ndarray | None = None

    @property
    def n_times(self) -> int:
        return int(self.wins.shape[0])

    @property
    def n_algorithms(self) -> int:
        return int(self.wins.shape[1])

    def __add__(self, other: ChoiceSets) -> ChoiceSets:
        if self.wins.shape != other.wins.shape:
            raise RankingError(
                f"choice sets of {_shape(self)} and of {_shape(other)} do not add up: "
                "count both on the same grid and the same list of algorithms"
            )
        if self.steps is not None and other.steps is not None:
            return self._beside(other)
        return choice_sets_from_terms(
            self.wins + other.wins,
            np.concatenate([self.set_times(), other.set_times()]),
            np.concatenate([self.masks, other.masks]),
            np.concatenate([self.counts, other.counts]),
            self.rankings + other.rankings,
            self.sampled_ties + other.sampled_ties,
        )

    def set_times(self) -> np.ndarray:
        """The index of the timepoint each set belongs to."""
        return np.repeat(np.arange(self.n_times), np.diff(self.offsets))

    def pick(self, times: np.ndarray) -> ChoiceSets:
        """The same for some timepoints only, given by their indices in ascending order."""
        sizes = np.diff(self.offsets)[times]
        starts = self.offsets[:-1][times]
        first = np.concatenate([[0], np.cumsum(sizes)])
        sets = np.repeat(starts - first[:-1], sizes) + np.arange(first[-1])
        return ChoiceSets(
            self.wins[times],
            first.astype(np.int64),
            self.masks if self.steps is not None else self.masks[sets],
            self.counts[sets],
            self.rankings[times],
            self.sampled_ties,
            None if self.steps is None else self.steps[sets],
        )

    def weighted(self, weight: float) -> ChoiceSets:
        """The same rankings, each counted as ``weight`` of one."""
        return replace(self, wins=weight * self.wins, counts=weight * self.counts)

    def members(self, some: slice = slice(None)) -> np.ndarray:
        """Who is in each set, or in each of some whole timepoints' sets: bool[set, n]."""
        if self.steps is None:
            return (self.masks[some, None] >> np.arange(self.n_algorithms) & 1).astype(bool)
        steps = self.steps[some]
        found = np.zeros((len(steps), self.n_algorithms), dtype=bool)
        for k, (back, added) in enumerate(steps.tolist()):
            if back > 0:
                found[k] = found[k - back]
            else:
                found[k, -1 - back] = True
            found[k, added] = True
        return found

    def compared(self) -> np.ndarray:
        """Which pairs of algorithms ever stood in one ranking: bool[n, n]."""
        together = np.eye(self.n_algorithms, dtype=bool)
        if self.steps is None:
            bits = np.arange(self.n_algorithms)
            member = (np.unique(self.masks)[:, None] >> bits & 1).astype(np.int64)
            return np.asarray(together | ((member.T @ member) > 0))
        for t in range(self.n_times):
            if together.all():
                break
            member = self.members(slice(*self.offsets[t : t + 2])).astype(np.float32)
            together |= (member.T @ member) > 0
        return together

    def favours_nobody(self) -> bool:
        """Whether equal ratings are the likelihood's maximum at every timepoint."""
        for t in range(self.n_times):
            here = slice(*self.offsets[t : t + 2])
            member = self.members(here)
            expected = (self.counts[here] / member.sum(axis=1)) @ member
            apart = np.abs(self.wins[t] - expected).max()
            if not apart < 1e-9 * max(1, self.rankings.max()):
                return False
        return True

    def log_likelihood(self, mu: np.ndarray) -> np.ndarray:
        """The log-likelihood at each timepoint for utilities ``mu[T, n]``; plain, for checking."""
        inside = np.where(self.members(), mu[self.set_times()], -np.inf)
        terms = self.counts * np.logaddexp.reduce(inside, axis=1)
        sets = np.bincount(self.set_times(), weights=terms, minlength=self.n_times)
        return np.asarray((self.wins * mu).sum(axis=1) - sets)

    def _beside(self, other: ChoiceSets) -> ChoiceSets:
        """The sets of both at each timepoint, one after the other."""
        assert self.steps is not None
        assert other.steps is not None
        order = np.argsort(np.concatenate([self.set_times(), other.set_times()]), kind="stable")
        return ChoiceSets(
            self.wins + other.wins,
            self.offsets + other.offsets,
            self.masks,
            np.concatenate([self.counts, other.counts])[order],
            self.rankings + other.rankings,
            self.sampled_ties + other.sampled_ties,
            np.concatenate([self.steps, other.steps])[order],
        )


def choice_sets_from_terms(
    wins: np.ndarray,
    times: np.ndarray,
    masks: np.ndarray,
    counts: np.ndarray,
    rankings: np.ndarray,
    sampled_ties: int = 0,
) -> ChoiceSets:
    """Gather loose (timepoint, set, count) terms, in any order and repeated, into choice sets."""
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


def _shape(sets: ChoiceSets) -> str:
    return f"{counted(sets.n_algorithms, 'algorithm')} at {counted(sets.n_times, 'timepoint')}"
