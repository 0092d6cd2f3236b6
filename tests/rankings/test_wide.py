"""Choice sets of many algorithms, each told by the set that it grew from."""

from __future__ import annotations

import numpy as np
import pytest

from polarbear.rankings import BELOW, count_choice_sets, rank
from polarbear.rankings.wide import count_wide


def some_positions(n: int, digits: int) -> np.ndarray:
    """Twelve rankings at three times: partial ones, one of which is tied all over, some whose last
    places were not recorded."""
    rng = np.random.default_rng(n)
    values = np.round(rng.normal(size=(12, n, 3)), digits)
    values[0] = 0.0
    positions = rank(values, rng.random(values.shape) < 0.85)
    positions[1][positions[1] > n // 2] = BELOW
    return positions


@pytest.mark.parametrize(("n", "digits"), [(2, 0), (3, 1), (5, 0), (9, 1)])
def test_both_forms_have_the_same_likelihood(n, digits):
    positions, weights = some_positions(n, digits), np.linspace(0.5, 2, 12)
    masked, wide = count_choice_sets(positions, weights), count_wide(positions, weights, 0)
    mu = np.random.default_rng(1).normal(size=(3, n))
    np.testing.assert_allclose(wide.log_likelihood(mu), masked.log_likelihood(mu), rtol=1e-12)
    np.testing.assert_allclose(wide.wins, masked.wins)
    np.testing.assert_array_equal(wide.rankings, masked.rankings)
    np.testing.assert_array_equal(wide.compared(), masked.compared())
    assert wide.favours_nobody() == masked.favours_nobody()


def test_parts_add_up_and_times_can_be_picked():
    positions, one = some_positions(6, 1), np.ones(12)
    whole = count_wide(positions, one, 0)
    parts = count_wide(positions[:5], one[:5], 0) + count_wide(positions[5:], one[5:], 0)
    mu = np.random.default_rng(1).normal(size=(3, 6))
    np.testing.assert_allclose(parts.log_likelihood(mu), whole.log_likelihood(mu), rtol=1e-12)
    some = np.array([0, 2])
    picked = parts.pick(some).log_likelihood(mu[some])
    np.testing.assert_allclose(picked, whole.log_likelihood(mu)[some], rtol=1e-12)


def test_a_tie_of_all_favours_nobody_however_often_it_is_there():
    counted = count_choice_sets(np.zeros((30, 120, 1)))
    assert counted.sampled_ties == 30
    assert len(counted.counts) == 120 * 119
    assert counted.favours_nobody()


def test_sets_of_more_than_fifty_are_those_that_remain_of_each_ranking():
    values = np.random.default_rng(0).normal(size=(3, 60, 2))
    counted = count_choice_sets(rank(values))
    sizes = counted.members().sum(axis=1).reshape(2, 3, 59)
    np.testing.assert_array_equal(sizes, np.broadcast_to(np.arange(2, 61), sizes.shape))
