"""Resampled means: paired, repeatable, and as wide as they should be."""

from __future__ import annotations

import numpy as np
import pytest

from polarbear.classical.attainment import resamples


def test_a_resampled_mean_is_the_mean_of_instances_drawn_with_replacement():
    values = np.random.default_rng(1).normal(size=(7, 2, 3))
    drawn = resamples(list(map(str, range(7))), 200, seed=3)
    assert (drawn.times.sum(axis=1) == 7).all()
    for k in (0, 57, 199):
        picked = np.repeat(np.arange(7), drawn.times[k].astype(int))
        assert drawn.means(values)[k] == pytest.approx(values[picked].mean(axis=0))


def test_differences_are_paired_over_algorithms():
    rng = np.random.default_rng(2)
    hardness = rng.normal(size=(40, 1))
    values = hardness + np.array([0.0, 0.1])  # the second is better by the same on each instance
    means = resamples(list(map(str, range(40))), 500, seed=0).means(values)
    assert np.ptp(means[:, 1] - means[:, 0]) < 1e-12
    assert np.ptp(means[:, 0]) > 0.1


def test_intervals_hold_the_true_mean_about_as_often_as_they_say():
    """Of 600 samples of 40 exponentials, 95 % intervals miss in 5 %; the bootstrap's known
    shortfall on skewed data adds some 2 %. Beyond 5 standard errors, below 0.885, is a defect."""
    rng = np.random.default_rng(6)
    hits = 0
    for k in range(600):
        values = rng.exponential(size=(40, 1))
        low, high = resamples(list(map(str, range(40))), 400, seed=k).interval(values)
        hits += bool(low[0] <= 1.0 <= high[0])
    assert 0.885 <= hits / 600 <= 0.98


@pytest.mark.slow
def test_a_difference_of_nothing_is_seldom_clear_at_any_of_many_times():
    """Under no difference one side of a simultaneous 95 % band is crossed in 2.5 % of samples;
    with 60 instances somewhat more. 200 samples: above 8 % (5 standard errors) is a defect."""
    rng = np.random.default_rng(7)
    found = 0
    for k in range(200):
        values = rng.normal(size=(60, 30))
        found += bool(
            resamples(list(map(str, range(60))), 300, seed=k).clearly_apart(values)[0].any()
        )
    assert found / 200 <= 0.08


def test_a_clear_difference_is_found_where_it_is():
    rng = np.random.default_rng(8)
    values = rng.normal(size=(60, 30)) + np.where(np.arange(30) < 10, 2.0, -2.0)
    clear, below = resamples(list(map(str, range(60))), 300, seed=0).clearly_apart(values)
    assert clear.tolist() == [True] * 10 + [False] * 20
    assert below.tolist() == [False] * 10 + [True] * 20
    alone = resamples(list(map(str, range(1))), 100, seed=0).clearly_apart(values[:1])
    assert not np.any(alone)


def test_seeds_of_a_problem_are_drawn_together_and_say_nothing_about_other_problems():
    problems = [name for name in "abcde" for _ in range(40)]
    drawn = resamples(problems, 300, seed=1)
    assert (drawn.times.reshape(300, 5, 40) == drawn.times.reshape(300, 5, 40)[:, :, :1]).all()
    won = np.repeat([1.0, 1.0, 1.0, 0.0, 0.0], 40)[:, None]
    low, high = drawn.interval(won)
    assert high - low > 0.6  # of five problems, not of two hundred instances
    assert np.isnan(resamples(["a"] * 40, 300, seed=1).interval(won[:40])[0]).all()
    np.testing.assert_allclose(resamples([*"aaaabbc"], 200, seed=2).means(np.ones((7, 1))), 1)
