"""Presets: which member of a set to use up to which budget, as few as possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polarbear.inference import Posterior
from polarbear.inference.strongest_rival import p_best_at_each_time, rival_values


@dataclass(frozen=True)
class SetFacts:
    """The members of a set at each time: P(best) [time, member], and draws of their values.

    ``values`` are the win rates against the strongest rival: [draw, time, member].
    """

    members: tuple[str, ...]
    times: np.ndarray
    p_best: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, posterior: Posterior) -> SetFacts:
        items = range(posterior.n_algorithms)
        return cls(
            members=tuple(posterior.algorithms),
            times=np.asarray(posterior.times),
            p_best=p_best_at_each_time(posterior, items),
            values=rival_values(posterior, items, np.asarray),
        )

    @classmethod
    def of_one(cls, member: str, times: np.ndarray) -> SetFacts:
        """A set of a single member, which is the best at every time."""
        n_times = len(times)
        return cls((member,), times, np.ones((n_times, 1)), np.full((1, n_times, 1), 0.5))

    @property
    def win_rates(self) -> np.ndarray:
        """The expected win rate of each member against its strongest rival: [time, member]."""
        return np.asarray(self.values.mean(axis=0, dtype=np.float64))

    def missed(self) -> np.ndarray:
        """The expected loss of win rate, over all times, if a member were not in the set.

        A member that is the best in a draw wins against its strongest rival, which would take its
        place, more often than half of the time.
        """
        lead = np.maximum(self.values - 0.5, 0.0)
        return np.asarray(lead.mean(axis=(0, 1), dtype=np.float64))

    def least_missed(self, n: int) -> list[str]:
        """The n members that are missed least; between equals the one that came last."""
        order = np.lexsort((-np.arange(len(self.members)), self.missed()))
        return [self.members[item] for item in order[:n]]


@dataclass(frozen=True)
class Span:
    """A member, and the neighbouring times at which it is used: first and last index."""

    member: int
    first: int
    last: int


def preset_spans(facts: SetFacts, epsilon: float) -> list[Span]:
    """As few spans as possible in which no other member is expected to win clearly more often.

    A win rate within ``epsilon`` of even is not clear. Where each member has a rival that wins
    clearly more often, only the best one will do. Of members that can be used equally long, the one
    with the highest win rates is taken.
    """
    win_rates = facts.win_rates
    needed = np.minimum(0.5 - epsilon, win_rates.max(axis=1, keepdims=True))
    is_good = win_rates >= needed
    spans: list[Span] = []
    first = 0
    while first < len(facts.times):
        lengths = [_run_length(is_good[first:, item]) for item in range(len(facts.members))]
        longest = max(lengths)
        candidates = [item for item, length in enumerate(lengths) if length == longest]
        means = [win_rates[first : first + longest, item].mean() for item in candidates]
        spans.append(Span(candidates[int(np.argmax(means))], first, first + longest - 1))
        first += longest
    return spans


def _run_length(flags: Sequence[bool] | np.ndarray) -> int:
    """The number of true values before the first false one."""
    is_false = np.flatnonzero(~np.asarray(flags))
    return int(is_false[0]) if len(is_false) else len(flags)
