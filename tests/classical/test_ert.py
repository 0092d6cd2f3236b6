"""Expected running times, and time counted per dimension."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import polarbear
from polarbear.classical.comparison_facts import expected_running_times
from polarbear.classical.view import view
from polarbear.classical.view_options import ViewOptions
from polarbear.errors import ConfigError, ReportError
from polarbear.execution.outcome import Status
from tests.classical.helpers import Run, make_store
from tests.formats.peers import read_by_cocopp
from tests.support import Project

OPTIMUM = ViewOptions(optimum=0.0)


def test_ert_is_the_total_time_spent_divided_by_the_number_of_successful_runs(tmp_path: Path):
    runs = {
        "A": [Run([1, 10], [5.0, 0.5]), Run([1], [7.0], Status.ENDED, 100)],
        "B": [Run([4], [0.5]), Run([1], [9.0], Status.BUDGET, 100)],
    }
    store = make_store(tmp_path / "s", runs)
    rows = expected_running_times(store, view(store, options=OPTIMUM), (8.0, 1.0, 0.0))
    ert = {row.algorithm: [(point.ert, point.reached) for point in row.at] for row in rows}
    assert ert == {
        "A": [((1 + 1) / 2, 2), ((10 + 100) / 1, 1), (None, 0)],
        "B": [(104, 1), (104, 1), (None, 0)],
    }
    assert {(row.group, row.runs) for row in rows} == {(None, 2)}


def test_the_interval_of_ert_is_that_of_resampled_instances(tmp_path: Path):
    rng = np.random.default_rng(3)
    hits = rng.uniform(2, 90, 30).round()
    runs = [
        Run([1, t], [5.0, 0.5]) if i % 3 else Run([1], [5.0], reached=100)
        for i, t in enumerate(hits)
    ]
    store = make_store(tmp_path / "s", {"A": runs})
    classical = view(store, options=OPTIMUM)
    (row,) = expected_running_times(store, classical, (1.0,))
    (point,) = row.at
    spent = np.where(np.arange(30) % 3, hits, 100)
    times = classical.drawn.times.astype(float)
    resampled = np.sort((times @ spent) / (times @ (np.arange(30) % 3 > 0)))
    assert point.low == pytest.approx(resampled[int(0.025 * 999)])
    assert point.high == pytest.approx(resampled[int(np.ceil(0.975 * 999))])
    assert point.low < point.ert < point.high


def test_the_interval_is_unbounded_if_resamples_may_contain_no_success(project: Project):
    runs = {"A": [Run([1, 10], [5.0, 0.5]), *[Run([1], [5.0], reached=100)] * 3]}
    make_store(project.folder / "s", runs)
    answer = project.json("compare", "s", "--optimum", "0", "--ert", "1,0")
    (row,) = answer["ert"]
    assert row["at"][0]["ert"] == 310
    assert row["at"][0]["low"] is not None
    assert row["at"][0]["high"] is None
    assert row["at"][1] == {"target": 0, "ert": None, "low": None, "high": None, "reached": 0}
    output = project("compare", "s", "--optimum", "0", "--ert", "1,0").stdout
    assert "310 [" in output
    assert "unbounded]" in output
    assert "not reached" in output


def coco_folder(root: Path, name: str, seed: int, dimensions: Sequence[int]) -> None:
    """Write random trajectories in COCO's format, 15 instances of f3 in each dimension."""
    rng = np.random.default_rng(seed)
    folder = root / name
    (folder / "data_f3").mkdir(parents=True)
    info = []
    head = "% f evaluations | g evaluations | best noise-free fitness - Fopt (1.0e+01) | x1\n"
    for dimension in dimensions:
        text = ""
        runs = []
        for instance in range(1, 16):
            times = np.unique(rng.integers(2, 1000 * dimension, 40))
            values = np.sort(10 ** rng.uniform(-4 * rng.random(), 2, len(times)))[::-1]
            points = [(1, 300.0), *zip(times.tolist(), values.tolist(), strict=True)]
            points.append((1000 * dimension, points[-1][1]))
            text += head + "".join(f"{t} 0 {y:+.9e} 0 0 0\n" for t, y in points)
            runs.append(f"{instance}:{1000 * dimension}|{points[-1][1]:.1e}")
        for ending in ("dat", "tdat"):
            (folder / "data_f3" / f"x_f3_DIM{dimension}.{ending}").write_text(text)
        info.append(
            f"suite = 'bbob', funcId = 3, DIM = {dimension}, Precision = 1.000e-08, "
            f"algId = '{name}', coco_version = '2.8.2', logger = 'bbob', "
            f"data_format = 'bbob-new2'\n%\n"
            f"data_f3/x_f3_DIM{dimension}.dat, {', '.join(runs)}\n"
        )
    (folder / "x_f3.info").write_text("".join(info))


