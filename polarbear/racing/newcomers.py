"""Judges a newcomer against the members of a set, on problems that the members were run on already.

After each batch of problems the newcomer is `eliminated` by the rule of any race, or a `member`: it
was shown to be better than each member at some time, with an error that all newcomers of the stream
share (`anytime_bound.py`). It is `no gain` when the problems are used up, or when the remaining
ones are very unlikely to make it a member. The last rule only saves runs: it never accepts any.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import scipy  # loads `scipy.special` at its first use

from polarbear.inference.relations import DecisionTables
from polarbear.racing.anytime_bound import (
    fewest_wins_to_prove,
    log_wealth,
    log_wealth_at_some_time,
    log_wealth_of_member,
    proves_pair,
)
from polarbear.racing.decide import step
from polarbear.racing.recommendation import MIN_PROBLEMS
from polarbear.racing.rules import Rules
from polarbear.racing.state import Elimination, State, start
from polarbear.rankings.duels import DuelRecord
from polarbear.settings.contract import ContractTimes

BATCH_GROWTH = 1.2  # the factor by which the number of problems grows from look to look
SMALLEST_BATCH = 2
# A newcomer is given up where P(it becomes a member on the remaining problems) is below this.
NEGLIGIBLE_CHANCE = 0.01


class NewcomerVerdict(StrEnum):
    """What became of a newcomer; values as in JSON."""

    ELIMINATED = "eliminated"
    MEMBER = "member"
    NO_GAIN = "no gain"
    FAILED = "failed"


def next_look(seen: int, cached: int) -> int:
    """The number of problems at the next look, after ``seen`` of the ``cached`` ones.

    It depends on nothing else, so that a stream that was killed continues with the same looks.
    """
    if seen == 0:
        return min(MIN_PROBLEMS, cached)
    return min(max(seen + SMALLEST_BATCH, math.ceil(BATCH_GROWTH * seen)), cached)


class Look(NamedTuple):
    """What one look at the duels of a newcomer has decided; None where it goes on.

    ``log_wealth`` is the highest so far of betting that it beats each member at some time.
    """

    verdict: NewcomerVerdict | None
    log_wealth: np.ndarray
    elimination: Elimination | None = None


@dataclass(frozen=True)
class Examination:
    """The question whether a newcomer belongs to a set: its members, and the wealth that shows it.

    With ``gives_up`` it ends as soon as the newcomer is very unlikely to become a member. In duels
    and tables the newcomer is the last algorithm, after the members in this order.
    """

    state: State
    rules: Rules
    log_needed: float
    gives_up: bool = True

    @classmethod
    def of(
        cls,
        members: tuple[str, ...],
        newcomer: str,
        times: tuple[float, ...],
        rules: Rules,
        entrant: int,
        cached: int,
        contracts: ContractTimes | None = None,
        gives_up: bool = True,
    ) -> Examination:
        """The examination of the newcomer with this number in its stream."""
        state = start((*members, newcomer), times, rules, contracts)
        joining = State(
            algorithms=state.algorithms,
            times=state.times,
            batch=state.batch,
            settled=state.settled,
            instances=cached,
            joining=newcomer,
            initial=len(members),
            contracts=state.contracts,
        )
        return cls(joining, rules, log_wealth_of_member(rules.alpha, entrant), gives_up)

    @property
    def cached(self) -> int:
        return self.state.instances

    @property
    def nothing_shown(self) -> np.ndarray:
        """The wealth before the first look."""
        return np.zeros(len(self.state.algorithms) - 1)

    def look(
        self,
        seen: int,
        duels: DuelRecord,
        tables: Callable[[], DecisionTables],
        shown_before: np.ndarray,
        ahead: np.ndarray,
    ) -> Look:
        """The decision after ``seen`` problems.

        ``duels`` count no problem as more than one. ``ahead`` is the number of further cached
        problems that each member was run on: [time, member]. ``tables`` computes the probabilities
        of all pairs, which only an elimination needs.
        """
        won = duels.won()
        wins = won[:, -1, :-1]
        losses = won[:, :-1, -1]
        shown = np.maximum(shown_before, log_wealth_of_newcomer(wins, losses))
        elimination = None
        if self._may_be_eliminated(wins, losses):
            elimination = self._elimination(seen, duels, tables())
        if elimination is not None:
            return Look(NewcomerVerdict.ELIMINATED, shown, elimination)
        if (shown >= self.log_needed).all():
            return Look(NewcomerVerdict.MEMBER, shown)
        is_over = seen >= self.cached
        if self.gives_up and not is_over:
            chances = chances_of_newcomer(wins, losses, ahead, self.log_needed)
            is_over = bool(chances[shown < self.log_needed].min() < NEGLIGIBLE_CHANCE)
        return Look(NewcomerVerdict.NO_GAIN if is_over else None, shown)

    def _may_be_eliminated(self, wins: np.ndarray, losses: np.ndarray) -> bool:
        """Whether a member has the wealth that every guarantee needs, at every time."""
        if self.rules.guarantee == "none":
            return True
        proven = proves_pair(log_wealth(losses, wins), self.rules.alpha)
        return bool(proven.all(axis=0).any())

    def _elimination(
        self, seen: int, duels: DuelRecord, tables: DecisionTables
    ) -> Elimination | None:
        """The elimination of the newcomer by the rule of any race."""
        state_after, _ = step(self.state, self.rules, seen, tables, duels)
        for elimination in state_after.eliminated:
            if elimination.algorithm == self.state.joining:
                return elimination
        return None


def log_wealth_of_newcomer(wins: np.ndarray, losses: np.ndarray) -> np.ndarray:
    """The logarithm of the wealth of betting that a newcomer beats each member at some time.

    ``wins`` and ``losses`` are [..., time, member], the result is [..., member].
    """
    return log_wealth_at_some_time(log_wealth(wins, losses), axis=-2)


def chances_of_newcomer(
    wins: np.ndarray, losses: np.ndarray, ahead: np.ndarray, log_needed: np.ndarray | float
) -> np.ndarray:
    """P(enough wins against each member on all cached problems), at its best time: [..., member].

    The wins to come are beta-binomial, from the wins so far and a uniform prior. No share is left
    to other times, so that the chance is rather too high.
    """
    parts = np.broadcast_arrays(np.rint(wins), np.rint(wins + losses), ahead, log_needed)
    distinct, index = np.unique(np.stack(parts).reshape(4, -1), axis=1, return_inverse=True)
    won, decided, to_come, needed_wealth = distinct
    needed = fewest_wins_to_prove(decided + to_come, needed_wealth)
    chance = _chance_of_wins(needed - won, won, decided, to_come)
    return np.asarray(chance[index.ravel()].reshape(parts[0].shape).max(axis=-2))


def _chance_of_wins(
    further: np.ndarray, won: np.ndarray, decided: np.ndarray, to_come: np.ndarray
) -> np.ndarray:
    """P(at least ``further`` wins in the duels to come), after ``won`` of the ``decided`` ones.

    The share of wins to come is beta-binomial; a beta distribution with its mean and its variance
    replaces it.
    """
    rate = (won + 1) / (decided + 2)
    n = np.maximum(to_come, 1)
    size = n * (decided + 3) / (decided + 2 + n) - 1
    share_needed = np.clip((further - 0.5) / n, 0, 1)
    size = np.maximum(size, 1e-9)
    chance = scipy.special.betaincc(rate * size, (1 - rate) * size, share_needed)
    chance = np.where(further <= 0, 1.0, chance)
    return np.asarray(np.where(further > to_come, 0.0, chance))
