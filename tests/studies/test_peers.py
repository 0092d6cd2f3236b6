"""Each comparator against something independent: a worked example, a package, SciPy."""

import numpy as np
import pytest
from peers import (
    caiser,
    glicko,
    halving,
    irace,
    plackett_luce,
    robust_ranking,
    sprint_race,
    utility,
)
from scipy.stats import beta, binom, friedmanchisquare, rankdata, ttest_rel, wilcoxon


def costs(*means: float, size: int = 40, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(size, len(means))) + np.array(means)


def test_iraces_friedman_puts_out_whose_rank_sum_is_further_off_than_conovers_difference():
    samples = costs(0.0, 0.2, 0.9, 1.5, size=30)
    ranks = rankdata(samples, axis=1)
    sums = ranks.sum(axis=0)
    assert friedmanchisquare(*samples.T).pvalue < 0.05
    apart = sums - sums.min() > irace.critical_difference(ranks, 0.05)
    assert apart.any()
    assert not apart.all()
    assert irace.friedman(samples, 0.05) == np.flatnonzero(apart).tolist()
    alike = costs(0.0, 0.0, 0.0, 0.0)
    assert friedmanchisquare(*alike.T).pvalue > 0.05
    assert irace.friedman(alike, 0.05) == []


@pytest.mark.parametrize("apart", [0.2, 1.0])
def test_of_two_irace_asks_wilcoxon(apart: float):
    samples = costs(0.0, apart)
    is_out = wilcoxon(samples[:, 0], samples[:, 1]).pvalue <= 0.05
    assert irace.friedman(samples, 0.05) == ([1] if is_out else [])


def test_iraces_t_tests_are_paired_and_against_the_best():
    samples = costs(0.0, 0.3, 1.0)
    p = [ttest_rel(samples[:, j], samples[:, 0]).pvalue for j in (1, 2)]
    assert irace.t_test(samples, 0.05) == [
        j for j, p_value in zip((1, 2), p, strict=True) if p_value <= 0.05
    ]
    assert 2 in irace.t_test(samples, 0.05)


def test_iraces_t_test_drops_untested_who_never_beat_the_best():
    gaps = np.array([0.001, 0.001, 10.0, 0.001, 0.001])
    sometimes_better = np.array([-0.1, 0.001, 10.0, 0.001, 0.001])
    best = np.zeros(5)
    samples = np.column_stack([best, gaps, sometimes_better, best])
    assert ttest_rel(gaps, best).pvalue > 0.05
    assert irace.t_test(samples, 0.05) == [1, 3]


def test_irace_tests_from_the_fifth_instance_on_and_runs_only_survivors():
    samples = np.tile([0.0, 1.0, 2.0], (12, 1)) + np.random.default_rng(0).normal(0, 1e-3, (12, 3))
    out, history = irace.raced(samples, irace.t_test, 0.05)
    assert out == [(1, 5), (2, 5)]
    assert history == [(3, {0, 1, 2}), (6, {0, 1, 2}), (9, {0, 1, 2}), (12, {0, 1, 2}), (15, {0})]


@pytest.mark.parametrize("p", [0.4, 0.6])
def test_a_ternary_sequential_test_errs_no_more_often_than_it_says(p: float):
    """200 tests, error 0.05, every fourth instance: too many wrong once in a thousand times."""
    rng = np.random.default_rng(3)
    wrong = 0
    for _ in range(200):
        wins = (rng.random(2000) < p).cumsum()
        looks = (sprint_race.decided(int(wins[n - 1]), int(n - wins[n - 1]), 0.1, 0.05)
                 for n in range(4, 2001, 4))  # fmt: skip
        decision = next(look for look in looks if look != sprint_race.OPEN)
        wrong += decision != (sprint_race.SECOND_OUT if p > 0.5 else sprint_race.FIRST_OUT)
    assert wrong <= binom.ppf(0.999, 200, 0.05)


def test_sprint_race_counts_whole_trajectories_and_leaves_crossing_ones_alone():
    dominated = [[0.0, 0.0], [1.0, 1.0]]
    crossing = [[0.0, 1.0], [1.0, 0.0]]
    out, history = sprint_race.raced(np.array([dominated] * 60), 0.05, 0.1)
    assert [(loser, by) for loser, by, _ in out] == [(1, 0)]
    assert history[-1][1] == {0}
    assert sprint_race.raced(np.array([crossing] * 60), 0.05, 0.1)[0] == []


