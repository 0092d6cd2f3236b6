"""Portfolios where runs have several objectives: the union of the fronts of their members.

The value of a portfolio is the win rate of this union against the strongest single algorithm: the
lowest value of the preference over all candidates, by the rule of duels of the race.
"""

from collections.abc import Sequence

import numpy as np

from polarbear.facts.evidence import Evidence
from polarbear.inference import Posterior
from polarbear.inference.empirical.bootstrap import Bootstrap
from polarbear.rankings.duels import duels_of
from polarbear.rankings.front_duels import (
    NOT_MET,
    DuelSettings,
    FrontsOfRun,
    results_of_pair,
    union_of_runs,
)
from polarbear.selection.portfolio_cover import PortfolioCover, Slots
from polarbear.selection.preference import Valuation

_SETS_PER_BLOCK = 16  # bounds memory, not results


class FrontPortfolios(PortfolioCover):
    """The values of sets of candidates, on the problems that all candidates ran on."""

    counts_winners = False
    value_words = "win rates of the members' fronts together against the strongest algorithm"

    def __init__(
        self,
        evidence: Evidence,
        settings: DuelSettings,
        posterior: Posterior,
        candidates: Sequence[int],
        valuation: Valuation,
    ) -> None:
        bootstrap = _bootstrap(evidence, evidence.results, posterior)
        super().__init__(bootstrap, candidates, valuation)
        self._evidence = evidence
        self._settings = settings
        self._posterior = posterior

    def values(self, sets: Sequence[Slots]) -> np.ndarray:
        parts = []
        for first in range(0, len(sets), _SETS_PER_BLOCK):
            block = sets[first : first + _SETS_PER_BLOCK]
            groups = [[self._candidates[i] for i in slots] for slots in block]
            bootstrap = _bootstrap(self._evidence, self._results(groups), self._posterior)
            p_wins = bootstrap.group_wins(groups, self._candidates)
            by_rival = [
                self._valuation.values(p_wins[:, :, :, rival])
                for rival in range(len(self._candidates))
            ]
            parts.append(np.min(by_rival, axis=0))
        return np.concatenate(parts, axis=1)

    def _results(self, groups: Sequence[Sequence[int]]) -> np.ndarray:
        """The duels of each group with each candidate: [instance, group and candidate, time]."""
        grid = self._evidence.grid
        n_rivals = len(self._candidates)
        shape = (len(grid.instances), len(groups) * n_rivals, len(grid.times))
        results = np.full(shape, NOT_MET, dtype=np.int8)
        for instance in range(len(grid.instances)):
            runs = grid.runs_on(instance)
            rivals = [runs[candidate] for candidate in self._candidates]
            all_present = np.all([run.present for run in rivals], axis=0)
            for g, group in enumerate(groups):
                together = union_of_runs([runs[member] for member in group])
                together = FrontsOfRun(together.fronts, all_present, together.violations)
                for r, rival in enumerate(rivals):
                    column = g * n_rivals + r
                    results[instance, column] = results_of_pair(together, rival, self._settings)
        return results


def _bootstrap(evidence: Evidence, results: np.ndarray | None, posterior: Posterior) -> Bootstrap:
    """The draws over problems of a posterior, for duels with these results."""
    return Bootstrap(
        duels_of(evidence.positions, evidence.problem_names, evidence.weights, results),
        evidence.grid.algorithms,
        posterior.draws,
        posterior.seed,
        posterior.options.concentration,
    )
