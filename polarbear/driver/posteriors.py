"""The posterior of a store's evidence, each kept and answered once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from polarbear import __version__
from polarbear.driver.evidence import Evidence
from polarbear.inference import ModelOptions, Posterior
from polarbear.store import Store
from polarbear.store.records import (
    choice_sets_table,
    posterior_from_table,
    posterior_to_table,
    rankings_table,
)


@dataclass(frozen=True)
class Learned:
    """A posterior with the names of what it is about, and where it came from."""

    posterior: Posterior
    algorithms: tuple[str, ...]
    times: np.ndarray
    instances: int
    key: str
    from_store: bool


def learn(
    store: Store,
    evidence: Evidence,
    options: ModelOptions,
    seed: int,
    field: Sequence[str] | None = None,
    known: Learned | None = None,
) -> Learned:
    """The posterior of this evidence: from the store if it is there, otherwise inferred.

    ``field`` names who competes for first places, where a race has put others out. What is
    ``known`` is the answer if it is of the same evidence and settings.
    """
    settings = {"options": options.model_dump(mode="json"), "seed": seed, "version": __version__}
    names = evidence.grid.algorithms
    inside = None
    if field is not None and not options.plackett_luce:
        inside = [names.index(name) for name in field]
        settings["field"] = inside
    text = json.dumps({"evidence": evidence.key, **settings}, sort_keys=True)
    key = hashlib.sha256(text.encode()).hexdigest()[:16]
    if known is not None and known.key == key:
        return known
    kept = store.posterior(key)
    if kept is not None:
        posterior = posterior_from_table(*kept)
    else:
        from polarbear.inference import infer  # heavy, and not needed for what is kept

        inferred = infer(
            evidence.choice_sets,
            evidence.unit_times,
            options,
            seed,
            names=names,
            positions=evidence.positions,
            problems=evidence.problems,
            weights=evidence.weights,
            field=inside,
        )
        posterior = _as_kept(inferred)
    grid = evidence.grid
    return Learned(
        posterior, grid.algorithms, grid.times, evidence.n_problems, key, kept is not None
    )


def learn_newcomer(store: Store, others: Learned, evidence: Evidence, seed: int) -> Learned:
    """What all rankings say of the last algorithm, given what is believed of the others."""
    text = json.dumps({"others": others.key, "evidence": evidence.key, "seed": seed})
    key = hashlib.sha256(text.encode()).hexdigest()[:16]
    kept = store.posterior(key)
    grid = evidence.grid
    if kept is not None:
        posterior = posterior_from_table(*kept)
    else:
        from polarbear.inference import extend

        last = len(grid.algorithms) - 1
        # its rankings repeat each other over time as much as those of the others do
        weighted = evidence.choice_sets.weighted(others.posterior.evidence_weight)
        extended = extend(others.posterior, weighted, last, seed, names=grid.algorithms)
        posterior = _as_kept(extended)
    return Learned(
        posterior, grid.algorithms, grid.times, evidence.n_problems, key, kept is not None
    )


def keep(store: Store, evidence: Evidence, learned: Learned) -> None:
    """Store a posterior and its evidence; the caller holds the store's lock."""
    store.add_derived(evidence.key, rankings_table(evidence.grid, evidence.positions))
    if learned.posterior.options.plackett_luce and evidence.choice_sets.steps is None:
        store.add_choice_sets(evidence.key, choice_sets_table(evidence.grid, evidence.choice_sets))
    store.add_posterior(
        learned.key, *posterior_to_table(learned.posterior, evidence.grid, evidence.key)
    )


def _as_kept(posterior: Posterior) -> Posterior:
    """As the store keeps it, so that an answer is the same whether it was kept or not."""
    return replace(posterior, theta=posterior.theta.astype(np.float32).astype(float))
