"""Folders of IOHprofiler, written by ioh itself and by hand."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polarbear.errors import ImportFailedError
from polarbear.formats.ioh import Ioh


def folder_of(
    root: Path, algorithm: str, runs: list[tuple[int, list[tuple[int, float]]]], **changes: Any
) -> Path:
    """A folder as the Analyzer writes it for one function in two dimensions."""
    lines = []
    described = []
    for instance, points in runs:
        lines.append("evaluations raw_y")
        lines += [f"{t} {y:.10f}" for t, y in points]
        best = min(points, key=lambda point: point[1])
        described.append(
            {"instance": instance, "evals": points[-1][0], "best": {"evals": best[0], "y": best[1]}}
        )
    facts = {
        "version": "0.3.22",
        "function_id": 3,
        "function_name": "Rastrigin",
        "maximization": False,
        "algorithm": {"name": algorithm, "info": ""},
        "attributes": ["evaluations", "raw_y"],
        "scenarios": [{"dimension": 2, "path": "data/f3.dat", "runs": described}],
        **changes,
    }
    folder = root / algorithm
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "f3.dat").write_text("\n".join(lines) + "\n")
    (folder / "IOHprofiler_f3_Rastrigin.json").write_text(json.dumps(facts))
    return folder


def test_current_values_and_a_repeated_header_become_runs(tmp_path: Path):
    folder_of(tmp_path, "A", [(1, [(1, 9.0), (4, 2.0), (50, 7.0)]), (1, [(1, 3.0), (50, 8.0)])])
    folder_of(tmp_path, "B", [(1, [(1, 5.0), (50, 5.5)])])
    imported = Ioh().read(tmp_path)
    runs = {(o.task.algorithm.name, o.task.instance.id): o for o in imported.outcomes}
    assert set(runs) == {("A", "f3-d2-i1#1"), ("A", "f3-d2-i1#2"), ("B", "f3-d2-i1#1")}
    assert runs["A", "f3-d2-i1#1"].values.tolist() == [9, 2]
    assert runs["A", "f3-d2-i1#1"].reached == 50
    assert "ten decimals" in imported.notes[0]


def test_larger_is_better_where_ioh_says_so_and_directions_are_not_mixed(tmp_path: Path):
    folder_of(tmp_path, "A", [(1, [(1, 3.0), (2, 5.0)])], maximization=True)
    (run,) = Ioh().read(tmp_path).outcomes
    assert (run.times.tolist(), run.values.tolist()) == ([1, 2], [-3.0, -5.0])
    exact = 1.23456789012345e-11  # 0.0000000000 in the .dat file, in full in the description
    other = folder_of(tmp_path / "other", "B", [(1, [(1, 1.0), (9, exact), (50, 2.0)])])
    assert Ioh().read(other).outcomes[0].values.tolist() == [1.0, exact]
    with pytest.raises(ImportFailedError, match="mixes functions"):
        Ioh().read(tmp_path)


def test_a_cut_file_and_odd_rows_are_counted_and_named(tmp_path: Path):
    folder = folder_of(tmp_path, "A", [(1, [(1, 3.0)]), (2, [(1, 3.0)])])
    data = folder / "data" / "f3.dat"
    data.write_text("evaluations raw_y\n1 3.0\nnonsense row\n2 nan\n")
    reasons = {(c.rows, c.reason) for c in Ioh().read(tmp_path).rejected}
    assert (2, "the row is not a number of evaluations and a value") in reasons
    assert (1, "2 runs are described but 1 is there") in reasons


@pytest.mark.parametrize("second", ["F2", "raw_y_2", "y2", "objective 2", "raw_y"])
def test_several_objectives_are_refused_by_their_names(second: str, tmp_path: Path):
    attributes = ["evaluations", "raw_y", second]
    folder_of(tmp_path, "A", [(1, [(1, 3.0)])], attributes=attributes)
    with pytest.raises(ImportFailedError, match=rf"several objectives \(raw_y, {second}\)"):
        Ioh().read(tmp_path)


def test_attributes_that_play_no_part_are_named(tmp_path: Path):
    attributes = ["evaluations", "raw_y", "sigma", "f1"]
    changes = {"attributes": attributes, "experiment_attributes": [{"machine": "x"}]}
    folder_of(tmp_path, "A", [(1, [(1, 3.0)])], **changes)
    assert "3 attributes ignored: sigma, f1, machine" in Ioh().read(tmp_path).notes


@pytest.mark.parametrize(
    ("changes", "optimum"),
    [
        ({"suite": "BBOB"}, 0.0),
        ({"suite": "unknown_suite"}, 0.0),  # f3 is BBOB's Rastrigin
        ({"suite": "unknown_suite", "function_name": "mine"}, None),
        ({"suite": "PBO"}, None),
        ({"suite": "BBOB", "maximization": True}, None),
    ],
)
def test_functions_of_bbob_know_their_optimum(changes, optimum, tmp_path):
    folder_of(tmp_path, "A", [(4, [(1, 3.0)])], **changes)
    (instance,) = Ioh().read(tmp_path).instances
    numbers = {key: instance.spec[key] for key in ("function", "dimension", "instance")}
    assert numbers == {"function": 3, "dimension": 2, "instance": 4}
    assert instance.spec.get("optimum") == optimum


def test_files_of_ioh_are_read_as_best_values_so_far(tmp_path: Path):
    ioh = pytest.importorskip("ioh", reason="ioh is not installed: pip install '.[bbob]'")
    rng = np.random.default_rng(1)
    expected = {}
    for name in ("A", "B"):
        logger = ioh.logger.Analyzer(root=str(tmp_path), folder_name=name, algorithm_name=name)
        for function in (1, 3):
            for instance in (1, 2):
                problem = ioh.get_problem(function, instance, 3)
                problem.attach_logger(logger)
                for repeat in (1, 2):
                    values = [problem(rng.uniform(-5, 5, 3)) for _ in range(40)]
                    best = np.minimum.accumulate(np.array(values) - problem.optimum.y)
                    expected[name, f"f{function}-d3-i{instance}#{repeat}"] = best
                    problem.reset()
        logger.close()
    imported = Ioh().read(tmp_path)
    assert len(imported.outcomes) == len(expected) == 16
    for run in imported.outcomes:
        best = expected[run.task.algorithm.name, run.task.instance.id]
        point_at_time = np.searchsorted(run.times, np.arange(1, 41), side="right") - 1
        assert np.allclose(run.values[point_at_time], best, atol=1e-9)
        assert run.reached == 40
