"""Exact probabilities that decide a race, against simulation and by hand."""

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

A, B = 0, 1


def record(*rows: tuple[float, float, float]) -> DuelRecord:
    """Wins, losses and draws of one pair at each time."""
    wins, losses, draws = np.array(rows, dtype=float).T
    return DuelRecord(wins[:, None], losses[:, None], draws[:, None], 2)


def test_without_draws_probabilities_are_beta_tails():
    found = decide_by_duels(record((12, 4, 0)), 0.05, 2.0)
    posterior = beta(1 + 12, 1 + 4)
    assert found.better[0, A, B] == pytest.approx(posterior.sf(0.5))
    assert found.better[0, B, A] == pytest.approx(posterior.cdf(0.5))
    assert found.no_worse[0, A, B] == pytest.approx(posterior.sf(0.45))
    assert found.no_worse[0, B, A] == pytest.approx(posterior.cdf(0.55))
    assert found.equivalent[0, A, B] == pytest.approx(posterior.cdf(0.55) - posterior.cdf(0.45))


@pytest.mark.parametrize("counts", [(5, 3, 4), (0, 2, 30), (40, 33, 11), (0.5, 0, 1.5)])
def test_with_draws_they_are_shares_of_a_dirichlet(counts):
    """Against 400,000 draws: four standard errors are at most 0.0032."""
    wins, losses, draws = counts
    drawn = np.random.default_rng(1).dirichlet([1 + wins, 1 + losses, draws], 400_000)
    rate = drawn[:, 0] + drawn[:, 2] / 2
    found = decide_by_duels(record(counts), 0.05, 2.0)
    assert found.better[0, A, B] == pytest.approx((rate > 0.5).mean(), abs=0.0032)
    assert found.no_worse[0, A, B] == pytest.approx((rate > 0.45).mean(), abs=0.0032)
    assert found.equivalent[0, A, B] == pytest.approx((abs(rate - 0.5) < 0.05).mean(), abs=0.0032)


def test_the_probability_of_evenness_is_bayes_rule_with_the_mean_over_times():
    counts = [(9, 3), (7, 7), (0, 0)]
    slab = [betabinom.pmf(won, won + lost, SLAB, SLAB) for won, lost in counts]
    even = [betabinom.pmf(won, won + lost, 1e9, 1e9) for won, lost in counts]  # fair coins
    factor = np.mean([s / e for s, e in zip(slab, even, strict=True)])
    expected = EVEN_MASS / (EVEN_MASS + (1 - EVEN_MASS) * factor)
    found = even_probability(record(*[(won, lost, 0) for won, lost in counts]))
    assert found[0] == pytest.approx(expected, rel=1e-5)


def test_an_elimination_asks_for_the_weakest_time_and_for_unevenness():
    found = decide_by_duels(record((16, 0, 0), (11, 5, 0)), 0.05, 2.0)
    uneven = 1 - even_probability(record((16, 0, 0), (11, 5, 0)))[0]
    assert uneven > 0.99
    weakest = beta.sf(0.5, SLAB + 11, SLAB + 5)
    assert found.dominates[A, B] == pytest.approx(uneven * weakest)
    assert found.estimate[A, B] == pytest.approx(beta.sf(0.5, 1 + 11, 1 + 5))
    same_lead_everywhere = decide_by_duels(record((11, 5, 0), (11, 5, 0)), 0.05, 2.0)
    assert same_lead_everywhere.dominates[A, B] < 0.5 < found.dominates[A, B]
