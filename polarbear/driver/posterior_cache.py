"""Posteriors of a store's evidence: inferred once, then read back."""

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
from polarbear.store.posteriors import (
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
    grid = evidence.grid
    draws, facts = posterior_to_table(cached.posterior, grid, cached.instances, evidence.key)
    store.posteriors.add(cached.key, draws, facts, rankings_table(grid, evidence.positions))
