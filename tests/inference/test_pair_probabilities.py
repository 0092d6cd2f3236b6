"""The probability of a pair at one time follows from its duels: exact, whatever the names."""

import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import beta, binom

from polarbear.inference import ModelOptions, Posterior, infer
from polarbear.inference.relations import pointwise
from polarbear.inference.strongest_rival import p_best_at_each_time
from polarbear.rankings import rank

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import intervals

EPSILON = 0.05
TIMES = np.array([0.0, 1.0])


def positions_of(n_problems: int, ties: bool = False) -> np.ndarray:
    """Rankings of three algorithms at two times; the first one mostly wins."""
    rng = np.random.default_rng(n_problems)
    values = rng.normal(size=(n_problems, 3, 2)) + np.array([0.0, 0.7, 0.2])[:, None]
    return rank(np.round(values) if ties else values)


def posterior_of(positions: np.ndarray, draws: int = 4000, **more) -> Posterior:
    return infer(None, TIMES, ModelOptions(draws=draws), 1, positions=positions, **more)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("weights", [None, [0.5, 2.0]])
def test_exact_probabilities_are_those_of_the_draws(ties, weights):
    """Four standard errors of a share of 40,000 draws are at most 0.01."""
    positions = positions_of(14, ties)
    drawn_weights = None if weights is None else np.resize(weights, len(positions))
    posterior = posterior_of(positions, draws=40_000, weights=drawn_weights)
    relations = pointwise(posterior, EPSILON, no_worse=True)
    assert relations.no_worse is not None
    for a, b in ((0, 1), (1, 0), (2, 1)):
        wins = posterior.head_to_head(a, b)
        expected = {
            "better": (wins > 0.5).mean(axis=0),
            "equivalent": (abs(wins - 0.5) <= EPSILON).mean(axis=0),
            "no worse": (wins >= 0.5 - EPSILON).mean(axis=0),
        }
        np.testing.assert_allclose(relations.dominance[:, a, b], expected["better"], atol=0.01)
        np.testing.assert_allclose(
            relations.equivalence[:, a, b], expected["equivalent"], atol=0.01
        )
        np.testing.assert_allclose(relations.no_worse[:, a, b], expected["no worse"], atol=0.01)
        np.testing.assert_allclose(posterior.p_better(a, b), relations.dominance[:, a, b])
        np.testing.assert_allclose(posterior.win_rate(a, b), wins.mean(axis=0), atol=0.005)
    assert not relations.dominance_error.any()


def test_names_change_no_probability_of_a_pair():
    positions = positions_of(9)
    posterior = posterior_of(positions)
    renamed = posterior_of(
        positions[:, ::-1], names=["z", "y", "x"], problems=[f"p{i}" for i in range(9)]
    )
    assert not np.array_equal(posterior.head_to_head(0, 1), renamed.head_to_head(2, 1))
    before = pointwise(posterior, EPSILON)
    after = pointwise(renamed, EPSILON)
    reverse = np.ix_(range(2), [2, 1, 0], [2, 1, 0])
    np.testing.assert_allclose(after.dominance[reverse], before.dominance, rtol=1e-12)
    np.testing.assert_allclose(after.equivalence[reverse], before.equivalence, rtol=1e-9)
    np.testing.assert_allclose(renamed.win_rate(2, 1), posterior.win_rate(0, 1), rtol=1e-12)
    p_best = p_best_at_each_time(posterior, [0, 1])
    np.testing.assert_allclose(p_best_at_each_time(renamed, [1, 2]), p_best[:, ::-1], rtol=1e-12)


def test_with_several_seeds_probabilities_are_those_of_draws():
    """A problem counts once, and its seeds disagree: its wins and losses are fractions."""
    positions = positions_of(12)
    posterior = posterior_of(positions, problems=[f"p{i // 3}" for i in range(12)])
    assert posterior.exact_duels is None
    relations = pointwise(posterior, EPSILON)
    p_better = (posterior.head_to_head(0, 1) > 0.5).mean(axis=0)
    np.testing.assert_array_equal(posterior.p_better(0, 1), p_better)
    np.testing.assert_array_equal(relations.dominance[:, 0, 1], p_better)
    assert relations.dominance_error[:, 0, 1].all()


def wins_in_a_row(n_wins: int, n_losses: int, n_draws: int = 0) -> Posterior:
    """The posterior of two algorithms with this record."""
    outcomes = np.repeat([-1.0, 1.0, 0.0], [n_wins, n_losses, n_draws])
    values = np.stack([outcomes, np.zeros_like(outcomes)], axis=1)[:, :, None]
    return posterior_of(rank(np.repeat(values, 2, axis=2)))


def test_intervals_end_at_one_if_nothing_was_lost_and_at_zero_if_nothing_was_won():
    """Other ends are those of the central interval: a Beta quantile, within four errors."""
    unbeaten = wins_in_a_row(8, 0)
    np.testing.assert_array_equal(unbeaten.win_interval(0, 1)[1], 1.0)
    np.testing.assert_array_equal(unbeaten.win_interval(1, 0)[0], 0.0)
    np.testing.assert_allclose(unbeaten.win_interval(0, 1)[0], beta(9, 1).ppf(0.025), atol=0.03)
    for n_losses, n_draws in ((1, 0), (0, 1)):
        assert (wins_in_a_row(8, n_losses, n_draws).win_interval(0, 1)[1] < 1).all()


def test_intervals_of_extreme_win_probabilities_contain_the_truth():
    """A small version of benchmarks/intervals.py; if 93 % hold, it fails for 1 % of all seeds."""
    tally = intervals.Tally()
    for kind in intervals.KINDS:
        for seed in range(12):
            tally.add(kind, 5, 8, seed, 2.0)
    for name, at_least in ((intervals.WINS, 250), (intervals.HIGH_WINS, 40)):
        hits = tally.hits[name]
        assert len(hits) > at_least
        assert sum(hits) >= binom.ppf(0.01, len(hits), 0.93)
    assert len(list(combinations(range(5), 2))) * 36 == len(tally.hits[intervals.WINS])