def test_successive_halving_pays_for_what_runs_and_loses_who_is_late():
    """Four algorithms; the last is the best at the end and the worst before."""
    curves = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 0.0]])
    halved = halving.successive_halving(np.tile(curves, (10, 1, 1)), np.array([0.5, 1.0]), 2, 0.5)
    assert halved.winner == 0
    assert halved.spent == 10 * (4 * 0.5 + 2 * 0.5)
    full = halving.hyperband(np.tile(curves, (9, 1, 1)), np.array([0.5, 1.0]), 2, 3)
    assert full.winner == 3  # its first bracket runs everybody to the end


@pytest.mark.peer
@pytest.mark.slow
def test_groups_are_those_of_the_package_robustranking():
    import pandas as pd
    from robustranking import Benchmark
    from robustranking.comparison import BootstrapComparison

    samples = costs(0.0, 0.05, 1.0, 1.1, 3.0, size=60)
    table = pd.DataFrame(
        [(f"a{j}", f"i{i}", samples[i, j]) for i in range(60) for j in range(5)],
        columns=["algorithm", "instance", "cost"],
    )
    benchmark = Benchmark()
    benchmark.from_pandas(table, "algorithm", "instance", "cost")
    theirs = BootstrapComparison(benchmark, alpha=0.05, bootstrap_runs=500).get_ranking()
    ranks = theirs["group"] if "group" in theirs else theirs.iloc[:, 0]
    expected = [
        sorted(int(str(name)[1:]) for name in ranks.index[ranks == value])
        for value in sorted(set(ranks))
    ]
    assert robust_ranking.groups(samples, 0.05) == expected


def test_glickmans_worked_example_comes_out():
    """Glickman, Example of the Glicko-2 system: 1464.06, 151.52, 0.05999."""
    others = [glicko.Player(1400, 30), glicko.Player(1550, 100), glicko.Player(1700, 300)]
    player = glicko.updated(glicko.Player(1500, 200), others, [1, 0, 0])
    assert player.rating == pytest.approx(1464.06, abs=0.01)
    assert player.deviation == pytest.approx(151.52, abs=0.01)
    assert player.volatility == pytest.approx(0.05999, abs=1e-5)


def test_glicko_bands_part_where_one_always_wins_and_not_where_all_are_equal():
    values = np.tile([[[0.0, 0.0], [1.0, 0.0]]], (40, 1, 1))
    assert glicko.better_at_each(values, 2.0).tolist() == [
        [[False, True], [False, False]],
        [[False, False], [False, False]],
    ]


def test_a_paired_t_test_at_half_a_standard_deviation_needs_34_instances():
    """The textbook's number (two-sided 0.05, power 0.8), and its power there."""
    assert caiser.instances(1, 0.5, 0.8, 0.05) == 34
    assert caiser.power(34, 0.5, 0.05) == pytest.approx(0.8078, abs=1e-3)
    assert caiser.instances(1, 0.5, 0.8, 0.05, sign_test=True) == 54


def test_caiser_tells_pairs_apart_by_sign_tests_and_ties_say_nothing():
    samples = np.column_stack([np.zeros(30), np.zeros(30), np.ones(30)])
    assert caiser.compared(samples, 0.05).tolist() == [
        [False, False, True],
        [False, False, True],
        [False, False, False],
    ]


def test_utility_with_every_moment_as_likely_is_the_area_under_the_ecdf():
    import classical

    times = np.array([1.0, 2.0, 5.0, 10.0])
    values = 10 ** np.random.default_rng(1).uniform(-9, 3, (6, 3, 4))
    utilities = utility.utility(classical.shares(values), utility.stopped(times))
    assert utilities == pytest.approx(classical.areas(values, times))
    assert utility.stopped(times, log=True).sum() == pytest.approx(1)


def test_plackett_luce_of_two_is_a_beta_distribution():
    """4,000 draws: off by more than 0.03 less than once in a thousand times."""
    values = np.array([[0.0, 1.0]] * 13 + [[1.0, 0.0]] * 7)
    p = plackett_luce.best(values, 1, 4000)[0]
    assert p == pytest.approx(beta.sf(0.5, 1 + 13, 1 + 7), abs=0.03)
