"""All runs on the grid, and what they boil down to, kept up to date while runs come in.

Rankings are counted in blocks of the instance stream and the blocks are added up in their order, so
that the counts are the same to the last bit however often a race was interrupted.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

import numpy as np

from polarbear.budget import Budget
from polarbear.execution.outcome import Outcome
from polarbear.learn import Evidence, ranked
from polarbear.problems.base import Instance
from polarbear.store import GridValues, Store, best_so_far

BLOCK = 64  # instances that are counted together


class Tally:
    """Values on the grid by algorithm and instance."""

    def __init__(self, store: Store, budget: Budget, tie_tolerance: float = 0.0) -> None:
        self._budget = budget
        self._tie_tolerance = tie_tolerance
        self._absent = np.full(len(budget.times), np.nan)
        grid = store.on_grid(budget.times)
        self._values = {
            (name, instance): grid.values[i, a]
            for i, instance in enumerate(grid.instances)
            for a, name in enumerate(grid.algorithms)
            if not np.isnan(grid.values[i, a]).all()
        }
        self._blocks: dict[tuple[int, tuple[str, ...]], Evidence] = {}

    def add(self, outcome: Outcome) -> None:
        """Take in a run that was just finished."""
        task = outcome.task
        self._values[task.algorithm.name, task.instance.id] = best_so_far(
            outcome.times, outcome.values, outcome.status, outcome.reached, self._budget.times
        )
        touched = task.instance.index // BLOCK
        self._blocks = {key: kept for key, kept in self._blocks.items() if key[0] != touched}

    def found_nothing(self, algorithm: str, instance: Instance) -> bool:
        """Whether a run has not a single value to show."""
        values = self._values.get((algorithm, instance.id), self._absent)
        return not np.isfinite(values).any()

    def evidence(self, instances: Sequence[Instance], algorithms: tuple[str, ...]) -> Evidence:
        """Rankings and choice sets of the first instances of the stream."""
        blocks = []
        for first in range(0, len(instances), BLOCK):
            part = instances[first : first + BLOCK]
            key = (first // BLOCK, algorithms)
            block = self._blocks.get(key)
            if block is None or len(block.grid.instances) != len(part):
                block = self._blocks[key] = self._counted(part, algorithms)
            blocks.append(block)
        grid = GridValues(
            tuple(instance.id for instance in instances),
            algorithms,
            self._budget.times,
            np.concatenate([block.grid.values for block in blocks]),
        )
        return Evidence(
            grid,
            self._budget.unit_times,
            np.concatenate([block.positions for block in blocks]),
            reduce(add, (block.choice_sets for block in blocks)),
        )

    def _counted(self, instances: Sequence[Instance], algorithms: tuple[str, ...]) -> Evidence:
        values = np.array(
            [
                [self._values.get((name, instance.id), self._absent) for name in algorithms]
                for instance in instances
            ]
        )
        ids = tuple(instance.id for instance in instances)
        grid = GridValues(ids, algorithms, self._budget.times, values)
        return ranked(grid, self._budget.unit_times, self._tie_tolerance)
