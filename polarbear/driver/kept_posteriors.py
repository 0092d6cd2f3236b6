"""Keeps posteriors in the store, together with the rankings that they were inferred from."""

from polarbear.facts.evidence import Evidence
from polarbear.inference import Posterior
from polarbear.store import StoreOnDisk


def store_posterior(store: StoreOnDisk, evidence: Evidence, posterior: Posterior) -> None:
    """Store a posterior and its rankings; the caller holds the store's lock."""
    store.posteriors.add(posterior, evidence.key, evidence.grid, evidence.positions)
