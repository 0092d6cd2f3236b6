"""The batched Laplace approximation of independent ratings against the compiled curvature."""

from __future__ import annotations

import numpy as np
import pytest

from polarbear.inference.loops.likelihood import curvature
from polarbear.inference.models.dirichlet import one_coefficient_a_time
from polarbear.inference.native.independent import mode as independent
from polarbear.inference.native.set_sums import set_sums, with_prior
from polarbear.rankings import count_choice_sets, rank


@pytest.mark.parametrize("entries", [1, 1_000_000])
@pytest.mark.parametrize("alpha", [0.05, 1.0])
def test_at_the_mode_nothing_pulls_and_the_spread_makes_curvature_one(monkeypatch, alpha, entries):
    """With tied, partial rankings, a loser and a time without any, in one piece or in many."""
    monkeypatch.setattr(independent, "_ENTRIES_AT_A_TIME", entries)
    rng = np.random.default_rng(0)
    values = rng.integers(0, 4, (9, 5, 6)).astype(float)
    values[:, 4] = 10.0
    present = rng.random(values.shape) < 0.8
    present[:, :, -1] = False
    sets = set_sums(count_choice_sets(rank(values, present)))
    mode = independent.find_mode(sets, one_coefficient_a_time(6, alpha))
    heights, slopes, bends = np.empty(6), np.empty((6, 4)), np.empty((6, 4, 4))
    curvature(with_prior(sets, alpha), mode.x, heights, slopes, bends)
    np.testing.assert_allclose(mode.heights, heights, rtol=1e-9)
    to_eta = sets.helmert.T @ mode.spread
    assert np.abs(slopes[:, None] @ to_eta).max() < 1e-3  # in posterior standard deviations
    unit = to_eta.swapaxes(1, 2) @ bends @ to_eta
    np.testing.assert_allclose(unit, np.broadcast_to(np.eye(4), (6, 4, 4)), atol=1e-6)
    np.testing.assert_allclose(mode.centre, mode.x @ sets.helmert.T)
