"""ECDF, AOCC and EAF are compared with brute force, with each other, and with moocore."""

from pathlib import Path

import moocore
import numpy as np
import pytest

from polarbear.classical.attainment import EAF_LEVELS
from polarbear.classical.view import View, view
from polarbear.classical.view_options import ViewOptions
from tests.classical.helpers import Run, make_store, random_runs, value_at

NAMES = ("A", "B", "C")
GRID = {"spacing": "log", "from": 1.0, "to": 100.0, "points": 9}
FIXED = ViewOptions(targets="1e2:1e-8", optimum=0.0)
SEEN = ViewOptions(targets="seen", scale="linear")


@pytest.fixture(scope="module")
def runs() -> dict[str, list[Run]]:
    return random_runs(5, NAMES, 14)


@pytest.fixture(scope="module", params=[FIXED, SEEN], ids=["fixed", "seen"])
def classical(
    request: pytest.FixtureRequest, runs, tmp_path_factory: pytest.TempPathFactory
) -> View:
    store = make_store(tmp_path_factory.mktemp("view") / "store", runs, GRID, axis="effort")
    return view(store, options=request.param)


def values_on_span(run: Run) -> np.ndarray:
    """The finite best-so-far values of a run at its own times within the grid and at its ends."""
    times = [t for t in [1.0, 100.0, *run.t] if 1.0 <= t <= 100.0]
    values = np.array([value_at(run, t) for t in times])
    return values[np.isfinite(values)]


def share_at(classical: View, runs, name: str, instance: int, time: float) -> float:
    """The attained share of the targets, computed from its definition."""
    y = value_at(runs[name][instance], time)
    if np.isinf(y):
        return 0.0
    if classical.scale.log:
        attained = (2.0 - np.log10(y)) / 10.0
    else:
        values = np.concatenate([values_on_span(runs[other][instance]) for other in NAMES])
        attained = (values.max() - y) / (values.max() - values.min())
    return float(np.clip(attained, 0.0, 1.0))


def test_the_ecdf_is_the_mean_share_of_targets_reached_by_each_time(classical: View, runs):
    for k in range(0, len(classical.times), 7):
        for a, name in enumerate(NAMES):
            shares = [
                share_at(classical, runs, name, i, float(classical.times[k])) for i in range(14)
            ]
            assert classical.ecdf.mean[a, k] == pytest.approx(np.mean(shares), abs=1e-12)


def test_with_a_number_of_targets_the_ecdf_counts_pairs_of_run_and_target(runs, tmp_path: Path):
    store = make_store(tmp_path / "store", runs, GRID, axis="effort")
    classical = view(store, options=ViewOptions(targets="1e2:1e-8:51", optimum=0.0))
    targets = 10 ** np.linspace(2, -8, 51)
    for k in range(0, len(classical.times), 11):
        for a, name in enumerate(NAMES):
            pairs = [
                value_at(runs[name][i], float(classical.times[k])) <= target
                for i in range(14)
                for target in targets
            ]
            assert classical.ecdf.mean[a, k] == pytest.approx(np.mean(pairs), abs=1e-12)


@pytest.mark.parametrize("log_time", [False, True])
def test_aocc_is_the_area_under_the_ecdf_over_time(classical: View, log_time: bool):
    """The midpoint rule on many narrow intervals integrates the step function."""
    n_intervals = 20_000
    midpoints = (np.arange(n_intervals) + 0.5) / n_intervals
    times = 100.0**midpoints if log_time else 1.0 + 99.0 * midpoints
    shares = classical.curves.on(times, classical.scale.share(classical.progress), 0.0)
    area = classical.aocc_log if log_time else classical.aocc
    # Each of at most 12 steps of a run adds an error of at most one interval to its area.
    assert np.abs(shares.mean(axis=2) - area.areas).max() <= 12 / n_intervals
    assert area.mean == pytest.approx(area.areas.mean(axis=0))
    assert ((area.areas >= 0) & (area.areas <= 1)).all()


