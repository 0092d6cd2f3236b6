"""The composite weight: rankings that repeat each other over time count for less."""

import numpy as np
import pytest

from polarbear.inference import ModelOptions, infer
from polarbear.inference.models import MODELS
from polarbear.inference.plackett_luce.composite_weight import composite_weight
from polarbear.rankings import ABSENT, rank
from polarbear.rankings.choice_sets import count_choice_sets

TEMPORAL = sorted(name for name, model in MODELS.items() if model.temporal)
GRID = np.linspace(0, 1, 20)


def wandering_positions(instances, correlation, seed, n=4):
    """Rankings of equally good algorithms, whose noise is correlated from one time to the next."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((instances, n, len(GRID)))
    for t in range(1, len(GRID)):
        innovation = np.sqrt(1 - correlation**2) * noise[:, :, t]
        noise[:, :, t] = correlation * noise[:, :, t - 1] + innovation
    return rank(noise)


def weight_of(positions, **options):
    model_options = ModelOptions(**{"model": "gp", **options})
    return composite_weight(positions, count_choice_sets(positions), GRID, model_options)


@pytest.mark.parametrize("model", TEMPORAL)
def test_the_weight_falls_with_the_correlation_over_time_and_is_near_one_without(model):
    uncorrelated = weight_of(wandering_positions(200, 0.0, seed=1), model=model)
    correlated = weight_of(wandering_positions(200, 0.9, seed=1), model=model)
    constant = weight_of(wandering_positions(200, 1.0, seed=1), model=model)
    assert 0.85 < uncorrelated <= 1
    assert constant < correlated < 0.75 * uncorrelated


def test_rankings_that_never_change_count_as_one_where_a_model_pools_all_times():
    """A squared exponential with a lengthscale far beyond the grid allows only constants."""
    flat = {"kernel": "squared-exponential", "lengthscale": {"shape": 400.0, "scale": 40_000.0}}
    weight = weight_of(wandering_positions(300, 1.0, seed=2), **flat)
    assert weight == pytest.approx(1 / len(GRID), rel=0.05)


def test_a_model_without_smoothing_has_a_weight_near_one():
    """The steps of the walk are so wide that times are independent and nothing is repeated."""
    wide = {"model": "random-walk", "sigma": {"location": 5.0, "scale": 0.01}}
    assert weight_of(wandering_positions(300, 1.0, seed=3), **wide) > 0.9


def test_the_weight_of_few_instances_is_lower_than_that_of_many():
    weight_of_few = weight_of(wandering_positions(4, 0.0, seed=5))
    weight_of_many = weight_of(wandering_positions(400, 0.0, seed=5))
    assert weight_of_few < 0.6 < 0.9 < weight_of_many


def test_one_instance_absent_algorithms_and_ties_have_a_weight():
    positions = wandering_positions(10, 0.5, seed=8)
    assert 0 < weight_of(positions[:1]) < 1
    assert 0 < weight_of(np.zeros_like(positions)) <= 1
    partial = positions.copy()
    partial[5:, 3] = ABSENT
    partial[:, :, 10:] = ABSENT
    assert 0 < weight_of(rank(partial.astype(float), partial != ABSENT)) < 1


def test_the_posterior_is_that_of_weighted_choice_sets_and_has_a_note():
    positions = wandering_positions(16, 0.9, seed=9)
    sets = count_choice_sets(positions)
    options = ModelOptions(model="bspline", draws=2000)
    posterior = infer(sets, GRID, options, seed=1, positions=positions)
    weight = composite_weight(positions, sets, GRID, options)
    assert posterior.evidence_weight == weight < 1
    unweighted_options = options.model_copy(update={"dependence": "independent"})
    of_weighted_sets = infer(sets.weighted(weight), GRID, unweighted_options, seed=1)
    np.testing.assert_array_equal(posterior.theta, of_weighted_sets.theta)
    assert any("repeat each other" in note for note in posterior.notes)
    assert infer(sets, GRID, unweighted_options, seed=1, positions=positions).evidence_weight == 1
