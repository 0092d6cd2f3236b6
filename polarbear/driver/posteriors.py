"""The posterior of a store's evidence, each kept and answered once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from polarbear.inference.empirical.engine import Empirical


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
    empirical: Empirical | None = None,
) -> Learned:
    """The posterior of this evidence: from the store if it is there, otherwise inferred.

    ``field`` names who competes for first places, where a race has put others out; ``empirical`` is
    the empirical model of this evidence, where somebody has it at hand.
    """
    inside = _places(evidence, options, field)
    key = key_of(evidence, options, seed, field)
    posterior = kept = _kept(store, key, options.draws)
    if posterior is None:
        from polarbear.inference import infer  # heavy, and not needed for what is kept

        inferred = infer(
            evidence.choice_sets,
            evidence.unit_times,
            options,
            seed,
            names=evidence.grid.algorithms,
            positions=evidence.positions,
            problems=evidence.problems,
            weights=evidence.weights,
            field=inside,
            empirical=empirical,
        )
        posterior = _as_kept(inferred)
    return _learned(posterior, evidence, key, kept is not None)


def learn_among(store: Store, evidence: Evidence, known: Learned, field: Sequence[str]) -> Learned:
    """What is known of this evidence, first places being among these."""
    options, seed = known.posterior.options, known.posterior.seed
    inside = _places(evidence, options, field)
    key = key_of(evidence, options, seed, field)
    if inside is None or key == known.key:
        return known
    posterior = kept = _kept(store, key, options.draws)
    if posterior is None:
        posterior = _as_kept(evidence.empirical(options).among(known.posterior, inside))
    return _learned(posterior, evidence, key, kept is not None)


def _places(
    evidence: Evidence, options: ModelOptions, field: Sequence[str] | None
) -> list[int] | None:
    """Of those who compete for first places, where the model has to know."""
    if field is None or options.plackett_luce:
        return None
    return [evidence.grid.algorithms.index(name) for name in field]


def key_of(
    evidence: Evidence, options: ModelOptions, seed: int, field: Sequence[str] | None = None
) -> str:
    """Names the posterior that `learn` would give."""
    inside = _places(evidence, options, field)
    settings = {"options": options.model_dump(mode="json"), "seed": seed, "version": __version__}
    if inside is not None:
        settings["field"] = inside
    text = json.dumps({"evidence": evidence.key, **settings}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _learned(posterior: Posterior, evidence: Evidence, key: str, from_store: bool) -> Learned:
    grid = evidence.grid
    return Learned(posterior, grid.algorithms, grid.times, evidence.n_problems, key, from_store)


def is_kept(store: Store, key: str, draws: int) -> bool:
    """Whether the posterior of this name is in the store, with so many draws at least; one that
    cannot be read counts as there: whoever reads it says what is wrong."""
    if key not in store.posterior_keys():
        return False
    facts = store.glance_at_posterior(key)
    return facts is None or facts["options"]["draws"] >= draws


def _kept(store: Store, key: str, draws: int) -> Posterior | None:
    """What the store has under this name, unless it is a part that a race keeps in passing."""
    kept = store.posterior(key)
    if kept is None or kept[1]["options"]["draws"] < draws:
        return None
    return posterior_from_table(*kept)


def keep(store: Store, evidence: Evidence, learned: Learned, key: str | None = None) -> None:
    """Store a posterior and its evidence; the caller holds the store's lock. It may be a part of
    the one that has the ``key``."""
    store.add_derived(evidence.key, rankings_table(evidence.grid, evidence.positions))
    if learned.posterior.options.plackett_luce and evidence.choice_sets.steps is None:
        store.add_choice_sets(evidence.key, choice_sets_table(evidence.grid, evidence.choice_sets))
    store.add_posterior(
        key or learned.key, *posterior_to_table(learned.posterior, evidence.grid, evidence.key)
    )


def _as_kept(posterior: Posterior) -> Posterior:
    """As the store keeps it, so that an answer is the same whether it was kept or not."""
    return replace(posterior, theta=posterior.theta.astype(np.float32, copy=False).astype(float))
