"""Relations, compared with counts of draws."""

import math

import numpy as np
import pytest

from polarbear.errors import InferenceError
from polarbear.inference import ModelOptions, infer
from polarbear.inference.relations import decision_tables, joint, pointwise
from polarbear.rankings import rank
from polarbear.rankings.choice_sets import count_choice_sets
from tests import support


def posterior_of(theta, model="gp", chains=2, wins=None):
    options = ModelOptions(model=model)
    return support.posterior_of(
        theta, chains=chains, options=options, joint=model == "gp", wins=wins
    )


@pytest.fixture
def theta():
    rng = np.random.default_rng(0)
    return rng.dirichlet(np.array([3.0, 2.5, 2.0, 0.5]), size=(500, 5))


def test_pointwise_probabilities_are_shares_of_draws(theta):
    relations = pointwise(posterior_of(theta), epsilon=0.1)
    theta_a = theta[..., :, None]
    theta_b = theta[..., None, :]
    win_probability = theta_a / (theta_a + theta_b)
    off_diagonal = ~np.eye(4, dtype=bool)
    dominance = (win_probability > 0.5).mean(axis=0)
    np.testing.assert_allclose(relations.dominance[:, off_diagonal], dominance[:, off_diagonal])
    equivalence = (np.abs(win_probability - 0.5) <= 0.1).mean(axis=0)
    np.testing.assert_allclose(relations.equivalence[:, off_diagonal], equivalence[:, off_diagonal])


@pytest.mark.parametrize(("draws", "chains"), [(500, 2), (393, 3), (1040, 4)])
def test_standard_errors_are_those_of_batch_means(draws, chains):
    theta_with_ties = np.random.default_rng(1).integers(1, 30, (draws, 2, 3)) / 30
    relations = pointwise(posterior_of(theta_with_ties, chains=chains), epsilon=0.1)
    for t, a, b in np.ndindex(2, 3, 3):
        if a == b:
            continue
        is_better = theta_with_ties[:, t, a] > theta_with_ties[:, t, b]
        by_chain = is_better.reshape(chains, -1)
        batch_size = math.isqrt(by_chain.shape[1])
        n_batches = by_chain.shape[1] // batch_size
        batches = by_chain[:, : n_batches * batch_size].reshape(-1, batch_size)
        batch_means = batches.mean(axis=1)
        error_of_batches = batch_means.std(ddof=1) / math.sqrt(len(batch_means))
        share = (is_better.sum() + 0.5) / (draws + 1)
        error_of_independent_draws = math.sqrt(share * (1 - share) / draws)
        expected = max(error_of_batches, error_of_independent_draws)
        assert relations.dominance_error[t, a, b] == pytest.approx(expected)


def test_joint_dominance_holds_at_all_times_and_crossing_is_the_complement(theta):
    relations = joint(posterior_of(theta))
    for a in range(4):
        for b in range(4):
            if a == b:
                continue
            always_better = (theta[:, :, a] > theta[:, :, b]).all(axis=1).mean()
            always_worse = (theta[:, :, a] < theta[:, :, b]).all(axis=1).mean()
            assert relations.dominance[a, b] == pytest.approx(always_better)
            assert relations.crossing[a, b] == pytest.approx(1 - always_better - always_worse)


def test_joint_relations_need_a_temporal_model(theta):
    with pytest.raises(InferenceError, match="treats times as independent"):
        joint(posterior_of(theta, model="dirichlet"))


@pytest.mark.slow
def test_standard_errors_equal_the_spread_of_repeated_inference():
    """The spread of 60 repetitions is within a third of their standard errors: a 99.9 % band."""
    sets = count_choice_sets(rank(np.random.default_rng(1).normal(size=(12, 3, 2))))
    options = ModelOptions(model="bspline", dependence="independent", draws=2000)
    times = np.array([0.0, 1.0])
    repetitions = [pointwise(infer(sets, times, options, seed=seed)) for seed in range(60)]
    off_diagonal = ~np.eye(3, dtype=bool)
    spread = np.std([r.dominance[:, off_diagonal] for r in repetitions], axis=0)
    reported_error = np.mean([r.dominance_error[:, off_diagonal] for r in repetitions], axis=0)
    ratio = np.sqrt((spread**2).mean() / (reported_error**2).mean())
    assert 0.67 < ratio < 1.33


def test_no_worse_means_better_or_equivalent(theta):
    """The probabilities are shares of draws, for ratings and for duels."""
    rng = np.random.default_rng(3)
    wins = rng.beta(20, 22, (400, 3, 1)).astype(np.float32)
    duels = posterior_of(np.full((400, 3, 2), 0.5), wins=wins)
    ratings = posterior_of(theta)
    theta_a = ratings.theta[:, :, 0]
    theta_b = ratings.theta[:, :, 1]
    for posterior, p_win in ((duels, wins[:, :, 0]), (ratings, theta_a / (theta_a + theta_b))):
        relations = pointwise(posterior, 0.05, no_worse=True)
        assert relations.no_worse[:, 0, 1] == pytest.approx((p_win >= 0.45).mean(axis=0))
        assert relations.no_worse[:, 1, 0] == pytest.approx((p_win <= 0.55).mean(axis=0))
        assert (relations.no_worse >= relations.dominance).all()
        assert (relations.no_worse >= relations.equivalence).all()
        assert (relations.no_worse_error[:, 0, 1] > 0).all()


def test_decisions_use_the_weakest_time_or_all_times_jointly(theta):
    posterior = posterior_of(theta)
    pointwise_relations = pointwise(posterior, 0.05, no_worse=True)
    joint_relations = joint(posterior)
    pointwise_tables = decision_tables(posterior, 0.05, "pointwise")
    weakest = pointwise_relations.dominance.min(axis=0)
    np.testing.assert_array_equal(pointwise_tables.dominates, weakest)
    np.testing.assert_array_equal(pointwise_tables.better, pointwise_relations.dominance)
    joint_tables = decision_tables(posterior, 0.05, "joint")
    np.testing.assert_array_equal(joint_tables.dominates, joint_relations.dominance)
    lower = pointwise_tables.shifted(-2)
    assert (lower.better < pointwise_tables.better).any()
    assert lower.errors is None
