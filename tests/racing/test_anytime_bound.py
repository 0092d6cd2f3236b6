"""Betting on duels bounds wrong eliminations at any number of looks and entrants."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta, binom

from polarbear import racing as race
from polarbear.inference.relations import DecisionTables
from polarbear.racing.anytime_bound import (
    EVEN_DUELS,
    MAX_WEALTH,
    log_wealth,
    log_wealth_table,
    lowest_wealth,
    proves_in_race,
    proves_pair,
    shares_of_error,
    supported_by_duels,
)
from polarbear.racing.rules import Rules


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (3, 1), (1, 9), (60, 30)])
def test_wealth_is_the_mean_of_the_wealth_over_stakes(wins: int, losses: int):
    def weighted_wealth(q: float) -> float:
        """The wealth of a bet on a share q of wins, times the prior density of q."""
        return 2 * beta.pdf(q, EVEN_DUELS, EVEN_DUELS) * (2 * q) ** wins * (2 - 2 * q) ** losses

    expected, _ = quad(weighted_wealth, 0.5, 1, epsabs=1e-14)
    assert np.exp(log_wealth(np.array(wins), np.array(losses))) == pytest.approx(expected)


@pytest.mark.slow
def test_wealth_on_even_duels_stays_bounded_at_any_number_of_looks():
    """At most a tenth of 2,000 sequences of 400 even duels ever reach a wealth of ten.

    The bound holds for the expectation. The test fails by chance less than once in 10,000, because
    Ville's bound is not tight here.
    """
    is_win = np.random.default_rng(3).random((2000, 400)) < 0.5
    wins = is_win.cumsum(axis=1)
    losses = (~is_win).cumsum(axis=1)
    records, record_index = np.unique(wins + 1j * losses, return_inverse=True)
    wealth = log_wealth(records.real, records.imag)[record_index.reshape(wins.shape)]
    n_reached = (wealth >= np.log(10)).any(axis=1).sum()
    assert n_reached <= binom.ppf(0.9999, 2000, 0.1)
    assert n_reached > 0


def test_a_clear_winner_is_proven_and_no_other():
    wins = np.zeros((2, 3, 3))
    wins[:, 0, 1:] = 190
    wins[:, 1:, 0] = 10
    wins[:, 1, 2] = 104
    wins[:, 2, 1] = 96
    wealth = log_wealth_table(wins)
    for proven in (proves_pair(wealth, 0.99), proves_in_race(wealth, 0.99, initial=3)):
        assert proven[:, 0, 1:].all()
        assert not proven[:, 1:].any()


def test_one_pair_needs_less_than_all_pairs_together_and_nothing_is_proven_at_alpha_one():
    wins = np.zeros((1, 2, 2))
    wins[0, 0, 1] = 10  # a wealth of 30, where the pair needs 20 and both pairs need 66
    wealth = log_wealth_table(wins)
    assert lowest_wealth(wealth[:, 0, 1]) == pytest.approx(29.9, abs=0.1)
    assert proves_pair(wealth, 0.95)[0, 0, 1]
    assert not proves_in_race(wealth, 0.95, initial=2)[0, 0, 1]
    assert not proves_pair(wealth, 1.0).any()


def test_a_wealth_beyond_all_numbers_is_recorded_as_the_largest_one():
    assert lowest_wealth(np.array([1e6])) == pytest.approx(MAX_WEALTH)


@pytest.mark.parametrize("initial", [2, 3, 8])
@pytest.mark.parametrize("later", [0, 1, 5, 200])
def test_the_shares_of_error_of_all_pairs_sum_to_at_most_one(initial: int, later: int):
    shares = shares_of_error(initial + later, initial)
    assert shares[~np.eye(len(shares), dtype=bool)].sum() <= 1 + 1e-12
    initial_shares = shares[:initial, :initial]  # They do not change when others enter.
    assert (initial_shares == shares_of_error(initial, initial)).all()


def test_with_entrants_one_by_one_few_races_eliminate_one_of_even_algorithms():
    """400 races grow from 2 to 8 even algorithms at alpha 0.9, with a look after every 8 problems.

    Each entrant catches up on all problems. The bound is a wrong elimination in 10 % of the races.
    If this rate were attained, the test would fail for 0.1 % of all seeds.
    """
    values = np.random.default_rng(9).random((400, 320, 8))
    is_better = values[..., :, None] < values[..., None, :]
    wins = is_better.cumsum(axis=1)[:, 7::8].astype(float)
    proven = proves_in_race(log_wealth_table(wins.reshape(-1, 8, 8)), alpha=0.9, initial=2)
    n_wrong = proven.reshape(400, -1).any(axis=1).sum()
    assert 0 < n_wrong <= binom.ppf(0.999, 400, 0.1)


@pytest.mark.parametrize("guarantee", ["pair", "anytime"])
def test_a_guarantee_asks_for_the_record_of_duels(guarantee):
    rules = Rules(guarantee=guarantee)
    at_time = np.zeros((1, 2, 2))
    over_times = np.zeros((2, 2))
    no_evidence = DecisionTables(
        better=at_time,
        equivalent=at_time,
        no_worse=at_time,
        dominates=over_times,
        estimate=over_times,
    )
    with pytest.raises(Exception, match="needs the record of duels"):
        race.step(race.start("AB", (1.0,), rules), rules, 8, no_evidence)


def test_the_support_by_duels_is_that_of_a_coin_with_a_uniform_prior():
    wins = np.zeros((1, 2, 2), dtype=int)
    wins[0, 0, 1] = 7
    wins[0, 1, 0] = 2
    p_better = supported_by_duels(wins)
    assert p_better[0, 0, 1] == pytest.approx(beta.sf(0.5, 8, 3))
    assert p_better[0, 1, 0] == pytest.approx(1 - p_better[0, 0, 1])
