"""Evidence of a store's runs: rankings on the grid, choice sets and duels."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polarbear.errors import InferenceError
from polarbear.rankings import ChoiceSets, GridValues, count_choice_sets, rank
from polarbear.rankings.duels import Duels, duels_of
from polarbear.settings.grid import Budget
from polarbear.settings.options import unknown
from polarbear.store import Store


@dataclass(frozen=True)
class Evidence:
    """Rankings on a grid, and their sufficient statistics.

    ``problems`` names the problem of each instance, where several are seeds of one; ``weights``
    counts each instance as a number of problems, where some do not count as one.
    """

    grid: GridValues
    unit_times: np.ndarray
    positions: np.ndarray
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
    def choice_sets(self) -> ChoiceSets:
        """Choice sets in which the seeds of a problem share its weight.

        An instance on which only one algorithm was run compares nothing, and has no share.
        """
        if self.problems is None:
            return count_choice_sets(self.positions, self.weights)
        present = ~np.isnan(self.grid.values)
        compares = present.any(axis=2).sum(axis=1) > 1
        sharing = Counter(name for name, real in zip(self.problems, compares, strict=True) if real)
        shares = np.array([1 / max(1, sharing[name]) for name in self.problems])
        return count_choice_sets(
            self.positions, shares if self.weights is None else shares * self.weights
        )

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
    weights: Sequence[float] | None = None,
) -> Evidence:
    """Rank the algorithms on each instance at each time.

    ``problems`` names the problem of each instance; ``weights`` is the number of problems that each
    instance counts as.
    """
    positions = rank(grid.values, ~np.isnan(grid.values), tie_tolerance)
    shares = None if weights is None else np.asarray(weights, dtype=float)
    if shares is not None and (shares == 1).all():
        shares = None
    if problems is None or len(set(problems)) == len(problems):
        return Evidence(grid, unit_times, positions, weights=shares)
    found: dict[str, float] = {}
    for problem, weight in zip(problems, () if shares is None else shares.tolist(), strict=False):
        if found.setdefault(problem, weight) != weight:
            raise InferenceError(
                f"runs of the problem '{problem}' have the weights {found[problem]:g} and "
                f"{weight:g}; a problem has one, which its seeds share"
            )
    return Evidence(grid, unit_times, positions, tuple(problems), shares)
