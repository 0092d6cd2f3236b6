"""The independent model against numerical integration over the simplex."""

import numpy as np
import pytest

from polarbear.inference import ModelOptions, infer
from polarbear.inference.relations import pointwise
from polarbear.rankings import rank
from polarbear.rankings.choice_sets import ChoiceSets, count_choice_sets
from polarbear.rankings.ranking import Coverage

from .quadrature import Simplex3

# An effective sample of 90,000 puts 0.005 at three standard errors of any probability; where one
# algorithm always loses, probabilities are far from 1/2 and a smaller one does.
DRAWS = 120_000
WITHIN = 0.005


def three(instances: int, *, ties: bool = False, loser: bool = False, seed: int = 0):
    rng = np.random.default_rng(seed)
    values = -(np.array([0.5, 0.0, -0.3])[:, None] + rng.gumbel(size=(instances, 3, 1)))
    if ties:
        values = np.round(values)
    if loser:
        values[:, 2] = 100.0
    return count_choice_sets(rank(values))


KINDS = [{}, {"ties": True}, {"loser": True}]
CASES = {
    1.0: [three(instances, **kind) for instances in (1, 8, 200) for kind in KINDS],
    0.2: [three(8, loser=True)],
}


def side_by_side(parts):
    """Choice sets of several data sets, each at another time."""
    wins, masks, counts = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("wins", "masks", "counts")
    )
    offsets = np.cumsum([0, *(len(part.masks) for part in parts)])
    rankings = np.concatenate([part.coverage.rankings for part in parts])
    return ChoiceSets(wins, offsets, masks, counts, Coverage(rankings, parts[0].coverage.met))


def assert_agrees_with_integration(parts, alpha, **options):
    times = np.linspace(0, 1, len(parts)) if len(parts) > 1 else np.zeros(1)
    asked = ModelOptions(model="dirichlet", alpha=alpha, **options)
    posterior = infer(side_by_side(parts), times, asked, seed=1)
    assert posterior.usable, posterior.diagnostics
    found, mean = pointwise(posterior, epsilon=0.05), posterior.mean()
    for t, part in enumerate(parts):
        truth = Simplex3(part, alpha=alpha)
        np.testing.assert_allclose(mean[t], truth.mean(), atol=WITHIN)
        for a, b in ((0, 1), (0, 2), (1, 2)):
            assert found.dominance[t, a, b] == pytest.approx(truth.dominance(a, b), abs=WITHIN)
            expected = truth.equivalence(a, b, 0.05)
            assert found.equivalence[t, a, b] == pytest.approx(expected, abs=WITHIN)


@pytest.mark.slow
@pytest.mark.parametrize("alpha", CASES)
def test_exact_draws_agree_with_integration_over_the_simplex(alpha):
    assert_agrees_with_integration(CASES[alpha], alpha, draws=DRAWS)


def test_laplace_is_close_from_sixteen_instances_on_and_says_how_close():
    """Within 0.01 where dominance matters; not exact, which is why auto never picks it."""
    sets = three(32)
    options = ModelOptions(model="dirichlet", method="laplace", draws=100_000)
    posterior = infer(sets, np.zeros(1), options, seed=3)
    truth = Simplex3(sets, alpha=1.0)
    found = pointwise(posterior)
    assert found.dominance[0, 0, 2] == pytest.approx(truth.dominance(0, 2), abs=0.01)
    assert posterior.method == "laplace"
    assert posterior.diagnostics.pareto_k < 0.7


def test_timepoints_are_sampled_as_if_each_were_alone():
    """Parts of the grid are separate tasks: none may use another's approximation."""
    rng = np.random.default_rng(4)
    mu = np.linspace(1, -1, 4)[:, None] * np.cos(np.linspace(0, 2, 5))
    sets = count_choice_sets(rank(-(mu + rng.gumbel(size=(8, 4, 5)))))
    options = ModelOptions(model="dirichlet", draws=40_000)
    together = pointwise(infer(sets, np.linspace(0, 1, 5), options, seed=5)).dominance
    for t in range(5):
        alone = infer(sets.pick(np.array([t])), np.zeros(1), options, seed=6)
        # 4 standard errors of the difference of two means of some 25,000 effective draws
        np.testing.assert_allclose(together[t], pointwise(alone).dominance[0], atol=0.018)


def test_timepoints_share_no_random_numbers():
    """Correlation of two times' draws, with identical data, is that of 4,000 independent pairs.

    Bound at four standard errors: fails by chance once in 16,000.
    """
    values = np.random.default_rng(7).normal(size=(6, 3, 1))
    sets = count_choice_sets(rank(np.repeat(values, 12, axis=2)))
    theta = infer(sets, np.linspace(0, 1, 12), ModelOptions(model="dirichlet", draws=4000)).theta
    correlations = np.corrcoef(theta[:, :, 0].T)
    np.fill_diagonal(correlations, 0)
    assert np.abs(correlations).max() < 4.5 / np.sqrt(3000)