def test_contours_bound_what_a_percentage_of_runs_has_attained(classical: View):
    """Enough runs have attained the level of a corner, and too few a slightly higher level."""
    for a in range(len(NAMES)):
        for percentile, line in classical.eaf.contours[a].items():
            needed = np.ceil(14 * percentile / 100)
            assert len(line)
            for t, level in line:
                progress = classical.curves.on(np.array([t]), classical.progress, -np.inf)[:, a, 0]
                assert (progress >= level - 1e-9).sum() >= needed
                if level < 1 - 1e-6:
                    assert (progress >= level + 1e-6).sum() < needed


def as_moocore_sets(classical: View, algorithm: int) -> np.ndarray:
    """Rows of time, distance from the hardest level, and run, as moocore expects them.

    Each run gets one more point outside the plane, so that moocore counts it in any case.
    """
    run = classical.curves.run_of_point
    n = len(classical.algorithms)
    is_of_algorithm = (run % n == algorithm) & (classical.progress >= 0.0)
    missing = 1.0 - np.minimum(classical.progress[is_of_algorithm], 1.0)
    inside = np.column_stack(
        [classical.curves.t[is_of_algorithm], missing, run[is_of_algorithm] // n + 1]
    )
    outside = [(200.0, 2.0, i + 1) for i in range(len(classical.common.instances))]
    rows = np.concatenate([inside, outside])
    return rows[np.argsort(rows[:, 2], kind="stable")]


def test_the_eaf_difference_equals_that_of_moocore(classical: View):
    stacked = [as_moocore_sets(classical, k) for k in (0, 1)]
    rectangles = moocore.eafdiff(*stacked, rectangles=True)
    counted = classical.eaf_difference("A", "B")
    checked = 0
    for k in range(0, len(classical.times), 5):
        for j in range(0, len(EAF_LEVELS), 7):
            t = classical.times[k]
            missing = 1.0 - EAF_LEVELS[j]
            inside = (
                (rectangles[:, 0] <= t)
                & (t < rectangles[:, 2])
                & (rectangles[:, 1] <= missing)
                & (missing < rectangles[:, 3])
            )
            near = np.abs(rectangles[:, [1, 3]] - missing).min() < 1e-9
            if near:
                continue
            runs_more = rectangles[inside, 4].sum()
            assert counted[j, k] == pytest.approx(runs_more / 14)
            checked += 1
    assert checked > 100


def test_a_lead_is_given_at_its_largest_point(classical: View):
    lead = classical.lead("A", "C")
    assert lead is not None
    assert lead.most == pytest.approx(classical.eaf_difference("A", "C").max())
    assert lead.attained - lead.attained_by_other == pytest.approx(lead.most)
    assert 0 < lead.share_of_plane <= 1


def test_a_run_without_any_value_has_attained_nothing(tmp_path: Path):
    runs = {"A": [Run([1], [1e-3]), Run([], [])], "B": [Run([50], [1e-3]), Run([1], [1e-3])]}
    classical = view(make_store(tmp_path / "store", runs), options=FIXED)
    assert classical.ecdf.mean[0, -1] == pytest.approx(0.5 / 2)
    assert classical.eaf.attained[0, 0, -1] == 0.5
    assert classical.aocc.areas[1, 0] == 0
    assert len(classical.eaf.contours[0][75.0]) == 0


def test_improvements_between_grid_times_count_from_their_own_times(tmp_path: Path):
    runs = {"A": [Run([1, 50.5], [1e2, 1e-8])], "B": [Run([1], [1e2])]}
    classical = view(make_store(tmp_path / "store", runs, (1.0, 100.0), "effort"), options=FIXED)
    assert classical.aocc.areas[0, 0] == pytest.approx(0.5)
    assert classical.aocc_log.areas[0, 0] == pytest.approx(np.log(100 / 50.5) / np.log(100))


def test_aocc_at_one_time_is_the_share_reached_by_then(tmp_path: Path):
    runs = {"A": [Run([1], [1e-3])] * 3, "B": [Run([5], [1e-8])] * 3}
    classical = view(make_store(tmp_path / "store", runs, (5.0,)), options=FIXED)
    assert classical.aocc.mean.tolist() == pytest.approx([0.5, 1.0])
    assert classical.aocc_log.mean.tolist() == pytest.approx([0.5, 1.0])
    assert any("one time only" in note for note in classical.notes())
