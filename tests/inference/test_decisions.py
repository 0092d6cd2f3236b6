"""Exact probabilities that decide a race, compared with simulation and computed by hand."""

import numpy as np
import pytest
from scipy.stats import beta, betabinom

from polarbear.inference.empirical.decisions import (
    EVEN_MASS,
    SLAB,
    decide_by_duels,
    even_probability,
)
from polarbear.rankings.duels import DuelRecord

A = 0
B = 1


def record(*rows: tuple[float, float, float]) -> DuelRecord:
    """The record of one pair: rows of wins, losses and draws, one for each time."""
    wins, losses, draws = np.array(rows, dtype=float).T[:, :, None]
    return DuelRecord(wins, losses, draws, wins + losses + draws, 2)


def test_without_draws_probabilities_are_beta_tails():
    tables = decide_by_duels(record((12, 4, 0)), 0.05, 2.0)
    posterior = beta(1 + 12, 1 + 4)
    assert tables.better[0, A, B] == pytest.approx(posterior.sf(0.5))
    assert tables.better[0, B, A] == pytest.approx(posterior.cdf(0.5))
    assert tables.no_worse[0, A, B] == pytest.approx(posterior.sf(0.45))
    assert tables.no_worse[0, B, A] == pytest.approx(posterior.cdf(0.55))
    assert tables.equivalent[0, A, B] == pytest.approx(posterior.cdf(0.55) - posterior.cdf(0.45))


@pytest.mark.parametrize("counts", [(5, 3, 4), (0, 2, 30), (40, 33, 11), (0.5, 0, 1.5)])
def test_with_draws_probabilities_are_those_of_a_dirichlet(counts):
    """Four standard errors of a share of 400,000 draws are at most 0.0032."""
    wins, losses, draws = counts
    shares = np.random.default_rng(1).dirichlet([1 + wins, 1 + losses, draws], 400_000)
    win_rate = shares[:, 0] + shares[:, 2] / 2
    tables = decide_by_duels(record(counts), 0.05, 2.0)
    assert tables.better[0, A, B] == pytest.approx((win_rate > 0.5).mean(), abs=0.0032)
    assert tables.no_worse[0, A, B] == pytest.approx((win_rate > 0.45).mean(), abs=0.0032)
    assert tables.equivalent[0, A, B] == pytest.approx(
        (abs(win_rate - 0.5) < 0.05).mean(), abs=0.0032
    )


def test_the_probability_of_evenness_is_bayes_rule_with_the_mean_over_times():
    counts = [(9, 3), (7, 7), (0, 0)]
    slab = [betabinom.pmf(won, won + lost, SLAB, SLAB) for won, lost in counts]
    fair_coin = [betabinom.pmf(won, won + lost, 1e9, 1e9) for won, lost in counts]
    bayes_factor = np.mean(np.array(slab) / np.array(fair_coin))
    expected = EVEN_MASS / (EVEN_MASS + (1 - EVEN_MASS) * bayes_factor)
    p_even = even_probability(record(*[(won, lost, 0) for won, lost in counts]))
    assert p_even[0] == pytest.approx(expected, rel=1e-5)


def test_dominance_is_that_at_the_weakest_time_times_the_probability_of_unevenness():
    tables = decide_by_duels(record((16, 0, 0), (11, 5, 0)), 0.05, 2.0)
    p_uneven = 1 - even_probability(record((16, 0, 0), (11, 5, 0)))[0]
    assert p_uneven > 0.99
    p_better_at_weakest_time = beta.sf(0.5, SLAB + 11, SLAB + 5)
    assert tables.dominates[A, B] == pytest.approx(p_uneven * p_better_at_weakest_time)
    assert tables.estimate[A, B] == pytest.approx(beta.sf(0.5, 1 + 11, 1 + 5))
    same_lead_everywhere = decide_by_duels(record((11, 5, 0), (11, 5, 0)), 0.05, 2.0)
    assert same_lead_everywhere.dominates[A, B] < 0.5 < tables.dominates[A, B]
