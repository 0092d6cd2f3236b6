"""The Bayesian bootstrap of the empirical model, compared with known distributions."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import beta, kstest

from polarbear.errors import InferenceError
from polarbear.inference import ModelOptions, dispatch, infer
from polarbear.inference.empirical.bootstrap import Bootstrap
from polarbear.rankings import ABSENT, rank
from polarbear.rankings.choice_sets import count_choice_sets
from polarbear.rankings.duels import ProblemDuels, duels_of, index_of_pair

A, B, C = range(3)
KS_LEVEL = 1e-4  # The probability that a Kolmogorov-Smirnov test fails by chance.


def bootstrap(
    duels: ProblemDuels, draws: int = 4000, seed: int = 1, concentration: float = 2.0
) -> Bootstrap:
    names = [f"algorithm {i}" for i in range(duels.positions.shape[1])]
    return Bootstrap(duels, names, draws, seed, concentration)


def orders(*rows: list[int], repeat: int = 1) -> np.ndarray:
    """The array positions[instance, algorithm, time] of orders from first to last, at one time."""
    return np.array([np.argsort(row) for row in rows] * repeat)[:, :, None]


def random_positions(instances: int, n: int, times: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rank(rng.normal(size=(instances, n, times)).cumsum(axis=2) + np.arange(n)[:, None] / 3)


@pytest.mark.parametrize("concentration", [2.0, 11.3])
def test_a_win_probability_is_beta_with_half_the_concentration_for_each_algorithm(concentration):
    positions = random_positions(23, 4, 3)
    wins = bootstrap(duels_of(positions), seed=3, concentration=concentration).wins()
    for k, (a, b) in enumerate(zip(*np.triu_indices(4, 1), strict=True)):
        won = (positions[:, a, 1] < positions[:, b, 1]).sum()
        expected = beta(concentration / 2 + won, concentration / 2 + 23 - won)
        assert kstest(wins[:, 1, k], expected.cdf).pvalue > KS_LEVEL


def test_first_places_have_the_mean_of_the_dirichlet_posterior_and_sum_to_one():
    """The tolerance is four standard errors of 4,000 draws: one seed in 3,000 fails by chance."""
    positions = random_positions(17, 5, 2)
    firsts = bootstrap(duels_of(positions), seed=5).firsts()
    assert firsts.sum(axis=2) == pytest.approx(1, abs=1e-5)
    for i in range(5):
        expected = (2 / 5 + (positions[:, i, 0] == 0).sum()) / (2 + 17)
        error = firsts[:, 0, i].std() / np.sqrt(4000)
        assert abs(firsts[:, 0, i].mean() - expected) < 4 * error


def test_every_draw_is_one_distribution_over_orders():
    """P(a before b) + P(b before c) + P(c before a) lies between 1 and 2.

    The sum is 1 or 2 in each order of three algorithms, so it is between them in any mixture.
    """
    n = 5
    wins = bootstrap(duels_of(random_positions(12, n, 2)), draws=400).wins()
    for a, b, c in combinations(range(n), 3):
        a_before_b = wins[..., index_of_pair(a, b, n)]
        b_before_c = wins[..., index_of_pair(b, c, n)]
        c_before_a = 1 - wins[..., index_of_pair(a, c, n)]
        cycle = a_before_b + b_before_c + c_before_a
        assert cycle.min() > 1 - 1e-5
        assert cycle.max() < 2 + 1e-5


def test_draws_of_a_pair_do_not_depend_on_other_algorithms_and_the_order_of_problems():
    positions = random_positions(300, 4, 6)
    names = [f"problem {k}" for k in range(300)]
    wins_of_all = bootstrap(duels_of(positions, names), draws=300, seed=9).wins()
    wins_of_pair = bootstrap(duels_of(positions[:, :2], names), draws=300, seed=9).wins()
    np.testing.assert_array_equal(wins_of_all[:, :, :1], wins_of_pair)
    order = np.random.default_rng(1).permutation(300)
    shuffled = bootstrap(duels_of(positions[order, :2], np.array(names)[order]), 300, 9).wins()
    np.testing.assert_array_equal(shuffled, wins_of_pair)


def test_the_grid_does_not_change_a_probability_at_a_time():
    positions = random_positions(30, 3, 12)
    fine = bootstrap(duels_of(positions), draws=500).wins()
    coarse = bootstrap(duels_of(positions[:, :, ::3]), draws=500).wins()
    np.testing.assert_array_equal(fine[:, ::3], coarse)


def test_draws_do_not_depend_on_blocks_of_columns(monkeypatch: pytest.MonkeyPatch):
    values = np.random.default_rng(4).normal(size=(300, 6, 7))
    present = np.random.default_rng(5).random(values.shape[:2]) < 0.8
    duels = duels_of(rank(values, np.broadcast_to(present[:, :, None], values.shape)))
    draws = bootstrap(duels, draws=200)
    expected_wins = draws.wins()
    expected_firsts = draws.firsts()
    monkeypatch.setattr("polarbear.inference.empirical.bootstrap._MAX_COLUMNS", 30)
    np.testing.assert_array_equal(draws.wins(), expected_wins)
    np.testing.assert_array_equal(draws.firsts(), expected_firsts)


def test_seeds_of_one_problem_count_once():
    """A wins three problems of five; forty seeds of each add no information about a sixth."""
    winners = np.array([A, A, B, A, B])
    once = orders(*[[winner, 1 - winner] for winner in winners])
    names = np.array([f"problem {k}" for k in range(5)])
    plain = bootstrap(duels_of(once, names)).wins()
    repeated = bootstrap(duels_of(np.repeat(once, 40, axis=0), np.repeat(names, 40))).wins()
    assert repeated == pytest.approx(plain, abs=1e-6)


def test_a_pair_uses_all_problems_that_both_algorithms_ran_on():
    positions = orders([A, B, C], repeat=8)
    positions[4:, C] = ABSENT
    duels = duels_of(positions)
    wins = bootstrap(duels).wins()[:, 0]
    assert kstest(wins[:, index_of_pair(A, B, 3)], beta(1 + 8, 1).cdf).pvalue > KS_LEVEL
    assert kstest(wins[:, index_of_pair(A, C, 3)], beta(1 + 4, 1).cdf).pvalue > KS_LEVEL
    assert duels.shared_problems()[0].tolist() == [8, 4, 4]


def test_first_places_are_within_the_field_and_others_are_compared_with_it():
    positions = orders([A, B, C], [B, C, A], [C, A, B], [A, C, B], repeat=2)
    positions[4:, C] = ABSENT
    firsts = bootstrap(duels_of(positions)).firsts(field=[A, B])
    assert firsts[:, 0, :2].sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert kstest(firsts[:, 0, A], beta(1 + 6, 1 + 2).cdf).pvalue > KS_LEVEL
    assert firsts[:, 0, C].mean() == pytest.approx((2 / 3 + 1) / (2 + 4), abs=0.02)


def test_a_draw_of_two_algorithms_is_half_a_win():
    two_tied = bootstrap(duels_of(np.zeros((10, 2, 1), dtype=np.int16)))
    assert two_tied.wins().mean() == pytest.approx(0.5, abs=0.02)
    three_tied = bootstrap(duels_of(np.zeros((200, 3, 1), dtype=np.int16)), draws=400)
    assert three_tied.firsts() == pytest.approx(1 / 3, abs=0.1)


def p_better(wins: np.ndarray) -> np.ndarray:
    """P(A better than B) at each time, given the duels won by A: wins[problem, time]."""
    values = np.stack([1 - wins, wins], axis=1).astype(float)
    positions = rank(values)
    times = np.linspace(0, 1, wins.shape[1]) if wins.shape[1] > 1 else np.zeros(1)
    posterior = infer(count_choice_sets(positions), times, ModelOptions(), 1, positions=positions)
    return np.asarray(posterior.beats(0, 1).mean(axis=0))


@pytest.mark.parametrize(
    ("n_won", "n_problems", "n_times", "time"),
    [(0, 16, 100, 46), (1, 8, 20, 10), (6, 16, 20, 19)],
)
def test_duels_at_other_times_do_not_override_those_at_a_time(n_won, n_problems, n_times, time):
    """A wins every duel, except most of those at one time."""
    wins = np.ones((n_problems, n_times))
    wins[n_won:, time] = 0
    probabilities = p_better(wins)
    assert probabilities[time] < 0.5
    assert probabilities[np.arange(n_times) != time].min() > 0.99
    expected = beta.sf(0.5, 1 + n_won, 1 + n_problems - n_won)
    assert probabilities[time] == pytest.approx(expected, abs=0.03)


def test_draws_are_limited_by_memory_and_a_note_says_so(monkeypatch: pytest.MonkeyPatch):
    positions = random_positions(8, 5, 3)
    sets = count_choice_sets(positions)
    times = np.linspace(0, 1, 3)
    monkeypatch.setattr(dispatch, "MAX_NUMBERS", 90 * 400)
    posterior = infer(sets, times, ModelOptions(), 1, positions=positions)
    assert posterior.draws == 400
    assert any("400 draws instead of 4000" in note for note in posterior.notes)
    monkeypatch.setattr(dispatch, "MAX_NUMBERS", 90 * 100)
    with pytest.raises(InferenceError, match="leave memory for 100 draws only"):
        infer(sets, times, ModelOptions(), 1, positions=positions)
