"""Folders for IOHprofiler and COCO: read back by their own packages, and by PolarBear."""

from pathlib import Path

import numpy as np
import pytest

import polarbear as pb
from polarbear.errors import ExportFailedError
from polarbear.formats.numbered_runs import NOTHING_FOUND
from polarbear.store import StoreOnDisk
from tests.classical.helpers import Run, make_store
from tests.formats.helpers import numbered_store, trajectories
from tests.formats.peers import read_by_cocopp, read_by_iohinspector


@pytest.mark.peer
@pytest.mark.slow
def test_iohinspector_reads_every_digit(tmp_path: Path):
    store = numbered_store(tmp_path / "s", maximise=True)
    pb.open(store.path).export("ioh", tmp_path / "out")
    read_back = read_by_iohinspector(tmp_path / "out", tmp_path)
    points_by_run: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for algorithm, function, dimension, instance, _, t, y in read_back["points"]:
        if abs(y) < NOTHING_FOUND:  # NOTHING_FOUND stands at evaluation 1
            points_by_run.setdefault(
                (algorithm, f"f{function}-d{dimension}-i{instance}"), []
            ).append((t, y))
    expected = trajectories(store, by_problem=True)
    assert points_by_run.keys() == expected.keys()
    for run, (t, y, reached) in expected.items():
        points = [(time, -value) for time, value in zip(t, y, strict=True)]
        assert points_by_run[run] == points + (
            [(reached, points[-1][1])] if reached > t[-1] else []
        )
    ends = {
        (name, f"f{function}-d{dimension}-i{instance}"): (evals, -best)
        for name, function, dimension, instance, _, evals, best in read_back["runs"]
    }
    assert ends == {run: (reached, y[-1]) for run, (_, y, reached) in expected.items()}


@pytest.mark.parametrize(("format", "maximise"), [("ioh", False), ("ioh", True), ("coco", False)])
def test_polarbear_reads_its_own_folder_exactly(format: str, maximise: bool, tmp_path: Path):
    store = numbered_store(tmp_path / "s", maximise)
    report = pb.open(store.path).export(format, tmp_path / "out")
    pb.import_data(tmp_path / "out", tmp_path / "again", format)
    imported = StoreOnDisk.open(tmp_path / "again")
    expected = trajectories(store, by_problem=True)
    if format == "coco":
        assert "the sign ' in names of algorithms is written as ’" in report.notes
        expected = {(name.replace("'", "’"), i): run for (name, i), run in expected.items()}
    assert trajectories(imported, by_problem=True) == expected
    assert imported.settings.instances.maximise == maximise


@pytest.mark.peer
@pytest.mark.slow
def test_cocopp_reads_when_targets_were_reached(tmp_path: Path):
    store = numbered_store(tmp_path / "s")
    pb.open(store.path).export("coco", tmp_path / "out")
    targets = [100.0, 1.0, 0.01, 1e-6]
    data_sets = read_by_cocopp(tmp_path / "out", targets, tmp_path)
    expected = {
        (name.replace("'", "’"), problem): run
        for (name, problem), run in trajectories(store, by_problem=True).items()
    }
    runs_read = set()
    for data_set in data_sets:
        for k, instance in enumerate(data_set["instances"]):
            run = (
                data_set["algorithm"],
                f"f{data_set['function']}-d{data_set['dimension']}-i{instance}",
            )
            t, y, reached = expected[run]
            hits = [next((a for a, b in zip(t, y, strict=True) if b <= g), np.nan) for g in targets]
            assert np.array_equal([row[k] for row in data_set["evals"]], hits, equal_nan=True)
            assert data_set["finalfunvals"][k] == y[-1]
            if y[-1] > 1e-8:  # cocopp looks no further than that
                assert data_set["maxevals"][k] == reached
            runs_read.add(run)
    assert runs_read == expected.keys()


def test_a_live_suites_values_are_written_as_distances(tmp_path: Path):
    runs = {"A": [Run([1, 3], [5.0, 2.5])], "B": [Run([2], [4.0])]}
    make_store(tmp_path / "s", runs)
    report = pb.open(tmp_path / "s").export("ioh", tmp_path / "out", optimum=2.0)
    assert "values are written as distances to the best possible value" in report.notes
    pb.import_data(tmp_path / "out", tmp_path / "again", "ioh")
    imported = trajectories(StoreOnDisk.open(tmp_path / "again"))
    assert imported["A", "f1-d0-i1#1"] == ([1, 3], [3.0, 0.5], 3)
    assert imported["B", "f1-d0-i1#1"] == ([2], [2.0], 2)


def test_instances_without_numbers_are_numbered_by_function_and_problem(tmp_path: Path):
    specs = [
        {"function": "sphere", "dimension": 2},
        {"function": "bowl", "dimension": 2},
        {"function": "sphere", "dimension": 2, "problem": "p"},
        {"function": "sphere", "dimension": 2, "problem": "p"},
    ]
    make_store(tmp_path / "s", {"A": [Run([1], [float(i)]) for i in range(4)]}, specs=specs)
    report = pb.open(tmp_path / "s").export("ioh", tmp_path / "out")
    note = "functions and instances have no numbers; they are numbered in their order"
    assert note in report.notes
    pb.import_data(tmp_path / "out", tmp_path / "again", "ioh")
    values_by_instance = {
        i: y for (_, i), (_, y, _) in trajectories(StoreOnDisk.open(tmp_path / "again")).items()
    }
    assert values_by_instance == {
        "f1-d2-i1#1": [0.0],
        "f2-d2-i1#1": [1.0],
        "f1-d2-i2#1": [2.0],
        "f1-d2-i2#2": [3.0],
    }


def test_runs_that_a_format_cannot_hold_are_refused(tmp_path: Path):
    make_store(tmp_path / "s", {"A": [Run([1], [2.0])]}, axis="seconds")
    for format, name in (("ioh", "IOHprofiler"), ("coco", "COCO")):
        with pytest.raises(ExportFailedError, match=f"{name} counts evaluations, but .* seconds"):
            pb.open(tmp_path / "s").export(format, tmp_path / "out")
    make_store(tmp_path / "half", {"A": [Run([1.5], [2.0])]})
    with pytest.raises(ExportFailedError, match="whole evaluations, but A on i000"):
        pb.open(tmp_path / "half").export("ioh", tmp_path / "out")
    store = pb.open(make_store(tmp_path / "plain", {"A": [Run([1], [2.0])]}).path)
    with pytest.raises(ExportFailedError, match="is unknown: add --set optimum=VALUE"):
        store.export("coco", tmp_path / "out")
    with pytest.raises(ExportFailedError, match="needs the number of variables"):
        store.export("coco", tmp_path / "out", optimum=0)
    numbered_store(tmp_path / "max", maximise=True)
    with pytest.raises(ExportFailedError, match="use --format ioh"):
        pb.open(tmp_path / "max").export("coco", tmp_path / "out")
    assert not (tmp_path / "out").exists()
