"""Eliminations are right as often as promised: a small version of benchmarks/race.py."""

from itertools import product

import f_race
import numpy as np
import pytest
import race as races
import race_report as report
import truths
from scipy.stats import binom, friedmanchisquare, rankdata
from scipy.stats import t as student

from polarbear.inference import ModelOptions, infer
from polarbear.inference.plackett_luce.composite_weight import composite_weight
from polarbear.rankings import rank
from polarbear.rankings.choice_sets import count_choice_sets

DEFAULT = [("empirical", "0.95")]


def values_of(mu: np.ndarray, correlation: str, rng: np.random.Generator, size: int) -> np.ndarray:
    return -mu.T + truths.gumbel_noise(size, correlation, rng)


@pytest.mark.slow
def test_intervals_of_a_gp_hold_more_of_the_truth_if_repeated_rankings_count_less():
    """The intervals are of 16 truths with 16 instances each; the noise is constant over time.

    The truths are from the model's prior. If every ranking counts in full, 95 % intervals of
    log-ratios hold about 60 % of them. If weighted intervals hold 95 %, the spread between truths
    lets either assertion fail for fewer than one seed in a thousand.
    """
    options = ModelOptions(
        model="gp", lengthscale={"shape": 5, "scale": 2}, method="laplace", draws=1000
    )
    in_full = options.model_copy(update={"dependence": "independent"})
    a, b = np.triu_indices(truths.ALGORITHMS, 1)
    coverage: dict[bool, list[float]] = {True: [], False: []}
    for seed in range(16):
        mu = truths.log_ratings(np.random.default_rng([seed, 1]))
        positions = rank(values_of(mu, "constant", np.random.default_rng([seed, 2]), 16))
        sets = count_choice_sets(positions)
        for weighted in (False, True):
            weight = composite_weight(positions, sets, truths.UNIT, options) if weighted else 1.0
            posterior = infer(sets.weighted(weight), truths.UNIT, in_full, seed)
            log_ratios = np.log(posterior.theta[..., a] / posterior.theta[..., b])
            low, high = np.quantile(log_ratios, [0.025, 0.975], axis=0)
            true_ratios = mu[:, a] - mu[:, b]
            is_held = (low <= true_ratios) & (true_ratios <= high)
            coverage[weighted].append(float(is_held.mean()))
    assert np.mean(coverage[False]) < 0.8
    assert np.mean(coverage[True]) > 0.85


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pl-0", "pl-constant", "mixture-0.33", "clones-constant"])
def test_eliminations_of_the_default_are_right_as_often_as_promised(kind):
    """Six races at alpha 0.95 run beside six F-races.

    If the procedure is calibrated, the test fails for less than 1 % of all seeds.
    """
    rules = [("empirical", "0.95"), ("f-race", "0.95")]
    rows = [row for seed in range(6) for row in races.all_races(kind, seed, rules, None)]
    our_rows = [row for row in rows if row["rule"] == "empirical"]
    n_wrong, n_eliminated = report.wrong(our_rows)
    assert n_eliminated > (0 if kind.startswith("clones") else 3)
    assert n_wrong <= binom.ppf(0.99, n_eliminated, 0.05)
    n_kept, n_members = report.kept(our_rows)
    assert n_members - n_kept <= binom.ppf(0.99, n_members, 0.05)
    cells = [(rule, kind, "0.95") for rule in ("empirical", "f-race")]
    assert f"| f-race/{kind}/0.95 | 6 |" in report.markdown(rows, cells, races.LIMIT, [])


def test_facts_of_a_race_say_which_elimination_is_wrong_and_when_the_race_is_right():
    """The first of three algorithms mostly beats the second; the third hardly ever loses."""
    wins = np.full((2, 3, 3), 0.5)
    wins[:, 0, 1] = 0.6
    wins[:, 1, 0] = 0.4
    wins[:, 2, :2] = 0.9
    wins[:, :2, 2] = 0.1
    wins[0, 2, 0] = 0.5
    wins[0, 0, 2] = 0.5
    truth = truths.Truth(np.zeros((4, 3, 2)), wins)
    eliminations = [(1, 0, 8), (0, 1, 16)]
    history = [(10, {0, 2}), (20, {2}), (30, {0, 2})]
    facts = races.facts(truth, eliminations, history)
    assert [elimination["wrong"] for elimination in facts["eliminated"]] == [False, True]
    assert [elimination["beyond"] for elimination in facts["eliminated"]] == [False, True]
    assert (facts["members"], facts["kept"], facts["right"]) == (2, 2, True)
    assert facts["until_right"] == 30


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["window1of20_0.8-constant", "late-0.33", "floor-constant"])
def test_a_member_that_is_best_at_few_times_is_kept(kind):
    """If 5 % of races at alpha 0.95 lose a member by more than the ROPE, 2 % of all seeds fail."""
    rows = [row for seed in range(12) for row in races.all_races(kind, seed, DEFAULT, None)]
    assert report.lost(rows) <= binom.ppf(0.98, 12, 0.05)


def test_exactly_even_algorithms_are_seldom_separated():
    """If 35 % of races separate some of five even algorithms, 1 % of all seeds fail."""
    rows = [
        row for seed in range(6) for row in races.all_races("even-constant", seed, DEFAULT, None)
    ]
    assert sum(bool(row["eliminated"]) for row in rows) <= binom.ppf(0.99, 6, 0.35)


def test_friedman_agrees_with_scipy_and_comparisons_are_t_tests_of_an_analysis_of_variance():
    """Conover's comparisons are least significant differences of a two-way layout of ranks."""
    rng = np.random.default_rng(6)
    values = rng.normal(size=(30, 4)) + np.array([0, 0.2, 0.4, 1.5])
    ranks = rankdata(values, axis=1)
    p, comparisons = f_race.friedman(ranks)
    assert p == pytest.approx(friedmanchisquare(*values.T).pvalue, rel=1e-9)
    means = ranks.mean(axis=0)
    residuals = ranks - ranks.mean(axis=1, keepdims=True) - means + ranks.mean()
    error = np.sqrt(2 * (residuals**2).sum() / (29 * 3) / 30)
    for a, b in product(range(4), repeat=2):
        expected = 1.0
        if means[a] < means[b]:
            expected = 2 * student.sf((means[b] - means[a]) / error, 29 * 3)
        assert comparisons[a, b] == pytest.approx(expected, rel=1e-9)


def test_holms_adjustment_multiplies_the_smallest_by_all_and_never_falls():
    adjusted = f_race.holm(np.array([[0.01, 0.04], [0.03, 0.5]]))
    np.testing.assert_allclose(adjusted, [[0.04, 0.09], [0.09, 0.5]])
