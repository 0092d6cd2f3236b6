"""Portfolios by coverage: on how many problems one of k algorithms is the best of all candidates.

Coverage follows from the rankings of each problem, not from ratings: two algorithms that win on the
same problems add little to each other.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np

from polarbear.errors import SelectionError
from polarbear.inference.empirical.bootstrap import Bootstrap
from polarbear.selection.choice import Answer, JudgedPortfolio
from polarbear.selection.criteria import Criteria
from polarbear.selection.preference import Valuation

MAX_SLOTS = 256
MAX_ENUMERATED = 500  # more sets than this are built greedily
SHOWN_PORTFOLIOS = 5
_SETS_PER_BLOCK = 16  # bounds memory, not results

Slots = tuple[int, ...]  # the candidates in the slots, in increasing order


class PortfolioCover:
    """The coverage of sets of candidates, on the problems that all candidates ran on."""

    value_words = "shares of problems on which a member is the best"
    counts_winners = True

    def __init__(
        self, bootstrap: Bootstrap, candidates: Sequence[int], valuation: Valuation
    ) -> None:
        self._bootstrap = bootstrap
        self._candidates = list(candidates)
        self._valuation = valuation

    def values(self, sets: Sequence[Slots]) -> np.ndarray:
        """The preference's value of having the winner: [draw, set].

        A set has indices of ``candidates``.
        """
        parts = []
        for first in range(0, len(sets), _SETS_PER_BLOCK):
            block = sets[first : first + _SETS_PER_BLOCK]
            groups = [[self._candidates[i] for i in slots] for slots in block]
            p_has_winner = self._bootstrap.has_winner(groups, self._candidates)
            parts.append(self._valuation.values(p_has_winner))
        return np.concatenate(parts, axis=1)

    def has_winner(self, slots: Slots) -> float:
        """How often a member is the best of all candidates, at the times of the preference."""
        return float(self.values([slots]).mean())

    def add_best(self, answer: Answer, size: int) -> Answer:
        """An answer with the best portfolio of its candidates, and the next ones.

        Slots beyond the number of candidates repeat the best one. If not all possible portfolios
        are looked at, P(best) and the regret compare with those that are.
        """
        if not 1 <= size <= MAX_SLOTS:
            raise SelectionError(f"a portfolio has 1 to {MAX_SLOTS} slots, found {size}")
        names = answer.candidates
        n = len(self._candidates)
        distinct = min(size, n)
        possible = comb(n, distinct)
        exhaustive = possible <= MAX_ENUMERATED
        sets = list(combinations(range(n), distinct)) if exhaustive else self._greedy(distinct)
        criteria = Criteria(self.values(sets), answer.gamma)
        order = criteria.order(answer.criterion).tolist()
        single = int(self.values([(i,) for i in range(n)]).mean(axis=0).argmax())
        rows = []
        for k in order[:SHOWN_PORTFOLIOS]:
            slots = sorted((*sets[k], *[single] * (size - distinct)))
            rows.append(JudgedPortfolio(tuple(names[i] for i in slots), *criteria.of(k)))
        best = sets[order[0]]
        has_winner = self.has_winner(best)
        further = [self.has_winner(tuple(sorted((*best, i)))) for i in range(n) if i not in best]
        return replace(
            answer,
            portfolio=rows[0].portfolio,
            portfolio_ranking=tuple(rows),
            portfolios_possible=possible,
            portfolios_looked_at=len(sets),
            portfolio_search="exhaustive" if exhaustive else "greedy, then local search",
            portfolio_values=self.value_words,
            portfolio_has_winner=has_winner if self.counts_winners else None,
            next_slot_adds=max(further, default=has_winner) - has_winner,
        )

    def _greedy(self, size: int) -> list[Slots]:
        """The set that grows by the largest addition, and its neighbours by one exchange."""
        n = len(self._candidates)
        chosen: Slots = ()
        for _ in range(size):
            longer = [tuple(sorted((*chosen, i))) for i in range(n) if i not in chosen]
            chosen = longer[int(self.values(longer).mean(axis=0).argmax())]
        others = [i for i in range(n) if i not in chosen]
        neighbours = {
            tuple(sorted({*chosen, added} - {removed})) for removed in chosen for added in others
        }
        return [chosen, *sorted(neighbours)]
