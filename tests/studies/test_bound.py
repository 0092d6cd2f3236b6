"""The least cost of a race, by a rule that knows the true win probabilities."""

import bound
import numpy as np
import pytest

ALPHA = 0.99


def duels(*shares: list[list[float]]) -> bound.Duels:
    return bound.Duels(np.array(shares))


def two(*wins: float) -> bound.Duels:
    """The first of two beats the second on these shares of instances, one for each time."""
    return duels(*([[0, w], [1 - w, 0]] for w in wins))


def test_walds_sequential_test_needs_a_little_more_than_the_bound():
    """Tests of 0.7 against 0.5 end at odds of 99 to 1; the mean of 2,000 is accurate to 3 %."""
    rng = np.random.default_rng(1)
    least = bound.to_show_better(two(0.7), ALPHA)[0, 0, 1]
    steps = np.where(rng.random((2000, 600)) < 0.7, np.log(0.7 / 0.5), np.log(0.3 / 0.5))
    ended = np.abs(steps.cumsum(axis=1)) >= np.log(ALPHA / (1 - ALPHA))
    assert ended.any(axis=1).all()
    mean = (ended.argmax(axis=1) + 1).mean()
    assert least < mean < 1.15 * least


def test_who_is_out_is_paid_for_at_every_time_and_the_winner_with_it():
    result = bound.bound(two(0.9, 0.7), np.array([1.0, 2.0]), ALPHA, 0.05)
    easy, hard = bound.to_show_better(two(0.9, 0.7), ALPHA)[:, 0, 1]
    assert easy < hard
    assert result.pareto == (0,)
    assert result.instances == pytest.approx(hard)
    assert result.spent == pytest.approx(2 * 2 * hard)


def test_a_crossing_is_shown_where_that_is_cheapest_and_strictly_everywhere():
    truth = two(0.9, 0.6, 0.1)
    cost = np.array([1.0, 2.0, 3.0])
    cheapest, middle, _ = bound.to_show_better(truth, ALPHA)[:, 0, 1]
    loose = bound.bound(truth, cost, ALPHA, 0.05, resolution="crossing")
    assert loose.pareto == (0, 1)
    assert loose.instances == pytest.approx(cheapest)
    assert loose.spent == pytest.approx(2 * 3 * cheapest)
    strict = bound.bound(truth, cost, ALPHA, 0.05, resolution="strict")
    assert strict.instances == pytest.approx(middle)
    assert strict.spent == pytest.approx(2 * ((middle - cheapest) * 2 + cheapest * 3))


def test_who_is_as_good_need_not_be_shown_to_be_better():
    """The first is better at once; the second is ahead at the end, and to show that it is no worse
    takes less than to show that it is better."""
    truth = two(0.9, 0.45)
    cost = np.array([1.0, 3.0])
    crossing = bound.bound(truth, cost, ALPHA, 0.05, resolution="crossing")
    membership = bound.bound(truth, cost, ALPHA, 0.05, resolution="membership")
    assert crossing.instances == pytest.approx(bound.to_show_better(truth, ALPHA)[1, 1, 0])
    as_good = bound.to_show_as_good(truth, ALPHA, 0.05)
    assert membership.instances == pytest.approx(as_good[1, 1, 0])
    assert membership.instances < crossing.instances / 3
    p = 0.55
    q = 0.45
    information = p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))
    assert as_good[1, 1, 0] == pytest.approx(bound.needed(ALPHA) / information)
    assert np.isinf(as_good[0, 1, 0])


def test_what_is_exactly_even_can_only_be_alike():
    assert np.isinf(bound.to_show_better(two(0.5), ALPHA)).all()
    assert np.isfinite(bound.to_show_alike(two(0.5), ALPHA, 0.05)[0, 0, 1])
    assert np.isinf(bound.to_show_alike(two(0.6), ALPHA, 0.05)[0, 0, 1])
