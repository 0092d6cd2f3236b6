"""`infer`: refused data, notes, fallbacks, and reproducibility."""

import re
import sys
from dataclasses import replace
from threading import Event

import numpy as np
import pytest

from polarbear.errors import InferenceError, MissingExtraError
from polarbear.inference import ModelOptions, infer
from polarbear.inference.models import MODELS, rating_models
from polarbear.inference.plackett_luce import engine, lattice
from polarbear.numerics.threads import CancelledWork
from polarbear.rankings import rank
from polarbear.rankings.choice_sets import count_choice_sets


def random_sets(instances=10, n=3, n_times=6, seed=0):
    return count_choice_sets(rank(np.random.default_rng(seed).normal(size=(instances, n, n_times))))


GRID = np.linspace(0, 1, 6)


@pytest.mark.parametrize("model", sorted(rating_models()))
def test_auto_picks_and_names_an_exact_method_whose_diagnostics_pass(model):
    posterior = infer(
        random_sets(), GRID, ModelOptions(model=model, dependence="independent", draws=2000), seed=1
    )
    assert posterior.method == "split-hmc"
    assert posterior.engine == "native"
    assert posterior.usable, posterior.diagnostics.problems
    assert posterior.theta.shape == (2000, 6, 3)
    np.testing.assert_allclose(posterior.theta.sum(axis=2), 1, atol=1e-12)
    assert posterior.joint == MODELS[model].temporal
    assert set(posterior.hyper) == set(MODELS[model].hyperparameters)
    assert all(x.shape == (2000,) and (x > 0).all() for x in posterior.hyper.values())
    assert posterior.notes == ()


@pytest.mark.slow
@pytest.mark.parametrize("model", ["dirichlet", "hierarchical", "gp"])
@pytest.mark.parametrize("method", ["auto", "laplace"])
def test_draws_depend_on_the_seed_but_not_on_the_number_of_threads(model, method):
    options = ModelOptions(model=model, dependence="independent", method=method, draws=2000)
    sets = random_sets(n_times=19)
    times = np.linspace(0, 1, 19)
    with_one_thread = infer(sets, times, options, seed=5, threads=1).theta
    with_three_threads = infer(sets, times, options, seed=5, threads=3).theta
    with_other_seed = infer(sets, times, options, seed=6, threads=1).theta
    np.testing.assert_array_equal(with_one_thread, with_three_threads)
    assert not np.array_equal(with_one_thread, with_other_seed)


@pytest.mark.parametrize("model", ["dirichlet", "gp"])
def test_a_cancelled_inference_ends_early(model: str):
    cancelled = Event()
    cancelled.set()
    options = ModelOptions(model=model, dependence="independent", draws=2000)
    with pytest.raises(CancelledWork):
        infer(random_sets(), np.array([0.0, 0.5, 1.0]), options, cancelled=cancelled)


@pytest.mark.parametrize("model", ["dirichlet", "random-walk"])
def test_forty_algorithms_can_be_ranked(model):
    posterior = infer(
        random_sets(12, n=40, n_times=2),
        np.array([0.0, 1.0]),
        ModelOptions(model=model, dependence="independent", draws=2400),
    )
    assert posterior.theta.shape == (2400, 2, 40)
    assert posterior.usable, posterior.diagnostics.problems


def test_rankings_of_single_algorithms_are_refused():
    sets = count_choice_sets(rank(np.zeros((2, 2, 6)), np.zeros((2, 2, 6), dtype=bool)))
    with pytest.raises(InferenceError, match="no ranking has two algorithms"):
        infer(sets, GRID, ModelOptions(model="dirichlet"))


@pytest.mark.parametrize("model", sorted(name for name in MODELS if MODELS[name].temporal))
def test_a_temporal_model_is_refused_without_the_rankings_for_its_composite_weight(model):
    options = ModelOptions(model=model, draws=2000)
    with pytest.raises(InferenceError, match="or set dependence='independent'"):
        infer(random_sets(), GRID, options)
    with pytest.raises(InferenceError, match=r"3 algorithms, 6 times\], found .* \(10, 6, 3\)"):
        infer(random_sets(), GRID, options, positions=np.zeros((10, 6, 3), dtype=np.int16))
    unweighted = options.model_copy(update={"dependence": "independent"})
    assert infer(random_sets(), GRID, unweighted).evidence_weight == 1


def notes_of(values, present=None, model="dirichlet"):
    sets = count_choice_sets(rank(values, present))
    times = np.linspace(0, 1, values.shape[2])
    posterior = infer(sets, times, ModelOptions(model=model, dependence="independent", draws=2000))
    assert np.isfinite(posterior.theta).all()
    return " / ".join(posterior.notes)


