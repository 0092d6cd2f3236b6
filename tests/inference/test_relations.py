"""Relations against counting draws by hand."""

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
    found = pointwise(posterior_of(theta), epsilon=0.1)
    win = theta[..., :, None] / (theta[..., :, None] + theta[..., None, :])
    off = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose(found.dominance[:, off], (win > 0.5).mean(axis=0)[:, off])
    near = (np.abs(win - 0.5) <= 0.1).mean(axis=0)
    np.testing.assert_allclose(found.equivalence[:, off], near[:, off])


@pytest.mark.parametrize(("draws", "chains"), [(500, 2), (393, 3), (1040, 4)])
def test_errors_are_those_of_means_of_batches(draws, chains):
    theta = np.random.default_rng(1).integers(1, 30, (draws, 2, 3)) / 30  # with ties
    found = pointwise(posterior_of(theta, chains=chains), epsilon=0.1)
    for t, a, b in np.ndindex(2, 3, 3):
        if a != b:
            by_chain = (theta[:, t, a] > theta[:, t, b]).reshape(chains, -1)
            batch = math.isqrt(by_chain.shape[1])
            count = by_chain.shape[1] // batch
            batches = by_chain[:, : count * batch].reshape(-1, batch).mean(axis=1)
            share = (by_chain.sum() + 0.5) / (draws + 1)
            independent = math.sqrt(share * (1 - share) / draws)
            expected = max(batches.std(ddof=1) / math.sqrt(len(batches)), independent)
            assert found.dominance_error[t, a, b] == pytest.approx(expected)


def test_joint_dominance_holds_at_all_times_and_crossing_is_what_remains(theta):
    found = joint(posterior_of(theta))
    for a in range(4):
        for b in range(4):
            if a == b:
                continue
            above = (theta[:, :, a] > theta[:, :, b]).all(axis=1).mean()
            below = (theta[:, :, a] < theta[:, :, b]).all(axis=1).mean()
            assert found.dominance[a, b] == pytest.approx(above)
            assert found.crossing[a, b] == pytest.approx(1 - above - below)


def test_joint_relations_need_a_temporal_model(theta):
    with pytest.raises(InferenceError, match="treats times as independent"):
        joint(posterior_of(theta, model="dirichlet"))


@pytest.mark.slow
def test_standard_errors_are_those_of_repeated_inference():
    """Spread of 60 repetitions within a third of what each says of itself (a 99.9 % band)."""
    sets = count_choice_sets(rank(np.random.default_rng(1).normal(size=(12, 3, 2))))
    options = ModelOptions(model="bspline", dependence="independent", draws=2000)
    found = [pointwise(infer(sets, np.array([0.0, 1.0]), options, seed=seed)) for seed in range(60)]
    off = ~np.eye(3, dtype=bool)
    spread = np.std([f.dominance[:, off] for f in found], axis=0)
    said = np.mean([f.dominance_error[:, off] for f in found], axis=0)
    ratio = np.sqrt((spread**2).mean() / (said**2).mean())
    assert 0.67 < ratio < 1.33


def test_no_worse_is_to_be_better_or_as_good(theta):
    """Probabilities of ratings and of duels, counted draw by draw."""
    rng = np.random.default_rng(3)
    wins = rng.beta(20, 22, (400, 3, 1)).astype(np.float32)
    duels = posterior_of(np.full((400, 3, 2), 0.5), wins=wins)
    ratings = posterior_of(theta)
    share = ratings.theta[:, :, :1] / (ratings.theta[:, :, :1] + ratings.theta[:, :, 1:2])
    for posterior, won in ((duels, wins), (ratings, share)):
        found = pointwise(posterior, 0.05, no_worse=True)
        assert found.no_worse[:, 0, 1] == pytest.approx((won[:, :, 0] >= 0.45).mean(axis=0))
        assert found.no_worse[:, 1, 0] == pytest.approx((won[:, :, 0] <= 0.55).mean(axis=0))
        assert (found.no_worse >= found.dominance).all()
        assert (found.no_worse >= found.equivalence).all()
        assert (found.no_worse_error[:, 0, 1] > 0).all()


def test_decisions_use_the_weakest_time_or_all_times_jointly(theta):
    posterior = posterior_of(theta)
    at, over = pointwise(posterior, 0.05, no_worse=True), joint(posterior)
    by_time = decision_tables(posterior, 0.05, "pointwise")
    np.testing.assert_array_equal(by_time.dominates, at.dominance.min(axis=0))
    np.testing.assert_array_equal(by_time.better, at.dominance)
    jointly = decision_tables(posterior, 0.05, "joint")
    np.testing.assert_array_equal(jointly.dominates, over.dominance)
    lower = by_time.shifted(-2)
    assert (lower.better < by_time.better).any()
    assert lower.errors is None
