"""Betting on duels: bounded whatever the number of looks, and right about who is better."""

from __future__ import annotations

import numpy as np
import pytest
from polarbear.racing.guarantee import (
    EVEN_DUELS,
    log_wealth,
    proven_better,
    record_of_duels,
    shown_by_duels,
)
from scipy.integrate import quad
from scipy.stats import beta, binom

from polarbear.rankings import ABSENT


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (3, 1), (1, 9), (60, 30)])
def test_wealth_is_the_mean_over_stakes_of_what_each_would_have(wins: int, losses: int):
    def stake(q: float) -> float:
        return 2 * beta.pdf(q, EVEN_DUELS, EVEN_DUELS) * (2 * q) ** wins * (2 - 2 * q) ** losses

    expected, _ = quad(stake, 0.5, 1, epsabs=1e-14)
    assert np.exp(log_wealth(np.array(wins), np.array(losses))) == pytest.approx(expected)


@pytest.mark.slow
def test_nobody_gets_rich_on_even_duels_at_any_number_of_looks():
    """2,000 records of 400 even duels, looked at after each: at most a tenth ever reach ten. The
    bound holds for the expectation; this fails by chance less than once in 10,000 (Ville's bound is
    not tight here, so far less)."""
    steps = np.random.default_rng(3).random((2000, 400)) < 0.5
    wins = steps.cumsum(axis=1)
    losses = (~steps).cumsum(axis=1)
    reached = (log_wealth(wins, losses) >= np.log(10)).any(axis=1).sum()
    assert reached <= binom.ppf(0.9999, 2000, 0.1)
    assert reached > 0


def test_a_clear_winner_is_proven_and_nobody_else():
    rng = np.random.default_rng(5)
    values = rng.normal(size=(200, 3, 2))
    values[:, 0] -= 2
    places = np.argsort(np.argsort(values, axis=1), axis=1)
    proven = proven_better(record_of_duels(places), alpha=0.99)
    assert proven[:, 0, 1:].all()
    assert not proven[:, 1:].any()


def test_the_record_counts_duels_of_those_who_both_ran_and_leaves_ties_out():
    positions = np.array([[0, 1, 2], [1, 0, ABSENT], [0, 0, 1]])[:, :, None]
    assert record_of_duels(positions)[0].tolist() == [[0, 1, 2], [1, 0, 2], [0, 0, 0]]


def test_duels_alone_show_what_a_coin_of_unknown_bias_would():
    wins = np.zeros((1, 2, 2), dtype=int)
    wins[0, 0, 1], wins[0, 1, 0] = 7, 2
    found = shown_by_duels(wins)
    assert found[0, 0, 1] == pytest.approx(beta.sf(0.5, 8, 3))
    assert found[0, 1, 0] == pytest.approx(1 - found[0, 0, 1])
