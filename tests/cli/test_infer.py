"""`polarbear infer`, on runs and on what was imported."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import Project, solver

RATINGS = {"A": 0.6, "B": 0.3, "C": 0.1}
QUICK = ("--model", "dirichlet", "--draws", 2000)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A configuration and its runs, to be copied."""
    made = Project(tmp_path_factory.mktemp("runs"))
    made.configure(
        algorithms=[{"name": name, "use": "synthetic"} for name in RATINGS],
        instances={"suite": "synthetic", "ratings": RATINGS, "count": 60},
        budget={"grid": [10, 100, 1000]},
    )
    made.json("run", "config.yaml")
    return made.folder


@pytest.fixture
def raced(project: Project, runs: Path) -> Project:
    shutil.copytree(runs, project.folder, dirs_exist_ok=True)
    return project


def test_json_holds_what_scripts_rely_on_and_the_second_answer_comes_from_the_store(raced: Project):
    first = raced.json("infer", "config", *QUICK, "--pairs")
    assert (first["model"], first["engine"], first["draws"]) == ("dirichlet", "native", 2000)
    assert first["method"] != "auto"
    assert first["seconds"] > 0
    assert first["diagnostics"]["passed"] is True
    assert len(first["ratings"]) == 3 * 3
    assert {"a", "b", "t", "p_dominates", "p_equivalent"} <= set(first["pairs"][0])
    assert len(first["pairs"]) == 3 * 2 * 3
    assert "joint" not in first
    sums = {t: sum(r["mean"] for r in first["ratings"] if r["t"] == t) for t in (10, 100, 1000)}
    assert all(total == pytest.approx(1, abs=1e-5) for total in sums.values())
    assert raced.json("status", "config")["posteriors"] == 1
    second = raced.json("infer", "config", *QUICK, "--pairs")
    assert second["from_store"] is True
    assert {**second, "from_store": False} == first


def test_a_temporal_model_speaks_about_all_times_at_once(raced: Project):
    answer = raced.json("infer", "config", "--model", "gp", "--draws", 2000, "--pairs")
    best = next(row for row in answer["joint"] if (row["a"], row["b"]) == ("A", "C"))
    assert best["p_dominates"] > 0.9
    assert 0 <= best["p_crosses"] <= 1


def test_the_table_shows_shares_of_firsts_and_pairs(raced: Project):
    done = raced("infer", "config", *QUICK, "--pairs", "--at", "10,1000", "--algorithms", "A,C")
    assert done.returncode == 0, done.stderr
    assert "share of firsts at t =" in done.stdout
    assert "A > C" in done.stdout
    assert "B" not in done.stdout


@pytest.mark.slow
def test_more_runs_make_another_question(raced: Project):
    raced.json("infer", "config", *QUICK)
    raced.json("run", "config.yaml", "--instances", 70)
    assert raced.json("infer", "config", *QUICK)["from_store"] is False


@pytest.mark.slow
def test_a_store_that_is_being_written_can_be_asked_all_the_same(
    project: Project, wait_until: Callable[..., None]
):
    go = project.folder / "go"
    project.configure()
    project.json("run", "config.yaml")
    project.configure(algorithms=[solver("waits", until=str(go)), solver("coordinate_descent")])
    process = project.start("run", "config.yaml")
    wait_until(lambda: project.json("status", "config")["written_by"] is not None)
    done = project(
        "infer",
        "config",
        "--model",
        "dirichlet",
        "--algorithms",
        "random,coordinate_descent",
        "--json",
    )
    go.touch()
    process.communicate(timeout=600)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["from_store"] is False
    assert "the posterior was not kept" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "bsplin"], "'bspline'"),
        (["--at", "5"], "outside the grid, from 10 to 1000"),
        (["--at", "x"], "--at takes times"),
        (["--algorithms", "A,Z"], "unknown algorithm 'Z'"),
        (["--algorithms", "A"], "only one algorithm"),
        (["--set", "alpha=0"], "alpha is 0, but must be above 0"),
        (["--set", "alpha"], "--set takes KEY=VALUE"),
        (["--set", "lengthscale.shap=2"], "did you mean 'shape'?"),
        (["--model", "gp", "--method", "pathfinder"], "native engine has no method 'pathfinder'"),
        (["--epsilon", "0.7", "--pairs"], "epsilon must lie in"),
        (["--draws", "10"], "draws"),
    ],
)
def test_bad_input_is_refused_in_a_line(raced: Project, arguments: list[str], words: str):
    done = raced("infer", "config", *arguments)
    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_store_without_runs_says_so(project: Project):
    (project.folder / "r.csv").write_text("instance,t,algorithm,position\ni,1,A,1\n")
    project.json("import", "r.csv", "--format", "rankings", "--store", "s")
    done = project("infer", "s", "--model", "dirichlet")
    assert done.returncode == 1
    assert "only one algorithm" in done.stderr


def test_imported_tables_and_rankings_are_inferred_like_runs(project: Project):
    rows = [
        f"{a},i{i},{t},{(a == 'B') + i * 0.01}" for i in range(20) for t in (1, 5) for a in "AB"
    ]
    Path(project.folder / "d.csv").write_text("\n".join(["algorithm,instance,t,y", *rows]) + "\n")
    project.json("import", "d.csv", "--store", "values")
    ranks = [f"i{i},{t},{a},{1 + (a == 'B')}" for i in range(20) for t in (1, 5) for a in "AB"]
    Path(project.folder / "r.csv").write_text(
        "\n".join(["instance,t,algorithm,position", *ranks]) + "\n"
    )
    project.json("import", "r.csv", "--format", "rankings", "--store", "ranks")
    for store in ("values", "ranks"):
        answer = project.json("infer", store, *QUICK, "--pairs", "--at", "5")
        better = next(row for row in answer["pairs"] if row["a"] == "A")
        assert better["p_dominates"] > 0.99
