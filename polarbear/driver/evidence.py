"""Evidence of a store's runs: rankings on the grid, choice sets and duels."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np

from polarbear.config import failures_in
from polarbear.errors import InferenceError
from polarbear.execution.outcome import Outcome
from polarbear.problems.specs import PROBLEM
from polarbear.rankings import ChoiceSets, GridValues, count_choice_sets, rank
from polarbear.rankings.duels import Duels, duels_of
from polarbear.settings.grid import Budget
from polarbear.settings.options import unknown
from polarbear.store import Store, best_so_far

if TYPE_CHECKING:
    from polarbear.problems.base import Instance

BLOCK = 64  # instances that are counted together


@dataclass(frozen=True)
class Evidence:
    """Rankings on the store's grid, and their sufficient statistics.

    ``problems`` names the problem of each instance, where several are seeds of one; ``weights``
    counts each instance as a number of problems, where some do not count as one.
    """

    grid: GridValues
    unit_times: np.ndarray
    positions: np.ndarray
    choice_sets: ChoiceSets
    problems: tuple[str, ...] | None = None
    weights: np.ndarray | None = None

    @property
    def problem_names(self) -> tuple[str, ...]:
        """The problem of each instance."""
        return self.problems or self.grid.instances

    @property
    def n_problems(self) -> int:
        return len(set(self.problem_names))

    @cached_property
    def duels(self) -> Duels:
        """Duels of all pairs, grouped by problem."""
        return duels_of(self.positions, self.problem_names, self.weights)

    @cached_property
    def key(self) -> str:
        """Names this evidence: the same algorithms, times and rankings give the same key."""
        seeds = [] if self.problems is None else [self.problems]
        names = json.dumps([self.grid.algorithms, self.grid.times.tolist(), *seeds])
        digest = hashlib.sha256(names.encode())
        digest.update(self.positions.tobytes())
        if self.weights is not None:
            digest.update(self.weights.tobytes())
        return digest.hexdigest()[:16]


def evidence_of(
    store: Store,
    algorithms: Sequence[str] | None = None,
    tie_tolerance: float = 0.0,
    budget: Budget | None = None,
) -> Evidence:
    """Rank the stored runs, of all algorithms or of some, on the store's grid or another one."""
    known = list(store.config["algorithms"])
    for name in algorithms or ():
        if name not in known:
            raise InferenceError(f"{unknown('algorithm', name, known)} (in {store.path})")
    chosen = [name for name in known if algorithms is None or name in algorithms]
    budget = budget or Budget.model_validate(store.config["budget"])
    grid = store.on_grid(budget.times, chosen)
    problem = store.problems()
    problems = [problem.get(instance, instance) for instance in grid.instances]
    weight = store.weights()
    weights = [weight.get(instance, 1.0) for instance in grid.instances]
    return ranked(grid, budget.unit_times, tie_tolerance, problems, weights)


def ranked(
    grid: GridValues,
    unit_times: np.ndarray,
    tie_tolerance: float = 0.0,
    problems: Sequence[str] | None = None,
    weights: Sequence[float] | np.ndarray | None = None,
) -> Evidence:
    """What values on a grid say about who is better than whom.

    ``problems`` names the problem of each instance: its runs with several seeds count as one. Those
    in which only one algorithm was run say nothing, and take no share. ``weights`` says how many
    problems each counts as.
    """
    present = ~np.isnan(grid.values)
    positions = rank(grid.values, present, tie_tolerance)
    shares = None if weights is None else np.asarray(weights, dtype=float)
    if shares is not None and (shares == 1).all():
        shares = None
    if problems is None or len(set(problems)) == len(problems):
        counted = count_choice_sets(positions, shares)
        return Evidence(grid, unit_times, positions, counted, weights=shares)
    if shares is not None:
        _check_same_weight(problems, shares)
    compares = present.any(axis=2).sum(axis=1) > 1
    sharing = Counter(name for name, real in zip(problems, compares, strict=True) if real)
    of_one = np.array([1 / max(1, sharing[name]) for name in problems])
    counted = count_choice_sets(positions, of_one if shares is None else of_one * shares)
    return Evidence(grid, unit_times, positions, counted, tuple(problems), shares)


