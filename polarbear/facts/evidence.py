"""Evidence of a store's runs (rankings, choice sets, duels), and its posterior, inferred once."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np

from polarbear import __version__
from polarbear.errors import InferenceError, RankingError
from polarbear.inference import ModelOptions, Posterior, infer
from polarbear.rankings import GridValues
from polarbear.rankings.duels import ProblemDuels, duels_of
from polarbear.rankings.front_duels import BY_COVERAGE, DuelSettings
from polarbear.rankings.ranking import ABSENT, NO_TOTAL_ORDER
from polarbear.settings.grid import Budget
from polarbear.settings.options import unknown
from polarbear.store import StoreOnDisk

if TYPE_CHECKING:
    from polarbear.rankings.choice_sets import ChoiceSets


@dataclass(frozen=True)
class Evidence:
    """Rankings on a grid, and their sufficient statistics.

    ``problems`` names the problem of each instance; it is None where all instances are different
    problems. ``weights`` is the number of problems that each instance counts as; it is None where
    every instance counts as one. With several objectives ``results[instance, pair, time]`` has the
    duels of fronts, and ``positions`` only say who is present. ``notes`` are its limits.
    """

    grid: GridValues
    unit_times: np.ndarray
    positions: np.ndarray
    problems: tuple[str, ...] | None = None
    weights: np.ndarray | None = None
    results: np.ndarray | None = None
    notes: tuple[str, ...] = ()

    @property
    def problem_names(self) -> tuple[str, ...]:
        """The problem of each instance."""
        return self.problems or self.grid.instances

    @property
    def n_problems(self) -> int:
        return len(set(self.problem_names))

    def of_instances(self, rows: slice) -> "Evidence":
        """The evidence of neighbouring instances alone."""
        grid = self.grid
        return replace(
            self,
            grid=replace(
                grid,
                instances=grid.instances[rows],
                values=grid.values[rows],
                violations=None if grid.violations is None else grid.violations[rows],
                fronts=None if grid.fronts is None else grid.fronts[rows],
            ),
            positions=self.positions[rows],
            problems=None if self.problems is None else self.problems[rows],
            weights=None if self.weights is None else self.weights[rows],
            results=None if self.results is None else self.results[rows],
        )

    @cached_property
    def duels(self) -> ProblemDuels:
        """Duels of all pairs, grouped by problem."""
        return duels_of(self.positions, self.problem_names, self.weights, self.results)

    def weighted(self, problem_weights: Mapping[str, float]) -> "Evidence":
        """The evidence in which a problem counts as this many times as many problems.

        A problem whose weight is 0 or not given is left out, with all its rows.
        """
        names = self.problem_names
        rows = [row for row, name in enumerate(names) if problem_weights.get(name, 0.0) > 0]
        if not rows:
            raise InferenceError("no problem has a weight above 0: there is nothing to infer from")
        weights = np.array([problem_weights[names[row]] for row in rows])
        if self.weights is not None:
            weights = weights * self.weights[rows]
        instances = [self.grid.instances[row] for row in rows]
        return replace(
            self,
            grid=self.grid.pick(instances, self.grid.algorithms),
            positions=self.positions[rows],
            problems=None if self.problems is None else tuple(names[row] for row in rows),
            weights=None if (weights == 1).all() else weights,
            results=None if self.results is None else self.results[rows],
        )

    @cached_property
    def choice_sets(self) -> "ChoiceSets":
        """Choice sets in which the seeds of a problem share its weight.

        An instance on which only one algorithm was run compares nothing, and has no share.
        """
        if self.results is not None:
            raise RankingError(f"there are no rankings: {NO_TOTAL_ORDER}")
        # The default model does not load it.
        from polarbear.rankings.choice_sets import count_choice_sets

        if self.problems is None:
            return count_choice_sets(self.positions, self.weights)
        n_algorithms_run = (~np.isnan(self.grid.values)).any(axis=2).sum(axis=1)
        compared_problems = [
            problem
            for problem, n_algorithms in zip(self.problems, n_algorithms_run, strict=True)
            if n_algorithms > 1
        ]
        n_seeds = Counter(compared_problems)
        shares = np.array([1 / max(1, n_seeds[problem]) for problem in self.problems])
        if self.weights is not None:
            shares *= self.weights
        return count_choice_sets(self.positions, shares)

    def posterior(
        self,
        options: ModelOptions,
        seed: int,
        field: Sequence[int] | None = None,
        cancelled: Event | None = None,
    ) -> Posterior:
        """The posterior of this evidence; ``field`` are the algorithms that may be first.

        Its inference ends early when the event ``cancelled`` is set.
        """
        if self.results is not None and options.plackett_luce:
            raise InferenceError(
                f"the model '{options.model}' needs rankings, but {NO_TOTAL_ORDER}; use 'empirical'"
            )
        posterior = infer(
            self.choice_sets if options.plackett_luce else None,
            self.unit_times,
            options,
            seed,
            names=self.grid.algorithms,
            positions=self.positions,
            problems=self.problem_names,
            weights=self.weights,
            field=field,
            times=self.grid.times,
            cancelled=cancelled,
            results=self.results,
        )
        return replace(posterior, notes=(*self.notes, *posterior.notes))

    @cached_property
    def key(self) -> str:
        """Names this evidence: the same algorithms, times and rankings give the same key."""
        names: list[object] = [self.grid.algorithms, self.grid.times.tolist()]
        if self.problems is not None:
            names.append(self.problems)
        digest = hashlib.sha256(json.dumps(names).encode())
        digest.update(self.positions.tobytes())
        if self.results is not None:
            digest.update(self.results.tobytes())
        if self.weights is not None:
            digest.update(self.weights.tobytes())
        return digest.hexdigest()[:16]


def evidence_of(
    store: StoreOnDisk,
    algorithms: Sequence[str] | None = None,
    tie_tolerance: float = 0.0,
    budget: Budget | None = None,
) -> Evidence:
    """Rank the stored runs, of all algorithms or of some, on the store's grid or another one."""
    all_names = store.provenance.in_order(store.settings.algorithms)
    for name in algorithms or ():
        if name not in all_names:
            raise InferenceError(f"{unknown('algorithm', name, all_names)} (in {store.path})")
    names = [name for name in all_names if algorithms is None or name in algorithms]
    budget = budget or store.settings.budget
    grid = store.on_grid(budget.times, names)
    problem_of_instance = store.problems()
    weight_of_instance = store.weights()
    problems = [problem_of_instance.get(instance, instance) for instance in grid.instances]
    weights = [weight_of_instance.get(instance, 1.0) for instance in grid.instances]
    if grid.fronts is not None and tie_tolerance:
        raise InferenceError("a tie tolerance is for one value, but there are several objectives")
    duels = store.settings.duels
    return ranked(grid, budget.unit_times, tie_tolerance, problems, weights, duels)


