"""Posteriors, compared with stored long NUTS runs and with one that is known exactly."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.special import betaln

from polarbear.inference import ModelOptions, infer
from polarbear.inference.relations import joint, pointwise
from polarbear.rankings import rank
from polarbear.rankings.choice_sets import count_choice_sets
from tests.support import inferred_from

STORED = json.loads(
    (Path(__file__).parents[1] / "data" / "known-posteriors.json").read_text(encoding="utf-8")
)
CASES = {case["model"]: case for case in STORED["cases"]}


@pytest.fixture(scope="module")
def sets():
    return count_choice_sets(np.array(STORED["positions"]))


def assert_agrees_with_stored_run(posterior, case):
    """Compare a posterior with a stored NUTS run: within five joint standard errors.

    Probabilities at which decisions are made are within 0.01. A model has some 40 probabilities,
    so that one seed in 40,000 fails by chance.
    """
    assert case["usable"]
    assert posterior.usable, posterior.diagnostics
    relations = pointwise(posterior)
    expected = np.array(case["dominance"])
    error = np.hypot(relations.dominance_error, np.array(case["dominance_error"]))
    difference = np.abs(relations.dominance - expected)
    assert (difference <= 5 * error).all()
    is_near_a_decision = (expected > 0.9) & (expected < 0.999)
    assert is_near_a_decision.any()
    assert difference[is_near_a_decision].max() < 0.01
    np.testing.assert_allclose(posterior.mean(), case["mean"], atol=0.006)
    if posterior.joint:
        np.testing.assert_allclose(joint(posterior).dominance, case["joint_dominance"], atol=0.02)
    for name, mean in case["hyper"].items():
        assert np.log(posterior.hyper[name]).mean() == pytest.approx(mean, abs=0.03)


@pytest.mark.parametrize("model", sorted(CASES))
def test_split_hmc_agrees_with_nuts(sets, model):
    options = ModelOptions(model=model, dependence="independent", draws=40_000)
    assert_agrees_with_stored_run(
        infer(sets, np.array(STORED["times"]), options, seed=2), CASES[model]
    )


@pytest.mark.slow
def test_nuts_agrees_with_its_stored_run(sets):
    """A short run keeps the method tested: within five joint standard errors."""
    case = CASES["bspline"]
    options = ModelOptions(
        model="bspline", dependence="independent", method="mcmc", draws=1000, chains=2
    )
    posterior = infer(sets, np.array(STORED["times"]), options, seed=3)
    assert posterior.method == "mcmc"
    relations = pointwise(posterior)
    error = np.hypot(relations.dominance_error, np.array(case["dominance_error"]))
    assert (np.abs(relations.dominance - np.array(case["dominance"])) <= 5 * error).all()


def always_the_same(instances, n, n_times):
    return np.tile(np.arange(float(n))[None, :, None], (instances, 1, n_times))


@pytest.mark.slow
@pytest.mark.parametrize(
    "values",
    [
        always_the_same(1, 2, 1),
        always_the_same(3, 2, 5),
        np.random.default_rng(2).normal(size=(3, 2, 5)),
        np.random.default_rng(3).normal(size=(20, 2, 4)),
    ],
    ids=["one instance", "always the same", "few instances", "many instances"],
)
def test_for_two_algorithms_kappa_has_its_exact_distribution(values):
    """The ratings are integrated out as beta functions, and kappa on a fine grid.

    Five quantiles are within 0.04 of their levels: four standard errors for 2,500 effective draws.
    """
    posterior = inferred_from(rank(values), ModelOptions(model="hierarchical", draws=20_000))
    assert posterior.usable, posterior.diagnostics.problems
    wins = count_choice_sets(rank(values)).wins
    log_kappa = np.linspace(-14, 6, 4001)
    a = np.exp(log_kappa)[:, None] / 2
    log_density = log_kappa - a[:, 0]  # The prior of kappa is exponential with mean n.
    log_density += (betaln(a + wins[:, 0], a + wins[:, 1]) - betaln(a, a)).sum(axis=1)
    weights = np.exp(log_density - log_density.max())
    levels = [0.05, 0.25, 0.5, 0.75, 0.95]
    quantiles = np.quantile(np.log(posterior.hyper["kappa"]), levels)
    exact_levels = np.interp(quantiles, log_kappa, np.cumsum(weights) / weights.sum())
    np.testing.assert_allclose(exact_levels, levels, atol=0.04)