def _check_same_weight(problems: Sequence[str], weights: np.ndarray) -> None:
    """The problem has the weight, and its seeds share it."""
    found: dict[str, float] = {}
    for problem, weight in zip(problems, weights.tolist(), strict=True):
        if found.setdefault(problem, weight) != weight:
            raise InferenceError(
                f"runs of the problem '{problem}' have the weights {found[problem]:g} and "
                f"{weight:g}; a problem has one, which its seeds share"
            )


class Tally:
    """All runs on the grid, and what they boil down to, kept up to date while runs come in.

    Rankings are counted in blocks of the instance stream and the blocks are added up in their
    order, so that the counts are the same to the last bit however often a race was interrupted.
    """

    def __init__(
        self,
        store: Store,
        budget: Budget,
        tie_tolerance: float = 0.0,
        weight: Callable[[str], float] | None = None,
    ) -> None:
        """``weight`` says how many instances one of a name counts as, one if not given."""
        self._budget = budget
        self._weight = weight
        self._tie_tolerance = tie_tolerance
        self._absent = np.full(len(budget.times), np.nan)
        self._failed = failures_in(store.config).ranks
        grid = store.on_grid(budget.times)
        self._values = {
            (name, instance): grid.values[i, a]
            for i, instance in enumerate(grid.instances)
            for a, name in enumerate(grid.algorithms)
            if not np.isnan(grid.values[i, a]).all()
        }
        self._hidden: dict[tuple[str, str], np.ndarray] = {}
        self._blocks: dict[tuple[int, tuple[str, ...]], Evidence] = {}
        self._earlier: tuple[list[ChoiceSets], ChoiceSets] | None = None  # blocks and their sum

    def add(self, outcome: Outcome) -> None:
        """Take in a run that was just finished."""
        task = outcome.task
        self._values[task.algorithm.name, task.instance.id] = best_so_far(
            outcome.times,
            outcome.values,
            outcome.status,
            outcome.reached,
            self._budget.times,
            self._failed,
        )
        self._count_anew(task.instance)

    def hide(self, algorithm: str, instance: str) -> None:
        """Leave a run out of account until it is shown; to be called before anything is counted."""
        found = self._values.pop((algorithm, instance), None)
        if found is not None:
            self._hidden[algorithm, instance] = found

    def show(self, algorithm: str, instance: Instance) -> None:
        """Take a run into account that was hidden."""
        found = self._hidden.pop((algorithm, instance.id), None)
        if found is not None:
            self._values[algorithm, instance.id] = found
            self._count_anew(instance)

    def _count_anew(self, instance: Instance) -> None:
        touched = instance.index // BLOCK
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
        problems = [str(instance.spec.get(PROBLEM, instance.id)) for instance in instances]
        if len(set(problems)) < len(problems):
            shared = self._budget.unit_times, self._tie_tolerance, problems
            return ranked(grid, *shared, self._weights(instances))
        return Evidence(
            grid,
            self._budget.unit_times,
            np.concatenate([block.positions for block in blocks]),
            self._added_up([block.choice_sets for block in blocks]),
            weights=self._weights(instances),
        )

    def _added_up(self, blocks: list[ChoiceSets]) -> ChoiceSets:
        """All of them; the sum of all but the last is known where those are still the same."""
        *earlier, last = blocks
        if not earlier:
            return last
        known, total = self._earlier or (earlier[:1], earlier[0])
        if [*map(id, known)] != [*map(id, earlier[: len(known)])]:
            known, total = earlier[:1], earlier[0]
        self._earlier = earlier, reduce(add, earlier[len(known) :], total)
        return self._earlier[1] + last

    def _counted(self, instances: Sequence[Instance], algorithms: tuple[str, ...]) -> Evidence:
        values = np.array(
            [
                [self._values.get((name, instance.id), self._absent) for name in algorithms]
                for instance in instances
            ]
        )
        ids = tuple(instance.id for instance in instances)
        grid = GridValues(ids, algorithms, self._budget.times, values)
        weights = self._weights(instances)
        return ranked(grid, self._budget.unit_times, self._tie_tolerance, weights=weights)

    def _weights(self, instances: Sequence[Instance]) -> np.ndarray | None:
        """Of each instance, None where all count as one."""
        if self._weight is None:
            return None
        found = np.array([self._weight(instance.id) for instance in instances])
        return None if (found == 1).all() else found
