"""A small version of benchmarks/race.py: eliminations are right as often as promised."""

from __future__ import annotations

import importlib.util
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import binom, friedmanchisquare, rankdata
from scipy.stats import t as student

from polarbear.rankings import rank

_BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
INSTANCES = 500


def _load(name: str):
    spec = importlib.util.spec_from_file_location(f"benchmarks_{name}", _BENCHMARKS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


races = _load("race")  # which lets the others be imported by their names
truths = sys.modules["truths"]
f_race = sys.modules["f_race"]
report = sys.modules["race_report"]


def values_of(mu: np.ndarray, correlation: str, rng: np.random.Generator, size: int) -> np.ndarray:
    return -mu.T + truths.gumbel_noise(size, correlation, rng)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pl-0", "pl-constant", "mixture-0.33", "clones-constant"])
def test_the_default_eliminates_rightly(kind):
    """Six races at alpha 0.95, beside the F-race's; a calibrated procedure fails for less than 1 %
    of all seeds."""
    rows = [
        row
        for seed in range(6)
        for row in races.all_races(kind, seed, [("empirical", "0.95"), ("f-race", "0.95")], None)
    ]
    ours = [row for row in rows if row["rule"] == "empirical"]
    wrong, of = report.wrong(ours)
    assert of > (0 if kind.startswith("clones") else 3)
    assert wrong <= binom.ppf(0.99, of, 0.05)
    stay, members = report.kept(ours)
    assert members - stay <= binom.ppf(0.99, members, 0.05)
    cells = [(rule, kind, "0.95") for rule in ("empirical", "f-race")]
    assert f"| f-race/{kind}/0.95 | 6 |" in report.markdown(rows, cells, races.LIMIT)


def test_what_is_called_wrong_is_wrong_and_until_when():
    """Three algorithms: the first beats the second nearly always, the third hardly ever loses."""
    wins = np.full((2, 3, 3), 0.5)
    wins[:, 0, 1], wins[:, 1, 0] = 0.6, 0.4
    wins[:, 2, :2], wins[:, :2, 2] = 0.9, 0.1
    wins[0, 2, 0] = wins[0, 0, 2] = 0.5
    truth = truths.Truth(np.zeros((4, 3, 2)), wins)
    found = races.facts(truth, [(1, 0, 8), (0, 1, 16)], [(10, {0, 2}), (20, {2}), (30, {0, 2})])
    assert [one["wrong"] for one in found["eliminated"]] == [False, True]
    assert [one["beyond"] for one in found["eliminated"]] == [False, True]
    assert (found["members"], found["kept"], found["right"]) == (2, 2, True)
    assert found["until_right"] == 30


def test_simulated_rankings_follow_plackett_luce_at_each_time_whatever_the_correlation():
    """500 instances: who is best, within five standard errors of theta; error below 1e-4."""
    mu = np.random.default_rng(3).normal(size=(truths.TIMES, truths.ALGORITHMS))
    theta = softmax(mu, axis=1)
    for correlation in truths.CORRELATIONS:
        values = values_of(mu, correlation, np.random.default_rng(4), INSTANCES)
        best = (rank(values) == 0).mean(axis=0).T
        error = np.sqrt(theta * (1 - theta) / INSTANCES)
        assert (np.abs(best - theta) < 5 * error + 1 / INSTANCES).all()


def test_friedman_is_the_librarys_and_comparisons_are_t_tests_of_an_analysis_of_variance():
    """Conover's comparisons: least significant differences of a two-way layout of ranks."""
    rng = np.random.default_rng(6)
    values = rng.normal(size=(30, 4)) + np.array([0, 0.2, 0.4, 1.5])
    ranks = rankdata(values, axis=1)
    p, comparisons = f_race.friedman(ranks)
    assert p == pytest.approx(friedmanchisquare(*values.T).pvalue, rel=1e-9)
    means = ranks.mean(axis=0)
    residuals = ranks - ranks.mean(axis=1, keepdims=True) - means + ranks.mean()
    error = np.sqrt(2 * (residuals**2).sum() / (29 * 3) / 30)
    for a, b in product(range(4), repeat=2):
        expected = (
            2 * student.sf((means[b] - means[a]) / error, 29 * 3) if means[a] < means[b] else 1
        )
        assert comparisons[a, b] == pytest.approx(expected, rel=1e-9)


def test_holms_adjustment_multiplies_the_smallest_by_all_and_never_falls():
    adjusted = f_race.holm(np.array([[0.01, 0.04], [0.03, 0.5]]))
    np.testing.assert_allclose(adjusted, [[0.04, 0.09], [0.09, 0.5]])