def ranked(
    grid: GridValues,
    unit_times: np.ndarray,
    tie_tolerance: float = 0.0,
    problems: Sequence[str] | None = None,
    weights: Sequence[float] | None = None,
    duels: DuelSettings = BY_COVERAGE,
) -> Evidence:
    """Rank the algorithms on each instance at each time.

    ``problems`` names the problem of each instance; ``weights`` is the number of problems that each
    instance counts as. With several objectives ``duels`` say which of two fronts is better.
    """
    results = grid.duel_results(duels)
    if results is None:
        positions = grid.positions(tie_tolerance)
    else:
        positions = np.where(grid.present, 0, ABSENT).astype(np.int16)
    weight_array = None
    if weights is not None and any(weight != 1 for weight in weights):
        weight_array = np.asarray(weights, dtype=float)
    if problems is None or len(set(problems)) == len(problems):
        return Evidence(grid, unit_times, positions, weights=weight_array, results=results)
    if weight_array is not None:
        _check_one_weight_per_problem(problems, weight_array)
    return Evidence(grid, unit_times, positions, tuple(problems), weight_array, results)


def _check_one_weight_per_problem(problems: Sequence[str], weights: np.ndarray) -> None:
    weight_of_problem: dict[str, float] = {}
    for problem, weight in zip(problems, weights.tolist(), strict=True):
        first_weight = weight_of_problem.setdefault(problem, weight)
        if first_weight != weight:
            raise InferenceError(
                f"runs of the problem '{problem}' have the weights {first_weight:g} and "
                f"{weight:g}; a problem has one, which its seeds share"
            )


def cached_posterior(
    store: StoreOnDisk,
    evidence: Evidence,
    options: ModelOptions,
    seed: int,
    field: Sequence[str] | None = None,
    cancelled: Event | None = None,
) -> Posterior:
    """The posterior of this evidence: from the store if it is there, otherwise inferred.

    ``field`` names the algorithms that compete for first places, where a race eliminated others.
    An inference ends early when the event ``cancelled`` is set.
    """
    field_indices = _indices_of_field(evidence, options, field)
    key = _posterior_key(evidence, options, seed, field_indices)
    stored = store.posteriors.read(key)
    if stored is not None:
        return stored
    inferred = evidence.posterior(options, seed, field_indices, cancelled)
    # The store's precision, so that an answer is the same whether its posterior is kept or not.
    theta = inferred.theta.astype(np.float32, copy=False).astype(float)
    return replace(
        inferred,
        theta=theta,
        axis=store.settings.budget.axis,
        instances=evidence.n_problems,
        key=key,
    )


def _indices_of_field(
    evidence: Evidence, options: ModelOptions, field: Sequence[str] | None
) -> list[int] | None:
    """The indices of the algorithms that compete for first places; None if all do."""
    names = evidence.grid.algorithms
    if not field or options.plackett_luce or len(field) >= len(names):
        return None
    return [names.index(name) for name in field]


def _posterior_key(
    evidence: Evidence, options: ModelOptions, seed: int, field_indices: list[int] | None
) -> str:
    """The key by which a posterior is stored: the same question has the same key."""
    question: dict[str, Any] = {
        "evidence": evidence.key,
        "options": options.model_dump(mode="json"),
        "seed": seed,
        "version": __version__,
    }
    if field_indices is not None:
        question["field"] = field_indices
    text = json.dumps(question, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
