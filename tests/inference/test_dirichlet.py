"""The Dirichlet model, compared with numerical integration over the simplex."""

import numpy as np
import pytest

from polarbear.inference import ModelOptions, infer
from polarbear.inference.relations import pointwise
from polarbear.rankings import rank
from polarbear.rankings.choice_sets import ChoiceSets, count_choice_sets
from polarbear.rankings.ranking import Coverage

from .quadrature import Simplex3

# 0.005 is three standard errors of any probability with an effective sample size of 90,000. Where
# one algorithm always loses, probabilities are far from 1/2, so a smaller sample is sufficient.
DRAWS = 120_000
TOLERANCE = 0.005


def sets_of_three(instances: int, *, ties: bool = False, loser: bool = False, seed: int = 0):
    """Choice sets of random rankings of three algorithms at one time."""
    rng = np.random.default_rng(seed)
    values = -(np.array([0.5, 0.0, -0.3])[:, None] + rng.gumbel(size=(instances, 3, 1)))
    if ties:
        values = np.round(values)
    if loser:
        values[:, 2] = 100.0
    return count_choice_sets(rank(values))


KINDS = [{}, {"ties": True}, {"loser": True}]
CASES = {
    1.0: [sets_of_three(instances, **kind) for instances in (1, 8, 200) for kind in KINDS],
    0.2: [sets_of_three(8, loser=True)],
}


def side_by_side(parts):
    """Choice sets of several data sets, each at its own time."""
    wins = np.concatenate([part.wins for part in parts])
    masks = np.concatenate([part.masks for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    offsets = np.cumsum([0, *(len(part.masks) for part in parts)])
    rankings = np.concatenate([part.coverage.rankings for part in parts])
    return ChoiceSets(wins, offsets, masks, counts, Coverage(rankings, parts[0].coverage.met))


def assert_agrees_with_integration(parts, alpha, **options):
    times = np.linspace(0, 1, len(parts)) if len(parts) > 1 else np.zeros(1)
    model_options = ModelOptions(model="dirichlet", alpha=alpha, **options)
    posterior = infer(side_by_side(parts), times, model_options, seed=1)
    assert posterior.usable, posterior.diagnostics
    relations = pointwise(posterior, epsilon=0.05)
    mean = posterior.mean()
    for t, part in enumerate(parts):
        exact = Simplex3(part, alpha=alpha)
        np.testing.assert_allclose(mean[t], exact.mean(), atol=TOLERANCE)
        for a, b in ((0, 1), (0, 2), (1, 2)):
            dominance = exact.dominance(a, b)
            assert relations.dominance[t, a, b] == pytest.approx(dominance, abs=TOLERANCE)
            equivalence = exact.equivalence(a, b, 0.05)
            assert relations.equivalence[t, a, b] == pytest.approx(equivalence, abs=TOLERANCE)


@pytest.mark.slow
@pytest.mark.parametrize("alpha", CASES)
def test_exact_draws_agree_with_integration_over_the_simplex(alpha):
    assert_agrees_with_integration(CASES[alpha], alpha, draws=DRAWS)


def test_laplace_is_close_for_32_instances_and_reports_pareto_k():
    """Dominance is within 0.01. It is not exact, which is why `auto` never picks Laplace."""
    sets = sets_of_three(32)
    options = ModelOptions(model="dirichlet", method="laplace", draws=100_000)
    posterior = infer(sets, np.zeros(1), options, seed=3)
    exact = Simplex3(sets, alpha=1.0)
    relations = pointwise(posterior)
    assert relations.dominance[0, 0, 2] == pytest.approx(exact.dominance(0, 2), abs=0.01)
    assert posterior.method == "laplace"
    assert posterior.diagnostics.pareto_k < 0.7


def test_each_timepoint_is_sampled_as_if_it_were_the_only_one():
    """Groups of times are separate tasks, and none may use another group's approximation."""
    rng = np.random.default_rng(4)
    mu = np.linspace(1, -1, 4)[:, None] * np.cos(np.linspace(0, 2, 5))
    sets = count_choice_sets(rank(-(mu + rng.gumbel(size=(8, 4, 5)))))
    options = ModelOptions(model="dirichlet", draws=40_000)
    together = pointwise(infer(sets, np.linspace(0, 1, 5), options, seed=5)).dominance
    for t in range(5):
        alone = infer(sets.pick(np.array([t])), np.zeros(1), options, seed=6)
        # 0.018 is 4 standard errors of the difference of two means of some 25,000 effective draws.
        np.testing.assert_allclose(together[t], pointwise(alone).dominance[0], atol=0.018)


def test_timepoints_share_no_random_numbers():
    """With identical data, draws at two times are as uncorrelated as 4,000 independent pairs.

    The bound is four standard errors, which one pair in 16,000 exceeds by chance.
    """
    values = np.random.default_rng(7).normal(size=(6, 3, 1))
    sets = count_choice_sets(rank(np.repeat(values, 12, axis=2)))
    theta = infer(sets, np.linspace(0, 1, 12), ModelOptions(model="dirichlet", draws=4000)).theta
    correlations = np.corrcoef(theta[:, :, 0].T)
    np.fill_diagonal(correlations, 0)
    assert np.abs(correlations).max() < 4.5 / np.sqrt(3000)
