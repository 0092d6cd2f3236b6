"""Keeps posteriors in the store, together with the rankings that they were inferred from."""

from polarbear.facts.evidence import CachedPosterior, Evidence
from polarbear.store import StoreOnDisk


def store_posterior(store: StoreOnDisk, evidence: Evidence, cached: CachedPosterior) -> None:
    """Store a posterior and its rankings; the caller holds the store's lock."""
    store.posteriors.add(
        cached.key,
        cached.posterior,
        evidence.grid,
        cached.instances,
        evidence.key,
        evidence.positions,
    )
