"""Portfolios by coverage: on how many problems one of k algorithms is the best of all candidates.

Coverage follows from the rankings of each problem, not from ratings: two algorithms that win on the
same problems add little to each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from polarbear.errors import SelectionError
from polarbear.inference.empirical.bootstrap import Bootstrap
from polarbear.selection.criteria import GAMMA, Criteria, Risk, judge
from polarbear.selection.preference import Valuation

MAX_SLOTS = 256
MAX_ENUMERATED = 500  # more sets than this are built greedily
_SETS_PER_BLOCK = 16  # bounds memory, not results

Slots = tuple[int, ...]  # the algorithms in the slots, in increasing order


@dataclass(frozen=True)
class Portfolios:
    """Portfolios of one size and their criteria, the best first.

    ``exhaustive`` says whether these are all of the ``possible`` ones; otherwise P(best) and the
    regret compare with those that were evaluated.
    """

    slots: tuple[Slots, ...]
    criteria: Criteria
    exhaustive: bool
    possible: int


class PortfolioCover:
    """The coverage of sets of candidates, on the problems that all candidates ran on."""

    meaning = "shares of problems on which a member is the best"

    def __init__(
        self, bootstrap: Bootstrap, candidates: Sequence[int], valuation: Valuation
    ) -> None:
        self._bootstrap, self._candidates = bootstrap, list(candidates)
        self._valuation = valuation

    def values(self, sets: Sequence[Slots]) -> np.ndarray:
        """The preference's value of having the winner: [draw, set]; sets are places among the
        candidates."""
        parts = []
        for first in range(0, len(sets), _SETS_PER_BLOCK):
            groups = [
                [self._candidates[i] for i in s] for s in sets[first : first + _SETS_PER_BLOCK]
            ]
            parts.append(
                self._valuation.values(self._bootstrap.has_winner(groups, self._candidates))
            )
        return np.concatenate(parts, axis=1)

    def has_winner(self, slots: Slots) -> float:
        """How often one of these is the best of all candidates, at the times that are wanted."""
        return float(self.values([slots]).mean())

    def best(self, size: int, risk: Risk, gamma: float = GAMMA) -> Portfolios:
        """Sets of the candidates, the best first; slots beyond their number repeat the best one."""
        if not 1 <= size <= MAX_SLOTS:
            raise SelectionError(f"a portfolio has 1 to {MAX_SLOTS} slots, found {size}")
        n = len(self._candidates)
        distinct = min(size, n)
        possible = comb(n, distinct)
        exhaustive = possible <= MAX_ENUMERATED
        sets = list(combinations(range(n), distinct)) if exhaustive else self._greedy(distinct)
        criteria = judge(self.values(sets), gamma)
        order = criteria.order(risk)
        ranked = Criteria(
            *(getattr(criteria, name)[order] for name in ("p2bb", "mean", "quantile", "regret"))
        )
        single = int(self.values([(i,) for i in range(n)]).mean(axis=0).argmax())
        spare = (single,) * (size - distinct)
        slots = tuple(tuple(sorted((*sets[k], *spare))) for k in order)
        return Portfolios(slots, ranked, exhaustive, possible)

    def _greedy(self, size: int) -> list[Slots]:
        """The set that grows by the largest addition, and its neighbours by one exchange."""
        n = len(self._candidates)
        chosen: Slots = ()
        for _ in range(size):
            longer = [tuple(sorted((*chosen, i))) for i in range(n) if i not in chosen]
            chosen = longer[int(self.values(longer).mean(axis=0).argmax())]
        near = {
            tuple(sorted({*chosen, i} - {gone}))
            for gone in chosen
            for i in range(n)
            if i not in chosen
        }
        return [chosen, *sorted(near)]
