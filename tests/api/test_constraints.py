"""Problems with constraints, from their runs to decisions."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polarbear as pb
from polarbear.store import StoreOnDisk

PROBLEM = """
import math
import random


class Problem:
    lower = [-5.0, -5.0]
    upper = [5.0, 5.0]

    def __call__(self, x):
        return float(x[0] ** 2 + x[1] ** 2), [1.0 - x[0], x[1] - 4.0]


class Stretched(Problem):
    def __call__(self, x):
        y, g = super().__call__(x)
        violation = sum(max(0.0, constraint) for constraint in g)
        return math.exp(y) - 7.0, [violation**3]


def make(seed, stretched=False):
    return Stretched() if stretched else Problem()


def near(problem, seed, spread=1.0):
    rng = random.Random(seed)
    while True:
        problem([rng.gauss(0.5, spread), rng.gauss(0.5, spread)])


def search(problem, seed):
    rng = random.Random(seed)
    while True:
        y, g = problem([rng.uniform(-5, 5), rng.uniform(-5, 5)])
        assert len(g) == 2


def reporting(problem, seed):
    problem.report(1, 5.0, violation=2.0)
    problem.report(2, 9.0)
    problem.report(3, 1.0, violation=0.5)
    problem.report(4, 8.0, violation=0)
