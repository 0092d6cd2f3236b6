"""Newcomers of a stream: wealth, shares of error, chances, and small streams of the benchmark."""

import sys
from pathlib import Path

import numpy as np
import pytest

from polarbear.racing.anytime_bound import (
    fewest_wins_to_prove,
    log_wealth,
    log_wealth_at_some_time,
    log_wealth_of_member,
)
from polarbear.racing.newcomers import chances_of_newcomer, next_look

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import judge as streams


def test_the_shares_of_all_entrants_sum_to_less_than_the_error():
    alpha = 0.95
    errors = [np.exp(-log_wealth_of_member(alpha, entrant)) for entrant in range(1, 20_000)]
    assert 0.8 * (1 - alpha) < sum(errors) < 1 - alpha
    assert errors == sorted(errors, reverse=True)


def test_the_wealth_at_some_time_is_the_mean_over_times():
    wins = np.array([9.0, 4.0, 1.0])
    wealth = log_wealth(wins, 10 - wins)
    assert np.exp(log_wealth_at_some_time(wealth)) == pytest.approx(np.exp(wealth).mean())


def test_the_fewest_wins_are_enough_and_one_less_is_not():
    decided = np.array([20.0, 100.0, 5.0])
    wins = fewest_wins_to_prove(decided, 6.0)
    assert wins[2] == np.inf
    assert (log_wealth(wins[:2], decided[:2] - wins[:2]) >= 6).all()
    assert (log_wealth(wins[:2] - 1, decided[:2] - wins[:2] + 1) < 6).all()


def test_looks_end_with_the_cached_problems():
    looks = [0]
    while looks[-1] < 400:
        looks.append(next_look(looks[-1], 400))
    assert looks[1:4] == [10, 12, 15]
    assert looks[-1] == 400
    assert next_look(0, 6) == 6


def test_a_chance_counts_the_best_time_and_needs_possible_wins():
    wins = np.array([[9.0], [2.0]])
    losses = 10 - wins
    ahead = np.full((2, 1), 90.0)
    assert chances_of_newcomer(wins, losses, ahead, 6.0)[0] > 0.9
    assert chances_of_newcomer(wins[1:], losses[1:], ahead[1:], 6.0)[0] < 0.01
    assert chances_of_newcomer(wins, losses, np.zeros((2, 1)), 6.0)[0] == 0


def test_equal_newcomers_are_not_accepted_and_real_ones_are():
    quality = np.zeros((12, streams.N_TIMES))
    assert streams.judged_stream(quality, seed=1, alpha=0.95).accepted == ()
    quality[[3, 8], :4] = [[streams.BETTER], [2 * streams.BETTER]]
    accepted = streams.judged_stream(quality, seed=1, alpha=0.95).accepted
    assert [one.index for one in accepted] == [3, 8]
    assert all(one.is_real for one in accepted)


def test_a_hopeless_newcomer_costs_few_problems():
    costs = [streams.cost_of_hopeless(seed, alpha=0.95) for seed in range(10)]
    assert np.mean(costs) <= 12
