"""The posterior for an instance by its features: a bootstrap of past problems with weights.

A forest gives every problem a weight for the instance, see `inference.feature_models.forest`.
Everything else is as without features: P(best), regret and preferences are those of the posterior.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from polarbear.errors import SelectionError
from polarbear.facts.evidence import Evidence, cached_posterior, evidence_of
from polarbear.facts.features import Features, features
from polarbear.inference import ModelOptions
from polarbear.inference.feature_models.duel_tables import (
    duel_table,
    rivals_beaten,
    scores_at_some_times,
)
from polarbear.inference.feature_models.encoding import FeatureMatrix, encoded
from polarbear.inference.feature_models.forest import (
    Forest,
    counted_weights,
    effective_number,
    fitted_forest,
)
from polarbear.selection.posterior_source import Basis, pareto_set_of, rules_of_race
from polarbear.settings.options import unknown
from polarbear.store import StoreOnDisk
from polarbear.wording import joined, timed

GivenFeatures = Mapping[str, str | float]
NO_FEATURES = (
    "{store} has no features of instances: give them with `instances: {{features: FILE.csv}}`, or "
    "import them"
)
NOTHING_LEFT = (
    "computing the features takes {cost}, so nothing is left of a budget up to {time}: do not "
    "compute features for it, and choose without them"
)
CHARGED = "computing the features takes {cost}, which is charged: an algorithm has the rest"
NOT_GIVEN = "{features} not given: the median of the problems stands for a number"

OWN_RUNS = "runs on {instance} itself are left out, as if it were new"


@dataclass(frozen=True)
class FeatureBasis:
    """The posterior for an instance, and what it rests on.

    ``weights`` are those of the problems by their names, ``effective`` is the effective number of
    problems, and ``cost`` that of computing the features.
    """

    basis: Basis
    weights: Mapping[str, float]
    instance_features: GivenFeatures
    effective: float
    cost: float


@dataclass(frozen=True, eq=False)
class ProblemFeatures:
    """The features of the problems of some evidence, in its order: the matrix, and their costs."""

    matrix: FeatureMatrix
    costs: np.ndarray
    features: Features


def problem_features(store: StoreOnDisk, evidence: Evidence) -> ProblemFeatures:
    """The features of each problem; of several instances the first one has them."""
    first_instance: dict[str, str] = {}
    for instance, problem in zip(evidence.grid.instances, evidence.problem_names, strict=True):
        first_instance.setdefault(problem, instance)
    of_problems = features(store).of([first_instance[name] for name in evidence.duels.names])
    matrix = encoded({column.name: column.values for column in of_problems.columns})
    if not matrix.columns:
        raise SelectionError(NO_FEATURES.format(store=store.path))
    return ProblemFeatures(matrix, of_problems.costs, of_problems)


def forest_of(
    store: StoreOnDisk,
    evidence: Evidence,
    of_problems: ProblemFeatures,
    keep: Callable[[str, Forest], None],
) -> Forest:
    """The forest of a store: the kept one if it is about the same evidence and features.

    Otherwise it is fitted, and ``keep`` receives it with its key.
    """
    key = _key_of(store, evidence, of_problems.matrix)
    stored = store.forests.read(key)
    if stored is not None:
        return stored
    scores = scores_at_some_times(rivals_beaten(duel_table(evidence.duels)))
    forest = fitted_forest(scores, of_problems.matrix, evidence.duels.names, store.settings.seed)
    keep(key, forest)
    return forest


def _key_of(store: StoreOnDisk, evidence: Evidence, matrix: FeatureMatrix) -> str:
    columns = [(column.feature, column.category) for column in matrix.columns]
    digest = hashlib.sha256(json.dumps([evidence.key, columns, store.settings.seed]).encode())
    digest.update(np.ascontiguousarray(matrix.values).tobytes())
    return digest.hexdigest()[:16]


def given_features(text: str) -> dict[str, str | float]:
    """The features of a text such as 'dimension=30, function=sphere'."""
    instance_features: dict[str, str | float] = {}
    for part in text.split(","):
        name, sign, value = part.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise SelectionError(
                f"features are given as name=value, separated by commas; found '{part.strip()}'"
            )
        instance_features[name.strip()] = value.strip()
    return instance_features


def basis_by_features(
    store: StoreOnDisk,
    instance_features: GivenFeatures | None,
    instance: str | None,
    keep: Callable[[str, Forest], None],
) -> FeatureBasis:
    """The posterior for an instance of the store, or for one with the given features."""
    if not store.count_compared_instances():
        raise SelectionError(f"{store.path} has no runs to compare; `polarbear race` makes them")
    evidence = evidence_of(store)
    of_problems = problem_features(store, evidence)
    cost = float(np.median(of_problems.costs))
    own_problem = None
    if instance is not None:
        instance_features, cost = _features_of_instance(store, instance)
        problem_of = dict(zip(evidence.grid.instances, evidence.problem_names, strict=True))
        own_problem = problem_of.get(instance)
    assert instance_features is not None
    forest = forest_of(store, evidence, of_problems, keep)
    weights = forest.weights(instance_features, own_problem)
    weight_of_problem = dict(zip(forest.problems, counted_weights(weights).tolist(), strict=True))
    charged_evidence, notes = charged(evidence, cost, store.settings.budget.axis)
    weighted = charged_evidence.weighted(weight_of_problem)
    posterior = cached_posterior(store, weighted, ModelOptions(), store.settings.seed)
    names = dict.fromkeys(column.feature for column in forest.columns)
    missing = [name for name in names if name not in instance_features]
    if missing:
        notes = (*notes, NOT_GIVEN.format(features=joined(missing)))
    if own_problem is not None:
        notes = (*notes, OWN_RUNS.format(instance=instance))
    # The note on weights of instances is about those of a user.
    posterior = replace(posterior, notes=())
    basis = Basis(
        posterior=posterior,
        source="infer",
        pareto_set=pareto_set_of(store, posterior),
        rules=rules_of_race(store),
        notes=notes,
    )
    return FeatureBasis(
        basis, weight_of_problem, instance_features, effective_number(weights), cost
    )


def _features_of_instance(store: StoreOnDisk, instance: str) -> tuple[GivenFeatures, float]:
    """The stored features of an instance, and the cost of computing them."""
    all_features = features(store)
    if instance not in all_features.instances:
        raise SelectionError(
            f"{unknown('instance', instance, all_features.instances)} (in {store.path})"
        )
    of_instance = all_features.of([instance])
    instance_features: dict[str, str | float] = {}
    for column in of_instance.columns:
        value = column.values[0]
        if not column.is_missing[0] and value is not None:
            instance_features[column.name] = value if isinstance(value, str) else float(value)
    return instance_features, float(of_instance.costs[0])


def charged(evidence: Evidence, cost: float, axis: str) -> tuple[Evidence, tuple[str, ...]]:
    """The evidence in which every algorithm starts after ``cost``, with notes."""
    if cost <= 0:
        return evidence, ()
    times = evidence.grid.times
    index = np.searchsorted(times, times - cost, side="right") - 1
    grid = evidence.grid.with_outcomes_at(np.maximum(index, 0))
    notes = [CHARGED.format(cost=timed(cost, axis))]
    if (index < 0).any():
        last = float(times[index < 0][-1])
        notes.append(NOTHING_LEFT.format(cost=timed(cost, axis), time=timed(last, axis)))
    return replace(evidence, grid=grid, positions=grid.positions()), tuple(notes)
