"""Weights of instances: in every model, a weight of w counts as w equal instances."""

import numpy as np
import pytest
from scipy.stats import beta, kstest

from polarbear.inference import ModelOptions
from polarbear.inference.empirical.bootstrap import Bootstrap
from polarbear.inference.relations import pointwise
from polarbear.rankings import rank
from polarbear.rankings.choice_sets import count_choice_sets
from polarbear.rankings.duels import duels_of
from tests.support import inferred_from

from .quadrature import Simplex3

KS_LEVEL = 1e-4  # The share of seeds for which a Kolmogorov-Smirnov test fails by chance.
NAMES = ("A", "B", "C")
INTEGERS = np.array([2, 1, 3, 1, 1, 2, 1, 1, 4, 1])
FRACTIONS = np.array([0.5, 2.5, 1, 0.25, 3, 1.5, 0.8, 1, 2, 0.1])


def random_positions(n: int = 3, times: int = 4, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(len(INTEGERS), n, times)).cumsum(axis=2)
    return rank(steps + np.arange(n)[:, None] / 2)


def test_weighted_rankings_agree_with_integration_over_the_simplex():
    """0.005 is at least three standard errors with an effective sample size of 90,000."""
    positions = random_positions(times=1)
    options = ModelOptions(model="dirichlet", draws=120_000)
    posterior = inferred_from(positions, options, weights=FRACTIONS)
    exact = Simplex3(count_choice_sets(positions, FRACTIONS), alpha=1.0)
    np.testing.assert_allclose(posterior.mean()[0], exact.mean(), atol=0.005)
    relations = pointwise(posterior)
    assert relations.dominance[0, 0, 1] == pytest.approx(exact.dominance(0, 1), abs=0.005)
    unweighted = Simplex3(count_choice_sets(positions), alpha=1.0)
    assert np.abs(exact.mean() - unweighted.mean()).max() > 0.02


@pytest.mark.parametrize("model", ["dirichlet", "random-walk"])
def test_the_draws_of_a_model_are_the_same_for_weights_and_for_repeated_instances(model: str):
    positions = random_positions()
    options = ModelOptions(model=model, draws=400)
    weighted = inferred_from(positions, options, 3, INTEGERS)
    repeated = inferred_from(np.repeat(positions, INTEGERS, axis=0), options, 3)
    np.testing.assert_allclose(weighted.theta, repeated.theta, atol=1e-3)
    assert weighted.indexed_fit is not None
    assert repeated.indexed_fit is not None
    assert [(w.a, w.b, w.time) for w in weighted.indexed_fit.worst] == [
        (w.a, w.b, w.time) for w in repeated.indexed_fit.worst
    ]


@pytest.mark.parametrize("weights", [INTEGERS, FRACTIONS], ids=["integers", "fractions"])
def test_a_weighted_duel_is_beta_with_the_sum_of_weights_for_each_algorithm(weights: np.ndarray):
    positions = random_positions()
    duels = duels_of(positions, weights=weights.astype(float))
    wins = Bootstrap(duels, NAMES, 4000, seed=3, concentration=3.0).wins()
    for k, (a, b) in enumerate(zip(*np.triu_indices(3, 1), strict=True)):
        won = weights[positions[:, a, 1] < positions[:, b, 1]].sum()
        expected = beta(1.5 + won, 1.5 + weights.sum() - won)
        assert kstest(wins[:, 1, k], expected.cdf).pvalue > KS_LEVEL


def test_weights_of_one_change_nothing():
    positions = random_positions()
    options = ModelOptions(draws=400)
    weighted = inferred_from(positions, options, 3, np.ones(len(positions)))
    unweighted = inferred_from(positions, options, 3)
    assert weighted.theta.tobytes() == unweighted.theta.tobytes()
    assert weighted.notes == unweighted.notes


def test_a_note_of_the_posterior_says_that_instances_have_weights():
    posterior = inferred_from(random_positions(), ModelOptions(draws=400), 3, FRACTIONS)
    assert "instances have weights, from 0.1 to 3: 10 instances count as 12.65" in posterior.notes