@pytest.mark.parametrize("model", ["dirichlet", "gp"])
def test_a_gap_in_the_grid_is_noted_and_filled_by_the_model(model):
    values = np.random.default_rng(1).normal(size=(9, 3, 6))
    present = np.ones(values.shape, dtype=bool)
    present[:, :, 2:4] = False
    notes = notes_of(values, present, model)
    assert "2 of 6 timepoints without rankings (first: timepoint 3)" in notes


def test_algorithms_that_never_met_are_noted():
    values = np.random.default_rng(2).normal(size=(8, 4, 3))
    present = np.ones(values.shape, dtype=bool)
    present[:4, 0] = False
    present[4:, 1] = False
    assert "1 pair of algorithms never ranked together" in notes_of(values, present)
    present[:4, :2] = False
    present[4:, :2] = True
    present[4:, 2:] = False
    groups = "algorithm 1, algorithm 2 | algorithm 3, algorithm 4"
    assert f"no ranking connects these groups of algorithms: {groups}" in notes_of(values, present)


@pytest.mark.parametrize("model", sorted(rating_models()))
def test_the_posterior_of_ties_at_one_time_is_centred_on_equality(model):
    sets = count_choice_sets(rank(np.zeros((10, 3, 1))))
    posterior = infer(sets, np.zeros(1), ModelOptions(model=model, draws=4000))
    assert posterior.usable, posterior.diagnostics.problems
    # The tolerance is six standard errors, with a posterior deviation of theta of some 0.12.
    np.testing.assert_allclose(posterior.mean(), 1 / 3, atol=0.015)


def test_a_single_instance_and_sampled_ties_are_noted():
    assert "only one instance" in notes_of(np.random.default_rng(0).normal(size=(1, 3, 4)))
    values = np.zeros((2, 14, 1))
    values[:, 0] = -1
    assert "2 ties too wide" in notes_of(values)


@pytest.fixture
def _without_nutpie(monkeypatch):
    monkeypatch.setitem(sys.modules, "nutpie", None)


def native_posterior(model, **settings):
    options = ModelOptions(model=model, dependence="independent", draws=2000, **settings)
    return infer(random_sets(), GRID, options, seed=1)


@pytest.mark.usefixtures("_without_nutpie")
def test_without_nutpie_mcmc_names_the_package_and_the_fallback_suggests_narrower_priors(
    monkeypatch,
):
    with pytest.raises(MissingExtraError, match=r"mcmc needs the package 'nutpie'.*\.\[nuts\]"):
        native_posterior("dirichlet", method="mcmc")
    monkeypatch.setattr(lattice, "MAX_NODES", 1)
    with pytest.raises(InferenceError, match=r"narrower priors would help\); .*'nutpie'.*nuts"):
        native_posterior("gp")


SPLIT_HMC = engine.METHODS["split-hmc"]


@pytest.fixture
def _diverging(monkeypatch):
    """Make split HMC report divergences, so that its diagnostics fail."""

    def diverging(*arguments):
        return replace(SPLIT_HMC(*arguments), divergences=3)

    monkeypatch.setitem(engine.METHODS, "split-hmc", diverging)
    monkeypatch.setattr(engine, "SECOND", engine.FIRST)


@pytest.mark.usefixtures("_diverging")
def test_nuts_is_used_if_split_hmc_does_not_converge(monkeypatch):
    """Split HMC stands in for NUTS, which is slow and is tested in test_known_posteriors.py."""
    monkeypatch.setitem(engine.METHODS, "mcmc", SPLIT_HMC)
    posterior = native_posterior("bspline")
    assert posterior.method == "mcmc"
    assert posterior.usable, posterior.diagnostics
    assert any("split-hmc did not converge: 3 transitions diverged" in n for n in posterior.notes)


@pytest.mark.usefixtures("_diverging", "_without_nutpie")
@pytest.mark.parametrize(
    ("max_parameters", "note"),
    [(5, "the method 'mcmc' may, but takes long"), (50, "'mcmc' was not tried: .*'nutpie'")],
)
def test_a_failed_posterior_is_marked_with_a_remedy(monkeypatch, max_parameters, note):
    monkeypatch.setattr(engine, "MAX_NUTS_PARAMETERS", max_parameters)
    posterior = native_posterior("bspline")
    assert posterior.method == "split-hmc"
    assert not posterior.usable
    assert re.search(note, "\n".join(posterior.notes))
