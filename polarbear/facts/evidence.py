"""Evidence of a store's runs (rankings, choice sets, duels), and its posterior, inferred once."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np

from polarbear import __version__
from polarbear.errors import InferenceError
from polarbear.inference import ModelOptions, Posterior, infer
from polarbear.rankings import GridValues, rank
from polarbear.rankings.duels import ProblemDuels, duels_of
from polarbear.settings.grid import Budget
from polarbear.settings.options import unknown
from polarbear.store import StoreOnDisk

if TYPE_CHECKING:
    from polarbear.rankings.choice_sets import ChoiceSets


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
    def duels(self) -> ProblemDuels:
        """Duels of all pairs, grouped by problem."""
        return duels_of(self.positions, self.problem_names, self.weights)

    @cached_property
    def choice_sets(self) -> "ChoiceSets":
        """Choice sets in which the seeds of a problem share its weight.

        An instance on which only one algorithm was run compares nothing, and has no share.
        """
        from polarbear.rankings.choice_sets import count_choice_sets  # for Plackett-Luce only

        if self.problems is None:
            return count_choice_sets(self.positions, self.weights)
        compares = (~np.isnan(self.grid.values)).any(axis=2).sum(axis=1) > 1
        sharing = Counter(name for name, real in zip(self.problems, compares, strict=True) if real)
        shares = np.array([1 / max(1, sharing[name]) for name in self.problems])
        return count_choice_sets(
            self.positions, shares if self.weights is None else shares * self.weights
        )

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
        return infer(
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
    store: StoreOnDisk,
    algorithms: Sequence[str] | None = None,
    tie_tolerance: float = 0.0,
    budget: Budget | None = None,
) -> Evidence:
    """Rank the stored runs, of all algorithms or of some, on the store's grid or another one."""
    known = store.provenance.in_order(store.settings.algorithms)
    for name in algorithms or ():
        if name not in known:
            raise InferenceError(f"{unknown('algorithm', name, known)} (in {store.path})")
    chosen = [name for name in known if algorithms is None or name in algorithms]
    budget = budget or store.settings.budget
    grid, problem, weight = store.on_grid(budget.times, chosen), store.problems(), store.weights()
    problems = [problem.get(instance, instance) for instance in grid.instances]
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