"""


@pytest.fixture
def configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    monkeypatch.chdir(tmp_path)
    Path("constrained.py").write_text(PROBLEM)
    printed = "import sys; print('1 5 2\\n3 4 2\\n7 9 0\\n8 3 0.5\\n9 2 0')"
    algorithms: dict[str, dict[str, object]] = {
        "own": {"use": "python", "function": "constrained.py:search"},
        "reporting": {"use": "python", "function": "constrained.py:reporting"},
        "random": {"use": "random-search"},
        "program": {"use": "command", "command": [sys.executable, "-c", printed]},
    }
    with pb.use_executor(pb.InProcess):
        yield {
            "algorithms": [{"name": name, **options} for name, options in algorithms.items()],
            "instances": {"suite": "python", "function": "constrained.py:make"},
            "budget": {"axis": "evaluations", "grid": [5, 20, 60]},
        }
    sys.modules.pop("constrained", None)


def test_runs_are_stored_with_violations_and_repeated(configuration: dict[str, Any]):
    store = pb.run(configuration, store="s", instances=3)
    points = store.trajectories()
    of_program = points.filter(algorithm="program")[:4]
    assert of_program["t"].to_list() == [1, 3, 7, 9]
    assert of_program["violation"].to_list() == [2, 2, 0, 0]
    of_reporting = points.filter(algorithm="reporting")[:3]
    assert of_reporting["y"].to_list() == [5, 9, 8]
    for run in store.instance(store.instances()["instance"][0]).runs:
        violations = run.violation or (0.0,) * len(run.t)
        outcomes = list(zip(violations, run.y, strict=True))
        assert outcomes == sorted(outcomes, reverse=True)
        assert run.best == (outcomes[-1][1] if outcomes[-1][0] == 0 else None)


def test_exports_hold_violations_or_say_that_they_do_not(configuration: dict[str, Any]):
    store = pb.run(configuration, store="s", instances=2)
    expected = store.trajectories().sort("algorithm", "instance", "t")
    store.export("csv", "runs.csv")
    imported = pb.import_data("runs.csv", "again")
    assert imported.trajectories().sort("algorithm", "instance", "t").equals(expected)
    copied = pb.import_data("s", "copy", format="store")
    assert copied.trajectories().sort("algorithm", "instance", "t").equals(expected)
    exported = store.export("ioh", "folder")
    assert any("only feasible values" in note for note in exported.notes)


def test_the_share_of_feasible_runs_is_in_a_figure_and_on_the_page(configuration: dict[str, Any]):
    store = pb.run(configuration, store="s", instances=4)
    store.infer()
    store.report("page.html", csv="data")
    shares = pl.read_csv("data/feasible.csv")
    of_program = shares.filter(algorithm="program").select("t", "share").rows()
    assert of_program == [(5, 0), (20, 1), (60, 1)]  # it is feasible from t = 7 on
    assert set(shares["instances"]) == {4}
    assert "Share of feasible runs" in Path("page.html").read_text()


def frame(n_instances: int = 12, seed: int = 5) -> pl.DataFrame:
    """Four algorithms whose runs become feasible at different times, or never."""
    rng = np.random.default_rng(seed)
    rows = [
        {
            "algorithm": name,
            "instance": f"i{instance}",
            "t": float(t),
            "y": float(rng.integers(20)),
            "violation": float(max(0, rng.integers(4) - speed * t // 4)),
        }
        for instance in range(n_instances)
        for speed, name in enumerate("ABCD")
        for t in range(1, 9)
    ]
    return pl.DataFrame(rows)


def same(points: pl.DataFrame, other_points: pl.DataFrame) -> bool:
    """Whether two frames give the same draws and the same probabilities of all pairs."""
    first = pb.infer(points, draws=500)
    second = pb.infer(other_points, draws=500)
    return np.array_equal(first.theta, second.theta) and first.pairs().equals(second.pairs())


def test_increasing_transformations_change_nothing():
    points = frame()
    stretched = points.with_columns(y=pl.col("y").exp() - 7, violation=pl.col("violation").pow(3))
    assert same(points, stretched)
    assert not same(points, points.drop("violation"))


def test_a_race_decides_the_same_after_increasing_transformations(
    configuration: dict[str, Any],
):
    function = {"use": "python", "function": "constrained.py:near"}
    algorithms = [
        {"name": "wide", **function},
        {"name": "narrow", **function, "options": {"spread": 0.3}},
        {"name": "random", "use": "random-search"},
    ]
    configuration = {**configuration, "algorithms": algorithms}
    configuration["race"] = {"limits": {"instances": 40}}
    rounds = []
    for stretched in (False, True):
        configuration["instances"] = {
            "suite": "python",
            "function": "constrained.py:make",
            "options": {"stretched": stretched},
        }
        store = pb.race(configuration, store=f"race-{stretched}")
        standings = store.standings()
        rounds.append((standings.pareto_set, standings.eliminated, standings.rounds))
    assert rounds[0] == rounds[1]
    assert pb.open("race-False").trajectories().columns[-1] == "violation"


def test_no_violation_at_all_is_as_no_constraints(tmp_path: Path):
    points = frame().with_columns(violation=pl.lit(0.0))
    points.write_parquet(tmp_path / "with.parquet")
    points.drop("violation").write_parquet(tmp_path / "without.parquet")
    stores = [
        pb.import_data(tmp_path / f"{name}.parquet", tmp_path / name)
        for name in ("with", "without")
    ]
    assert stores[0].trajectories().equals(stores[1].trajectories())
    # The name of a file has the checksum of its content.
    files = [
        {path.name for path in (tmp_path / name / "trajectories").iterdir()}
        for name in ("with", "without")
    ]
    assert files[0] == files[1] != set()
    assert same(points, points.drop("violation"))


def test_infeasible_values_without_violations_share_the_last_place():
    rows = [
        ("A", 1, 1, False),
        ("A", 2, 6, True),
        ("B", 1, 2, False),
        ("B", 2, 1, False),
        ("C", 1, 9, True),
        ("C", 2, 9, True),
    ]
    points = pl.DataFrame(rows, ["algorithm", "t", "y", "feasible"], orient="row")
    posterior = pb.infer(points.with_columns(instance=pl.lit("i")), draws=500)
    a, b, c = map(posterior.algorithms.index, "ABC")
    assert posterior.win_rate(a, b)[0] == pytest.approx(0.5)
    assert posterior.win_rate(a, c)[0] < 0.5 < posterior.win_rate(a, c)[1]


def test_a_run_that_is_twice_as_slow_takes_twice_as_long(tmp_path: Path):
    fast = frame().filter(pl.col("algorithm") == "B")
    slow = fast.with_columns(algorithm=pl.lit("slow"), t=2 * pl.col("t"))
    pl.concat([fast, slow]).write_csv(tmp_path / "runs.csv")
    store = pb.import_data(tmp_path / "runs.csv", tmp_path / "s")
    duels = store.duels("slow", "B", at=8)
    (factor,) = (f for f in duels.times_as_long if f.algorithm == "slow")
    assert factor.median == 2
    disk = StoreOnDisk.open(tmp_path / "s")
    assert all((y[1:] < y[:-1]).all() for _, _, y in disk.trajectories())
