"""Resampled means: pairing, coverage of intervals, repeated seeds, and weighted instances."""

from pathlib import Path

import numpy as np
import pytest

from polarbear.classical.attainment import resamples
from polarbear.classical.comparison_facts import ErtRow, expected_running_times
from polarbear.classical.disagreement import share_ahead
from polarbear.classical.view import View, view
from polarbear.classical.view_options import ViewOptions
from polarbear.problems.weights import WEIGHT
from polarbear.store import StoreOnDisk
from tests.classical.helpers import Run, make_store


def test_a_resampled_mean_is_the_mean_of_instances_drawn_with_replacement():
    values = np.random.default_rng(1).normal(size=(7, 2, 3))
    drawn = resamples(list(map(str, range(7))), 200, seed=3)
    assert (drawn.times.sum(axis=1) == 7).all()
    for k in (0, 57, 199):
        picked = np.repeat(np.arange(7), drawn.times[k].astype(int))
        assert drawn.means(values)[k] == pytest.approx(values[picked].mean(axis=0))


def test_differences_are_paired_over_algorithms():
    rng = np.random.default_rng(2)
    hardness = rng.normal(size=(40, 1))
    values = hardness + np.array([0.0, 0.1])  # The difference is the same on every instance.
    means = resamples(list(map(str, range(40))), 500, seed=0).means(values)
    assert np.ptp(means[:, 1] - means[:, 0]) < 1e-12
    assert np.ptp(means[:, 0]) > 0.1


def test_intervals_cover_the_true_mean_about_as_often_as_they_claim():
    """600 samples of 40 exponentials: 95 % intervals miss the mean in 5 % of the samples.

    The bootstrap's known undercoverage of skewed data adds some 2 %. A coverage below 0.885 is
    five standard errors too low.
    """
    rng = np.random.default_rng(6)
    hits = 0
    for k in range(600):
        values = rng.exponential(size=(40, 1))
        low, high = resamples(list(map(str, range(40))), 400, seed=k).interval(values)
        hits += bool(low[0] <= 1.0 <= high[0])
    assert 0.885 <= hits / 600 <= 0.98


@pytest.mark.slow
def test_without_a_difference_false_alarms_at_any_of_many_times_are_rare():
    """Without a difference, one side of a simultaneous 95 % band is crossed in 2.5 % of samples.

    60 instances give somewhat more. Among 200 samples, 8 % is five standard errors too high.
    """
    rng = np.random.default_rng(7)
    false_alarms = 0
    for k in range(200):
        values = rng.normal(size=(60, 30))
        false_alarms += bool(
            resamples(list(map(str, range(60))), 300, seed=k).clearly_apart(values)[0].any()
        )
    assert false_alarms / 200 <= 0.08


def test_a_clear_difference_is_found_at_its_times():
    rng = np.random.default_rng(8)
    values = rng.normal(size=(60, 30)) + np.where(np.arange(30) < 10, 2.0, -2.0)
    clear, below = resamples(list(map(str, range(60))), 300, seed=0).clearly_apart(values)
    assert clear.tolist() == [True] * 10 + [False] * 20
    assert below.tolist() == [False] * 10 + [True] * 20
    alone = resamples(list(map(str, range(1))), 100, seed=0).clearly_apart(values[:1])
    assert not np.any(alone)


def test_seeds_of_a_problem_are_drawn_together_and_say_nothing_about_other_problems():
    problems = [name for name in "abcde" for _ in range(40)]
    drawn = resamples(problems, 300, seed=1)
    counts = drawn.times.reshape(300, 5, 40)
    assert (counts == counts[:, :, :1]).all()
    won = np.repeat([1.0, 1.0, 1.0, 0.0, 0.0], 40)[:, None]
    low, high = drawn.interval(won)
    assert high - low > 0.6  # The interval is that of five problems, not of 200 instances.
    assert np.isnan(resamples(["a"] * 40, 300, seed=1).interval(won[:40])[0]).all()
    np.testing.assert_allclose(resamples([*"aaaabbc"], 200, seed=2).means(np.ones((7, 1))), 1)


A = [Run([1, 10], [5.0, 0.5]), Run([1], [7.0], reached=100), Run([1, 30], [4.0, 0.1])]
B = [Run([4], [0.5]), Run([1, 50], [9.0, 0.2]), Run([2, 20], [3.0, 2.0])]
OPTIMUM = ViewOptions(optimum=0.0)


def heavy(path: Path) -> StoreOnDisk:
    specs = [{"imported": i, WEIGHT: weight} for i, weight in enumerate((1.0, 2.0, 1.0))]
    return make_store(path, {"A": A, "B": B}, specs=specs)


def double(path: Path) -> StoreOnDisk:
    return make_store(path, {"A": [*A, A[1]], "B": [*B, B[1]]})


@pytest.fixture
def views(tmp_path: Path) -> tuple[View, View]:
    weighted = view(heavy(tmp_path / "heavy"), options=OPTIMUM)
    repeated = view(double(tmp_path / "double"), options=OPTIMUM)
    return weighted, repeated


def test_means_and_leads_are_those_of_repeated_instances(views: tuple[View, View]):
    weighted, repeated = views
    np.testing.assert_allclose(weighted.ecdf.mean, repeated.ecdf.mean)
    np.testing.assert_allclose(weighted.aocc.mean, repeated.aocc.mean)
    np.testing.assert_allclose(weighted.eaf.attained, repeated.eaf.attained)
    assert any("instances have weights, from 1 to 2" in note for note in weighted.notes())
    assert not any("weights" in note for note in repeated.notes())
    times = np.array([1.0, 10.0, 100.0])
    ahead = share_ahead(weighted, 0, 1, times, np.ones(3))
    assert ahead == pytest.approx(share_ahead(repeated, 0, 1, times, np.ones(3)))


def test_ert_is_that_of_repeated_instances_while_runs_are_counted_once(tmp_path: Path):
    def ert_rows(store: StoreOnDisk) -> tuple[ErtRow, ...]:
        return expected_running_times(store, view(store, options=OPTIMUM), (1.0, 0.2))

    def all_ert(rows: tuple[ErtRow, ...]) -> list[float | None]:
        return [point.ert for row in rows for point in row.at]

    weighted = ert_rows(heavy(tmp_path / "heavy"))
    repeated = ert_rows(double(tmp_path / "double"))
    assert all_ert(weighted) == pytest.approx(all_ert(repeated))
    assert weighted[0].runs == 3


def test_a_problem_is_drawn_in_proportion_to_its_weight():
    """Five standard errors of a mean of 4,000 counts are 0.08."""
    counts = resamples(["a", "b", "c"], 4000, 1, np.array([1.0, 2.5, 0.5])).times
    assert (counts.sum(axis=1) == 4).all()
    assert counts.mean(axis=0) == pytest.approx([1.0, 2.5, 0.5], abs=0.08)
