"""Weights of instances: w of them count as one that was seen w times, in every model."""

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

LEVEL = 1e-4  # each Kolmogorov-Smirnov test fails this often by chance, with another seed
NAMES = ("A", "B", "C")
WHOLE = np.array([2, 1, 3, 1, 1, 2, 1, 1, 4, 1])
FRACTIONS = np.array([0.5, 2.5, 1, 0.25, 3, 1.5, 0.8, 1, 2, 0.1])


def positions(n: int = 3, times: int = 4, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(len(WHOLE), n, times)).cumsum(axis=2)
    return rank(steps + np.arange(n)[:, None] / 2)


def test_weighted_rankings_agree_with_integration_over_the_simplex():
    """An effective sample of 90,000 puts 0.005 at three standard errors or more."""
    places = positions(times=1)
    options = ModelOptions(model="dirichlet", draws=120_000)
    posterior = inferred_from(places, options, weights=FRACTIONS)
    truth = Simplex3(count_choice_sets(places, FRACTIONS), alpha=1.0)
    np.testing.assert_allclose(posterior.mean()[0], truth.mean(), atol=0.005)
    found = pointwise(posterior)
    assert found.dominance[0, 0, 1] == pytest.approx(truth.dominance(0, 1), abs=0.005)
    unweighted = Simplex3(count_choice_sets(places), alpha=1.0)
    assert np.abs(truth.mean() - unweighted.mean()).max() > 0.02


@pytest.mark.parametrize("model", ["dirichlet", "random-walk"])
def test_a_model_draws_the_same_of_a_weight_as_of_instances_seen_so_often(model: str):
    places, options = positions(), ModelOptions(model=model, draws=400)
    one = inferred_from(places, options, 3, WHOLE)
    other = inferred_from(np.repeat(places, WHOLE, axis=0), options, 3)
    np.testing.assert_allclose(one.theta, other.theta, atol=1e-3)
    assert one.indexed_fit is not None
    assert other.indexed_fit is not None
    assert [(w.a, w.b, w.time) for w in one.indexed_fit.worst] == [
        (w.a, w.b, w.time) for w in other.indexed_fit.worst
    ]


@pytest.mark.parametrize("weights", [WHOLE, FRACTIONS], ids=["whole", "fractions"])
def test_a_weighted_duel_is_beta_with_the_sum_of_weights_on_either_side(weights: np.ndarray):
    places = positions()
    duels = duels_of(places, weights=weights.astype(float))
    wins = Bootstrap(duels, NAMES, 4000, seed=3, concentration=3.0).wins()
    for k, (a, b) in enumerate(zip(*np.triu_indices(3, 1), strict=True)):
        won = weights[places[:, a, 1] < places[:, b, 1]].sum()
        expected = beta(1.5 + won, 1.5 + weights.sum() - won)
        assert kstest(wins[:, 1, k], expected.cdf).pvalue > LEVEL


def test_weights_of_one_change_no_bit():
    places, options = positions(), ModelOptions(draws=400)
    one = inferred_from(places, options, 3, np.ones(len(places)))
    other = inferred_from(places, options, 3)
    assert one.theta.tobytes() == other.theta.tobytes()
    assert one.notes == other.notes


def test_a_posterior_says_that_instances_have_weights():
    found = inferred_from(positions(), ModelOptions(draws=400), 3, FRACTIONS)
    assert "instances have weights, from 0.1 to 3: 10 instances count as 12.65" in found.notes
