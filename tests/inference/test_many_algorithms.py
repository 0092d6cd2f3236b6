"""More algorithms than fit into the bits of one number: the dirichlet model, and who refuses."""

from __future__ import annotations

import numpy as np
import pytest

from polarbear.errors import InferenceError
from polarbear.inference import ModelOptions, extend, infer
from polarbear.inference.models.dirichlet import one_coefficient_a_time
from polarbear.inference.native.attempt import FIRST
from polarbear.inference.native.independent import mode
from polarbear.inference.native.independent.sampling import sample
from polarbear.inference.native.nested import Lattice
from polarbear.inference.native.set_sums import set_sums
from polarbear.rankings import count_choice_sets, rank
from polarbear.rankings.wide import count_wide

TIME = np.zeros(1)


def test_the_approximation_is_the_same_by_masks_and_by_what_sets_grew_from(monkeypatch):
    positions = rank(np.random.default_rng(0).integers(0, 6, (15, 8, 3)).astype(float))
    masked, wide = count_choice_sets(positions), count_wide(positions, np.ones(15), 0)
    latent = one_coefficient_a_time(3, 1.0)
    expected = mode.find_mode(set_sums(masked), latent)
    monkeypatch.setattr(mode, "FEW", 1)
    for sets in (masked, wide):
        found = mode.find_mode(set_sums(sets), latent)
        np.testing.assert_allclose(found.x, expected.x, atol=1e-9)
        np.testing.assert_allclose(found.heights, expected.heights, rtol=1e-9)
        np.testing.assert_allclose(found.spread, expected.spread, atol=1e-9)


def test_sixty_algorithms_are_rated_in_the_order_that_they_have():
    """The odds that the first of 60, ten times as good as the last, is rated below are nil."""
    utility = np.linspace(2.3, 0, 60)[:, None]
    values = -(utility + np.random.default_rng(0).gumbel(size=(40, 60, 1)))
    sets = count_choice_sets(rank(values))
    posterior = infer(sets, TIME, ModelOptions(model="dirichlet", draws=2000), seed=1)
    assert posterior.usable
    mean = posterior.mean()[0]
    assert mean[:10].min() > mean[-10:].max()
    assert np.corrcoef(np.log(mean), utility[:, 0])[0, 1] > 0.9


@pytest.mark.parametrize("options", [{"model": "hierarchical"}, {"model": "gp"},
                                     {"model": "dirichlet", "engine": "stan"}])  # fmt: skip
def test_what_needs_shared_sets_is_refused_with_the_reason(options):
    sets = count_choice_sets(rank(np.random.default_rng(0).normal(size=(4, 51, 1))))
    with pytest.raises(InferenceError, match="at most 50 algorithms, found 51; use the model"):
        infer(sets, TIME, ModelOptions(**options))


def test_a_newcomer_among_more_than_fifty_is_refused():
    values = np.random.default_rng(0).normal(size=(4, 51, 1))
    options = ModelOptions(model="dirichlet", draws=400)
    others = infer(count_choice_sets(rank(values[:, :50])), TIME, options)
    with pytest.raises(InferenceError, match="a newcomer .* at most 50 algorithms, found 51"):
        extend(others, count_choice_sets(rank(values)), 50)


def test_draws_are_the_same_whether_logarithms_are_of_sums_or_of_products():
    """Partial, tied rankings: some sets count as a part of a ranking, others not at all."""
    rng = np.random.default_rng(1)
    values = rng.integers(0, 9, (12, 14, 3)).astype(float)
    positions = rank(values, rng.random(values.shape) < 0.85)
    masked = set_sums(count_choice_sets(positions))
    wide = set_sums(count_wide(positions, np.ones(12), 0))
    found = mode.find_mode(wide, one_coefficient_a_time(3, 1.0))
    lattice = Lattice(np.zeros((1, 0)), (found,), np.ones(1), np.zeros(1, dtype=bool))
    one, other = (sample(sets, lattice, 400, 4, 1, FIRST.effort) for sets in (masked, wide))
    np.testing.assert_allclose(one.theta, other.theta, atol=1e-9)