@pytest.mark.peer
@pytest.mark.slow
def test_ert_of_a_coco_folder_equals_that_of_cocopp(tmp_path: Path):
    for seed, name in enumerate("AB"):
        coco_folder(tmp_path / "exdata", name, seed, (2, 5))
    targets = [10.0, 1.0, 0.1, 0.01, 1e-3]
    ert_by_cocopp = {
        (data_set["algorithm"], f"f3-d{data_set['dimension']}"): data_set["ert"]
        for data_set in read_by_cocopp(tmp_path / "exdata", targets, tmp_path)
    }
    store = polarbear.import_data(tmp_path / "exdata", tmp_path / "s", "coco")
    rows = store.compare(ert=targets).ert
    ert_by_polarbear = {
        (row.algorithm, row.group): [p.ert or np.inf for p in row.at] for row in rows if row.group
    }
    assert ert_by_polarbear.keys() == ert_by_cocopp.keys()
    for key, ert in ert_by_polarbear.items():
        assert ert == pytest.approx(ert_by_cocopp[key], rel=1e-12)
    assert any(0 < point.reached < row.runs for row in rows for point in row.at)
    assert "100 down to 1e-08" in store.compare().scale.words
    store.compare(per_dimension=True, csv=tmp_path / "figures")
    last = (tmp_path / "figures" / "ecdf.csv").read_text().splitlines()[-1]
    assert last.split(",")[1] == "1000.0"


def test_evaluations_per_dimension_put_all_dimensions_on_one_axis(tmp_path: Path):
    """A run on 4 variables that is twice as slow as one on 2 variables is equal to it."""
    runs = [Run([2, 20, 200], [9.0, 3.0, 1.0]), Run([4, 40, 400], [9.0, 3.0, 1.0])]
    specs = [{"imported": i, "dimension": d, "optimum": 0.0} for i, d in enumerate((2, 4))]
    store = make_store(tmp_path / "s", {"A": runs}, grid=(4.0, 40.0, 400.0), specs=specs)
    classical = view(store, options=ViewOptions(per_dimension=True))
    assert classical.axis == "evaluations per dimension"
    assert classical.grid.tolist() == [1, 10, 100]
    assert (classical.shares[0] == classical.shares[1]).all()
    (row,) = expected_running_times(store, classical, (3.0, 1.0))
    assert [point.ert for point in row.at] == [10, 100]
    comparison = polarbear.open(tmp_path / "s").compare(per_dimension=True, ert=[3.0])
    assert comparison.axis == "evaluations per dimension"
    assert [point.t for point in comparison.ecdf[0].at] == [1, 10, 100]
    cut = [Run([1], [1.0], Status.BUDGET, 200), Run([1], [1.0], Status.BUDGET, 400)]
    other = make_store(tmp_path / "cut", {"A": cut}, grid=(4.0, 400.0), specs=specs)
    assert len(view(other).common.instances) == 1
    assert len(view(other, options=ViewOptions(per_dimension=True)).common.instances) == 2


def test_missing_optima_dimensions_and_wrong_targets_are_named(tmp_path: Path):
    store = make_store(tmp_path / "s", {"A": [Run([1, 2], [3.0, 1.0])]})
    opened = polarbear.open(tmp_path / "s")
    with pytest.raises(ReportError, match="ERT counts the time .* --optimum"):
        opened.compare(ert="usual")
    with pytest.raises(ReportError, match="that of i000 in .* is unknown"):
        opened.compare(per_dimension=True)
    with pytest.raises(ConfigError, match="expected distances separated by commas"):
        opened.compare(ert="1,x")
    with pytest.raises(ConfigError, match="greater than or equal to 0"):
        opened.compare(ert=[-1.0])
    assert store.path == opened.path
    timed = make_store(tmp_path / "t", {"A": [Run([1], [3.0])]}, axis="seconds")
    with pytest.raises(ReportError, match="divides evaluations, but .* counts seconds"):
        view(timed, options=ViewOptions(per_dimension=True))
