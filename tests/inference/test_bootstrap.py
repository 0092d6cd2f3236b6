"""The Bayesian bootstrap of the empirical model, against known distributions."""

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
LEVEL = 1e-4  # of each Kolmogorov-Smirnov test: its probability to fail by chance


def bootstrap(
    duels: ProblemDuels, draws: int = 4000, seed: int = 1, concentration: float = 2.0
) -> Bootstrap:
    names = [f"algorithm {i}" for i in range(duels.positions.shape[1])]
    return Bootstrap(duels, names, draws, seed, concentration)


def orders(*rows: list[int], repeat: int = 1) -> np.ndarray:
    """Positions[instance, algorithm, time] of orders from first to last, at one time."""
    return np.array([np.argsort(row) for row in rows] * repeat)[:, :, None]


def random_positions(instances: int, n: int, times: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rank(rng.normal(size=(instances, n, times)).cumsum(axis=2) + np.arange(n)[:, None] / 3)


@pytest.mark.parametrize("concentration", [2.0, 11.3])
def test_a_win_probability_is_beta_with_half_the_concentration_on_either_side(concentration):
    positions = random_positions(23, 4, 3)
    wins = bootstrap(duels_of(positions), seed=3, concentration=concentration).wins()
    for k, (a, b) in enumerate(zip(*np.triu_indices(4, 1), strict=True)):
        won = (positions[:, a, 1] < positions[:, b, 1]).sum()
        expected = beta(concentration / 2 + won, concentration / 2 + 23 - won)
        assert kstest(wins[:, 1, k], expected.cdf).pvalue > LEVEL


def test_first_places_have_the_mean_of_the_dirichlet_posterior_and_sum_to_one():
    """Four standard errors of 4,000 draws: fails by chance once in 3,000 seeds."""
    positions = random_positions(17, 5, 2)
    firsts = bootstrap(duels_of(positions), seed=5).firsts()
    assert firsts.sum(axis=2) == pytest.approx(1, abs=1e-5)
    for i in range(5):
        expected = (2 / 5 + (positions[:, i, 0] == 0).sum()) / (2 + 17)
        error = firsts[:, 0, i].std() / np.sqrt(4000)
        assert abs(firsts[:, 0, i].mean() - expected) < 4 * error


def test_every_draw_is_one_distribution_over_orders():
    """P(a before b) + P(b before c) + P(c before a) is 1 or 2 in any order of three, so between
    them in any mixture of orders."""
    n = 5
    wins = bootstrap(duels_of(random_positions(12, n, 2)), draws=400).wins()
    for a in range(n):
        for b in range(a + 1, n):
            for c in range(b + 1, n):
                ab, bc, ac = (wins[..., index_of_pair(*p, n)] for p in ((a, b), (b, c), (a, c)))
                assert (ab + bc + 1 - ac).min() > 1 - 1e-5
                assert (ab + bc + 1 - ac).max() < 2 + 1e-5


def test_further_algorithms_and_problems_change_nothing_about_the_others():
    positions = random_positions(300, 4, 6)
    names = [f"problem {k}" for k in range(300)]
    every = bootstrap(duels_of(positions, names), draws=300, seed=9).wins()
    pair = bootstrap(duels_of(positions[:, :2], names), draws=300, seed=9).wins()
    np.testing.assert_array_equal(every[:, :, :1], pair)
    # a problem that the pair did not run on, and another order of the problems
    order = np.random.default_rng(1).permutation(300)
    shuffled = bootstrap(duels_of(positions[order, :2], np.array(names)[order]), 300, 9).wins()
    np.testing.assert_array_equal(shuffled, pair)


def test_the_grid_does_not_change_a_probability_at_a_time():
    positions = random_positions(30, 3, 12)
    fine = bootstrap(duels_of(positions), draws=500).wins()
    coarse = bootstrap(duels_of(positions[:, :, ::3]), draws=500).wins()
    np.testing.assert_array_equal(fine[:, ::3], coarse)


def test_draws_do_not_depend_on_blocks_of_columns(monkeypatch: pytest.MonkeyPatch):
    values = np.random.default_rng(4).normal(size=(300, 6, 7))
    present = np.random.default_rng(5).random(values.shape[:2]) < 0.8
    duels = duels_of(rank(values, np.broadcast_to(present[:, :, None], values.shape)))
    whole = bootstrap(duels, draws=200)
    expected = whole.wins(), whole.firsts()
    monkeypatch.setattr("polarbear.inference.empirical.bootstrap._MAX_COLUMNS", 30)
    for one, other in zip(expected, (whole.wins(), whole.firsts()), strict=True):
        np.testing.assert_array_equal(one, other)


def test_seeds_of_one_problem_count_once():
    """A wins three problems of five; forty seeds of each say nothing more about a sixth."""
    winners = np.array([A, A, B, A, B])
    once = orders(*[[w, 1 - w] for w in winners])
    names = np.array([f"problem {k}" for k in range(5)])
    plain = bootstrap(duels_of(once, names)).wins()
    repeated = bootstrap(duels_of(np.repeat(once, 40, axis=0), np.repeat(names, 40))).wins()
    assert repeated == pytest.approx(plain, abs=1e-6)


def test_a_pair_uses_all_problems_that_both_ran_on():
    positions = orders([A, B, C], repeat=8)
    positions[4:, C] = ABSENT
    duels = duels_of(positions)
    wins = bootstrap(duels).wins()[:, 0]
    assert kstest(wins[:, index_of_pair(A, B, 3)], beta(1 + 8, 1).cdf).pvalue > LEVEL
    assert kstest(wins[:, index_of_pair(A, C, 3)], beta(1 + 4, 1).cdf).pvalue > LEVEL
    assert duels.shared_problems()[0].tolist() == [8, 4, 4]


def test_first_places_are_among_the_field_and_others_are_compared_with_it():
    positions = orders([A, B, C], [B, C, A], [C, A, B], [A, C, B], repeat=2)
    positions[4:, C] = ABSENT
    found = bootstrap(duels_of(positions)).firsts(field=[A, B])
    assert found[:, 0, :2].sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert kstest(found[:, 0, A], beta(1 + 6, 1 + 2).cdf).pvalue > LEVEL
    assert found[:, 0, C].mean() == pytest.approx((2 / 3 + 1) / (2 + 4), abs=0.02)


def test_a_draw_of_two_algorithms_is_half_a_win():
    tied = bootstrap(duels_of(np.zeros((10, 2, 1), dtype=np.int16)))
    assert tied.wins().mean() == pytest.approx(0.5, abs=0.02)
    three = bootstrap(duels_of(np.zeros((200, 3, 1), dtype=np.int16)), draws=400)
    assert three.firsts() == pytest.approx(1 / 3, abs=0.1)


def better(wins: np.ndarray) -> np.ndarray:
    """P(a better than b) at each time, where a wins[problem, time]."""
    values = np.stack([1 - wins, wins], axis=1).astype(float)
    positions = rank(values)
    times = np.linspace(0, 1, wins.shape[1]) if wins.shape[1] > 1 else np.zeros(1)
    found = infer(count_choice_sets(positions), times, ModelOptions(), 1, positions=positions)
    return np.asarray(found.beats(0, 1).mean(axis=0))


@pytest.mark.parametrize(
    ("won_there", "of", "times", "place"),
    [(0, 16, 100, 46), (1, 8, 20, 10), (6, 16, 20, 19)],
)
def test_duels_elsewhere_do_not_override_those_at_a_time(won_there, of, times, place):
    wins = np.ones((of, times))
    wins[won_there:, place] = 0
    found = better(wins)
    assert found[place] < 0.5
    assert found[np.arange(times) != place].min() > 0.99
    assert found[place] == pytest.approx(beta.sf(0.5, 1 + won_there, 1 + of - won_there), abs=0.03)


def test_draws_are_limited_by_memory_and_a_note_says_so(monkeypatch: pytest.MonkeyPatch):
    positions = random_positions(8, 5, 3)
    sets, times = count_choice_sets(positions), np.linspace(0, 1, 3)
    monkeypatch.setattr(dispatch, "MAX_NUMBERS", 90 * 400)
    found = infer(sets, times, ModelOptions(), 1, positions=positions)
    assert found.draws == 400
    assert any("400 draws instead of 4000" in note for note in found.notes)
    monkeypatch.setattr(dispatch, "MAX_NUMBERS", 90 * 100)
    with pytest.raises(InferenceError, match="leave memory for 100 draws only"):
        infer(sets, times, ModelOptions(), 1, positions=positions)
