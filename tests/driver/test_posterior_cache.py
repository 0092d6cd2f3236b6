"""From stored runs to a posterior that is kept and answered once."""

import numpy as np
import polars as pl
import pytest

from polarbear.driver.kept_posteriors import store_posterior
from polarbear.facts.evidence import cached_posterior, evidence_of
from polarbear.inference import ModelOptions, relations
from polarbear.store import StoreOnDisk
from tests.report.stores import THREE, runs_of

QUICK = ModelOptions(model="dirichlet", draws=2000)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> StoreOnDisk:
    return runs_of(tmp_path_factory.mktemp("learn"), 400, THREE)


def test_rankings_are_stored_with_the_posterior(store: StoreOnDisk):
    evidence = evidence_of(store)
    with store.writing():
        store_posterior(store, evidence, cached_posterior(store, evidence, QUICK, seed=5))
    ranked = pl.read_parquet(store.path / "rankings" / f"derived-{evidence.key}-*.parquet")
    assert len(ranked) == 400 * 2
    first = ranked.filter((pl.col("instance") == "synthetic-0") & (pl.col("t") == 10.0))
    values = evidence.grid.values[evidence.grid.instances.index("synthetic-0"), :, 0]
    assert np.array_equal(np.argsort(first["position"][0]), np.argsort(values))
    assert store.on_grid(evidence.grid.times).values.shape == (400, 3, 2)  # not taken for imported


def test_the_field_changes_first_places_and_no_duel(store: StoreOnDisk):
    evidence = evidence_of(store)
    options = ModelOptions(draws=400)
    everything = cached_posterior(store, evidence, options, 1, ["A", "B", "C"])
    among_two = cached_posterior(store, evidence, options, 1, ["A", "B"])
    assert among_two.key != everything.key == cached_posterior(store, evidence, options, 1).key
    np.testing.assert_array_equal(among_two.wins, everything.wins)
    assert not np.array_equal(among_two.theta, everything.theta)


@pytest.mark.parametrize("options", [QUICK, QUICK.model_copy(update={"model": "hierarchical"})])
def test_a_posterior_that_is_kept_is_the_same_to_the_bit(store: StoreOnDisk, options: ModelOptions):
    evidence = evidence_of(store)
    fresh = cached_posterior(store, evidence, options, seed=2)
    assert not fresh.from_store
    with store.writing():
        store_posterior(store, evidence, fresh)
    kept = cached_posterior(store, evidence_of(store), options, seed=2)
    assert kept.from_store
    assert kept.theta.tobytes() == fresh.theta.tobytes()
    assert kept.diagnostics == fresh.diagnostics
    assert kept.options == options
    assert (kept.algorithms, kept.axis) == (fresh.algorithms, fresh.axis)
    assert kept.times.tolist() == fresh.times.tolist() == evidence.grid.times.tolist()
    assert (kept.instances, kept.key) == (fresh.instances, fresh.key)
    dominance = relations.pointwise(kept).dominance
    assert dominance.tobytes() == relations.pointwise(fresh).dominance.tobytes()
    assert set(kept.hyper) == set(fresh.hyper)
    for name, draws in fresh.hyper.items():
        assert np.array_equal(kept.hyper[name], draws)


def test_another_question_is_not_answered_from_the_store(store: StoreOnDisk):
    evidence = evidence_of(store)
    with store.writing():
        store_posterior(store, evidence, cached_posterior(store, evidence, QUICK, seed=3))
    assert cached_posterior(store, evidence, QUICK, seed=3).from_store
    assert not cached_posterior(store, evidence, QUICK, seed=4).from_store
    other = QUICK.model_copy(update={"dirichlet_concentration": 2.0})
    assert not cached_posterior(store, evidence, other, seed=3).from_store
    pair = evidence_of(store, ["A", "C"])
    assert not cached_posterior(store, pair, QUICK, seed=3).from_store


def test_values_within_the_tolerance_are_tied(store: StoreOnDisk):
    assert len(np.unique(evidence_of(store, None, 1e9).positions)) == 1
