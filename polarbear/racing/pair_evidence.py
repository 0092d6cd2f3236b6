"""What the duels of pairs say beside the probabilities of a round: betting wealth and support."""

from __future__ import annotations

from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np

from polarbear.errors import RaceError
from polarbear.racing.recommendation import MIN_PROBLEMS
from polarbear.racing.rules import Rules
from polarbear.rankings.duels import DuelRecord

MIN_SUPPORT = 0.9  # P(better) by the duels alone, where a Plackett-Luce model decides


@dataclass(frozen=True)
class PairEvidence:
    """The duels of all pairs, as [time, a, b]; every part is None without a record of duels.

    ``log_wealth`` is the logarithm of the wealth of betting on a. ``is_enough`` says where a pair
    has shared as many problems as a recommendation needs.
    """

    duels: DuelRecord | None = None
    log_wealth: np.ndarray | None = None
    is_enough: np.ndarray | None = None

    @classmethod
    def of(cls, duels: DuelRecord | None) -> PairEvidence:
        if duels is None:
            return cls()
        from polarbear.racing.anytime_bound import log_wealth_table  # loads scipy.special

        return cls(duels, log_wealth_table(duels.won()), enough_problems(duels))

    def proven(self, rules: Rules, initial: int) -> np.ndarray | None:
        """Where the wealth proves a better than b, by the guarantee: bool[time, a, b].

        None without a guarantee. ``initial`` is the number of algorithms at the start.
        """
        if rules.guarantee == "none":
            return None
        if self.log_wealth is None:
            raise RaceError(f"the guarantee '{rules.guarantee}' needs the record of duels")
        from polarbear.racing.anytime_bound import proves_in_race, proves_pair

        if rules.guarantee == "anytime":
            return proves_in_race(self.log_wealth, rules.alpha, initial)
        return proves_pair(self.log_wealth, rules.alpha)

    def wealth(self, a: SupportsIndex, b: SupportsIndex) -> float | None:
        """The wealth of betting on a against b at the time at which it is lowest."""
        if self.log_wealth is None:
            return None
        from polarbear.racing.anytime_bound import lowest_wealth

        return lowest_wealth(self.log_wealth[:, a, b])

    def supported(self) -> np.ndarray:
        """Where the duels alone make it likely that a is better at every time: bool[a, b]."""
        assert self.duels is not None
        from polarbear.racing.anytime_bound import supported_by_duels

        return np.asarray((supported_by_duels(self.duels.won()) >= MIN_SUPPORT).all(axis=0))


def enough_problems(duels: DuelRecord) -> np.ndarray:
    """Where a pair has shared as many problems as a recommendation needs: bool[time, a, b]."""
    a, b = np.triu_indices(duels.algorithms, 1)
    is_enough = np.ones((len(duels.wins), duels.algorithms, duels.algorithms), dtype=bool)
    is_enough[:, a, b] = duels.shared >= MIN_PROBLEMS
    is_enough[:, b, a] = is_enough[:, a, b]
    return is_enough
