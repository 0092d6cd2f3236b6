"""Results that benchopt itself wrote, and tables like them."""

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import polarbear as pb
from polarbear.errors import ImportFailedError
from polarbear.formats.benchopt import Benchopt

OBJECTIVE = """
from benchopt import BaseObjective

class Objective(BaseObjective):
    name = "Quadratic"
    def set_data(self, centre): self.centre = centre
    def evaluate_result(self, x): return dict(value=float((x - self.centre) ** 2), other=1.0)
    def get_one_result(self): return dict(x=0.0)
    def get_objective(self): return dict(centre=self.centre)
"""
DATASET = """
from benchopt import BaseDataset

class Dataset(BaseDataset):
    name = "simple"
    parameters = {"centre": [1.0, 3.0]}
    def get_data(self): return dict(centre=self.centre)
"""
SOLVER = """
from benchopt import BaseSolver

class Solver(BaseSolver):
    name = "halving"
    sampling_strategy = "iteration"
    parameters = {"rate": [0.5, 0.9]}
    def set_objective(self, centre): self.centre = centre
    def run(self, n_iter): self.x = self.centre * (1 - self.rate ** n_iter)
    def get_result(self): return dict(x=self.x)
"""
ROWS = {
    "solver_name": ["A", "A", "B"],
    "dataset_name": ["d", "d", "d"],
    "objective_name": ["o", "o", "o"],
    "idx_rep": [0, 0, 0],
    "stop_val": [1, 2, 1],
    "time": [0.5, 1.5, 0.25],
    "objective_value": [3.0, 2.0, 4.0],
}


@pytest.mark.peer
@pytest.mark.slow
def test_results_of_benchopt_are_read_as_measured(tmp_path: Path):
    bench = tmp_path / "bench"
    for name, text in (
        ("objective.py", OBJECTIVE),
        ("datasets/simple.py", DATASET),
        ("solvers/halving.py", SOLVER),
    ):
        (bench / name).parent.mkdir(parents=True, exist_ok=True)
        (bench / name).write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "benchopt", "run", "bench", "-r", "2", "-n", "4", "--no-plot",
         "--no-html", "--output", "out"],
        cwd=tmp_path, env={**os.environ, "HOME": str(tmp_path)}, capture_output=True, text=True,
        check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    path = bench / "outputs" / "out.parquet"
    rows = pl.read_parquet(path)
    store = pb.import_data(path, tmp_path / "s", "benchopt", by="stop_val")
    assert store.axis == "iterations"
    assert set(store.algorithms) == {"halving[rate=0.5]", "halving[rate=0.9]"}
    assert set(store.instances()["instance"]) == {
        f"Quadratic on simple[centre={centre}]#{k}" for centre in ("1.0", "3.0") for k in (1, 2)
    }
    expected = rows.select(
        pl.col("solver_name").alias("algorithm"),
        pl.format(
            "Quadratic on {}#{}", pl.col("dataset_name"), pl.col("idx_rep").cast(int) + 1
        ).alias("instance"),
        pl.col("stop_val").cast(float).alias("t"),
        pl.col("objective_value").alias("y"),
    )
    keys = ["algorithm", "instance", "t"]
    assert store.trajectories().drop("run_status").sort(keys).equals(expected.sort(keys))
    assert any("objective_other" in note for note in store.result.notes)


def written(folder: Path, **changes: list[object] | None) -> Path:
    rows = {key: value for key, value in {**ROWS, **changes}.items() if value is not None}
    pl.DataFrame(rows).write_parquet(folder / "r.parquet")
    return folder / "r.parquet"


def test_one_of_several_objectives_has_to_be_chosen(tmp_path: Path):
    path = written(
        tmp_path, objective_value=None, objective_loss=[3.0, 2.0, 4.0], objective_gap=[1.0] * 3
    )
    with pytest.raises(ImportFailedError, match="it has objective_loss, objective_gap: choose"):
        Benchopt().read(path)
    imported = Benchopt(objective="objective_loss").read(path)
    assert imported.axis == "seconds"
    assert imported.outcomes[0].times.tolist() == [0.5, 1.5]
    assert imported.outcomes[0].values.tolist() == [3, 2]
    with pytest.raises(ImportFailedError, match="no numeric column 'loss'"):
        Benchopt(objective="loss").read(path)
    with pytest.raises(ImportFailedError, match="no column 'solver_name'"):
        Benchopt().read(written(tmp_path, solver_name=None))
    with pytest.raises(ImportFailedError, match="no numeric column .* it has none"):
        Benchopt().read(written(tmp_path, objective_value=["x"] * 3))
