"""Posteriors of a store's evidence: inferred once, then read back, and their facts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from polarbear import __version__
from polarbear.driver.evidence import Evidence
from polarbear.inference import ModelOptions, Posterior, relations
from polarbear.inference.fit import NamedFit, named
from polarbear.inference.posterior_diagnostics import Diagnostics
from polarbear.plain import asked
from polarbear.store import Store
from polarbear.store.posteriors import (
    choice_sets_table,
    posterior_from_table,
    posterior_to_table,
    rankings_table,
)


@dataclass(frozen=True)
class CachedPosterior:
    """A posterior with the names of its axes, and whether it was read from the store.

    ``instances`` is the number of problems behind it.
    """

    posterior: Posterior
    algorithms: tuple[str, ...]
    times: np.ndarray
    instances: int
    key: str
    from_store: bool


def cached_posterior(
    store: Store,
    evidence: Evidence,
    options: ModelOptions,
    seed: int,
    field: Sequence[str] | None = None,
) -> CachedPosterior:
    """The posterior of this evidence: from the store if it is there, otherwise inferred.

    ``field`` names the algorithms that compete for first places, where a race eliminated others.
    """
    inside = None  # the whole field
    if field and not options.plackett_luce and len(field) < len(evidence.grid.algorithms):
        inside = [evidence.grid.algorithms.index(name) for name in field]
    settings = {"options": options.model_dump(mode="json"), "seed": seed, "version": __version__}
    if inside is not None:
        settings["field"] = inside
    text = json.dumps({"evidence": evidence.key, **settings}, sort_keys=True)
    key = hashlib.sha256(text.encode()).hexdigest()[:16]
    kept = store.posteriors.read(key)
    if kept is not None:
        posterior = posterior_from_table(*kept)
    else:
        from polarbear.inference import infer  # heavy, and not needed to read a posterior

        inferred = infer(
            evidence.choice_sets,
            evidence.unit_times,
            options,
            seed,
            names=evidence.grid.algorithms,
            positions=evidence.positions,
            problems=evidence.problem_names,
            weights=evidence.weights,
            field=inside,
        )
        # in the store's precision, so that the answer is the same whether it was kept or not
        theta = inferred.theta.astype(np.float32, copy=False).astype(float)
        posterior = replace(inferred, theta=theta)
    grid = evidence.grid
    return CachedPosterior(
        posterior, grid.algorithms, grid.times, evidence.n_problems, key, kept is not None
    )


def keep(store: Store, evidence: Evidence, cached: CachedPosterior) -> None:
    """Store a posterior and its evidence; the caller holds the store's lock."""
    rankings, sets = rankings_table(evidence.grid, evidence.positions), None
    if cached.posterior.options.plackett_luce:
        sets = choice_sets_table(evidence.grid, evidence.choice_sets)
    store.posteriors.add_evidence(evidence.key, rankings, sets)
    store.posteriors.add(
        cached.key,
        *posterior_to_table(cached.posterior, evidence.grid, cached.instances, evidence.key),
    )


@dataclass(frozen=True)
class Rating:
    """The rating of an algorithm at a time, with a central 95 % interval."""

    algorithm: str
    t: float
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class PairAt:
    """P(a is better than b) and P(equivalent) at a time; ``error`` is the Monte-Carlo error.

    ``p_wins`` is the expected share of instances on which a beats b.
    """

    a: str
    b: str
    t: float
    p_dominates: float
    p_equivalent: float
    error: float
    p_wins: float


@dataclass(frozen=True)
class PairOver:
    """P(a is better than b at all times), and P(the two cross)."""

    a: str
    b: str
    p_dominates: float
    p_crosses: float
    error: float


@dataclass(frozen=True)
class Inferred:
    """A posterior in numbers; fields are the keys of `polarbear infer --json`.

    Pairs are optional; ``joint`` is None unless the model describes all times jointly.
    """

    model: str
    engine: str
    method: str
    draws: int
    seed: int
    seconds: float
    from_store: bool
    instances: int
    evidence_weight: float
    diagnostics: Diagnostics
    fit: NamedFit | None
    notes: tuple[str, ...]
    ratings: tuple[Rating, ...]
    epsilon: float | None = asked()
    pairs: tuple[PairAt, ...] | None = asked()
    joint: tuple[PairOver, ...] | None = asked()


def inferred(
    cached: CachedPosterior, shown: Sequence[int], epsilon: float | None = None
) -> Inferred:
    """The ratings at some indices of the grid, and all pairs if ``epsilon`` is given."""
    posterior, names, times = cached.posterior, cached.algorithms, cached.times
    tables = (posterior.mean(), *posterior.interval())
    compares = epsilon is not None
    return Inferred(
        model=posterior.model,
        engine=posterior.engine,
        method=posterior.method,
        draws=posterior.n_draws,
        seed=posterior.seed,
        seconds=round(posterior.seconds, 3),
        from_store=cached.from_store,
        instances=cached.instances,
        evidence_weight=posterior.evidence_weight,
        diagnostics=posterior.diagnostics,
        fit=named(posterior.fit, names, times),
        notes=posterior.notes,
        ratings=tuple(
            Rating(name, float(times[t]), *(float(table[t, i]) for table in tables))
            for i, name in enumerate(names)
            for t in shown
        ),
        epsilon=epsilon,
        pairs=None if epsilon is None else _pairs_at(cached, shown, epsilon),
        joint=_pairs_over(cached) if compares and posterior.joint else None,
    )


def _pairs_at(cached: CachedPosterior, shown: Sequence[int], epsilon: float) -> tuple[PairAt, ...]:
    """Every ordered pair at some indices of the grid."""
    at, names = relations.pointwise(cached.posterior, epsilon), cached.algorithms
    found = []
    for a, b in permutations(range(len(names)), 2):
        wins = cached.posterior.head_to_head(a, b).mean(axis=0)
        for t in shown:
            numbers = (
                cached.times[t],
                at.dominance[t, a, b],
                at.equivalence[t, a, b],
                at.dominance_error[t, a, b],
                wins[t],
            )
            found.append(PairAt(names[a], names[b], *map(float, numbers)))
    return tuple(found)


def _pairs_over(cached: CachedPosterior) -> tuple[PairOver, ...]:
    """Every ordered pair over all times."""
    over, names = relations.joint(cached.posterior), cached.algorithms
    tables = over.dominance, over.crossing, over.dominance_error
    return tuple(
        PairOver(names[a], names[b], *(float(table[a, b]) for table in tables))
        for a, b in permutations(range(len(names)), 2)
    )
