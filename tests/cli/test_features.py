"""Features of instances: given, computed and imported; answers for groups of problems by them."""

import json
import re
import shutil
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

from polarbear.facts.features import features
from polarbear.store import StoreOnDisk
from tests.support import Project, synthetic

FUNCTION = """
import numpy as np

def slope(problem):
    low = problem.evaluate(problem.lower)
    high = problem.evaluate(problem.upper)
    return {"rises": bool(high > low), "log_range": float(np.log10(1 + abs(high - low)))}

def given(problem):
    return {"cost": 7, "variables": problem.dimension}

def fails(problem):
    raise RuntimeError("no features today")

def sometimes(problem):
    if problem.dimension == 3:
        raise RuntimeError("not in three dimensions")
    return {"variables": problem.dimension}

def wrong(problem):
    return 3
"""
N_PROBLEMS = 48


def rows_of(seed: int = 1) -> list[str]:
    """Rows in which 'small' is the best up to size 50, and 'large' above."""
    random = Random(seed)
    rows = ["algorithm,instance,t,y,feature_size,feature_shape,feature_cost"]
    for i in range(N_PROBLEMS):
        size = [5, 10, 20, 40, 60, 80, 160, 320][i % 8]
        for name in ("small", "large"):
            for t in (1, 10):
                worse = 0.7 * ((name == "small") == (size > 50))
                y = (random.random() + worse) / t
                rows.append(f"{name},i{i},{t},{y:.6f},{size},{'ab'[i // 8 % 2]},3")
    return rows


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A store of an import with features, which nothing writes to."""
    project = Project(tmp_path_factory.mktemp("imported"))
    (project.folder / "t.csv").write_text("\n".join(rows_of()))
    project.done("import", "t.csv", "--store", "s")
    return project


def names_of_features(store: Path) -> list[str]:
    return list(StoreOnDisk.open(store).features()["name"].unique().sort())


def with_functions(project: Project, source: str, **suite: Any) -> None:
    (project.folder / "mine.py").write_text(FUNCTION)
    instances = {"suite": "classic", "count": 4, "dimensions": {"from": 2, "to": 4}, **suite}
    project.configure(instances={**instances, "features": source})


def test_groups_by_a_feature_have_answers_of_their_own(imported: Project):
    answer = imported.json("infer", "s", "--by", "size:50")
    assert answer["by"] == "size"
    assert answer["problems"] == N_PROBLEMS
    assert 0 <= answer["borrowed_weight"] <= 0.1
    assert [group["group"] for group in answer["groups"]] == ["up to 50", "above 50"]
    for group, best in zip(answer["groups"], ("small", "large"), strict=True):
        assert group["problems"] == N_PROBLEMS / 2
        borrowed = answer["borrowed_weight"] * N_PROBLEMS / 2
        assert group["problems_weighted"] == pytest.approx(N_PROBLEMS / 2 + borrowed)
        assert [span["algorithms"] for span in group["spans"]] == [[best]]
        assert {row["t"] for row in group["ratings"]} == {1, 10}
        assert group["key"] is None
    assert imported.json("status", "s")["posteriors"] == 0


def test_groups_are_shown_as_a_table(imported: Project):
    done = imported.done("infer", "s", "--by", "size:50", "--at", "10", "--pairs")
    assert "by size: 2 groups of 48 problems" in done.stdout
    assert "size up to 50, problems: 24" in done.stdout
    assert "small at all times" in done.stdout
    assert done.stdout.count("share of firsts at t =") == 2
    assert done.stdout.count("small > large") == 2


def test_groups_that_do_not_differ_are_one(imported: Project):
    answer = imported.json("infer", "s", "--by", "shape", "--draws", 1000)
    assert answer["borrowed_weight"] >= 0.3
    plain = imported.json("infer", "s", "--draws", 1000)
    if answer["borrowed_weight"] == 1:
        for group in answer["groups"]:
            assert group["ratings"] == plain["ratings"]


def test_models_algorithms_and_times_apply_to_groups(imported: Project):
    options = ("--model", "dirichlet", "--draws", 2000, "--until", 1, "--algorithms", "small,large")
    answer = imported.json("infer", "s", "--by", "size", *options)
    assert [group["model"] for group in answer["groups"]] == ["dirichlet"] * 4
    assert {row["t"] for group in answer["groups"] for row in group["ratings"]} == {1}


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("sise", "did you mean 'size'"),
        ("shape:3", "has categories, which have no bins"),
        ("small@10.improvments", "did you mean 'improvements'"),
        ("smal@10.improvements", "did you mean 'small'"),
        ("small@0.improvements", "look up to a time above 0"),
    ],
)
def test_features_that_are_unknown_are_refused_in_one_line(imported: Project, by: str, words: str):
    for command in ("infer", "report"):
        message = imported.refused(command, "s", "--by", by)
        assert words in message
        assert len(message.splitlines()) == 1


def test_what_an_algorithm_shows_early_is_a_feature(imported: Project):
    answer = imported.json("infer", "s", "--by", "small@10.gain:-0.5", "--draws", 1000)
    labels = [group["group"] for group in answer["groups"]]
    assert labels[:2] == ["up to -0.5", "above -0.5"]
    assert labels[2:] in ([], ["unknown"])  # of runs that improved nothing
    assert sum(group["problems"] for group in answer["groups"]) == answer["problems"]


def test_a_report_groups_problems_by_a_feature(imported: Project):
    text = imported.done("report", "s", "--text", "--by", "size:50").stdout
    assert "BY SIZE" in text.upper()
    assert "up to 50" in text
    facts = imported.json("report", "s", "--by", "size:50")
    assert facts["groups"]["by"] == "size"
    assert [group["problems"] for group in facts["groups"]["groups"]] == [24, 24]
    assert facts["figures"]["kinds"] is None
    assert "groups" not in imported.json("report", "s")
    imported.done("report", "s", "--html", "page.html", "--by", "size:50")
    page = (imported.folder / "page.html").read_text()
    assert "By size" in page
    assert "Duels won by size" in page
    imported.done("report", "s", "--html", "slim.html", "--slim", "--by", "size:50")
    assert "above 50" in (imported.folder / "slim.html").read_text()
    imported.done("report", "s", "--csv", "csv", "--only", "kinds", "--by", "shape")
    kinds = pl.read_csv(next((imported.folder / "csv").glob("*kinds*.csv")))
    assert set(kinds["kind"]) == {"a", "b"}


def test_groups_of_several_stores_are_refused(imported: Project):
    assert "--by works for a single store only" in imported.refused(
        "report", "s", "s", "--by", "size"
    )


def test_answers_do_not_depend_on_a_feature_that_all_problems_share(project: Project):
    rows = [",".join(line.split(",")[:4]) for line in rows_of()]
    (project.folder / "t.csv").write_text("\n".join(rows))
    project.done("import", "t.csv", "--store", "s")
    assert not (project.folder / "s" / "features").exists()
    config = json.loads((project.folder / "s" / "polarbear.json").read_text())["config"]
    assert "features" not in config["instances"]
    with_features = Project(project.folder / "with-features")
    shutil.copytree(project.folder / "s", with_features.folder / "s")
    disk = StoreOnDisk.open(with_features.folder / "s")
    colours = {"name": "colour", "value": None, "category": "red", "cost": 3.0}
    rows_of_features = [{"instance": f"i{i}", **colours} for i in range(N_PROBLEMS)]
    with disk.writing():
        disk.add_features(pl.DataFrame(rows_of_features))
    for command in (
        ("infer", "s", "--draws", 1000, "--pairs"),
        ("select", "s", "--sweep"),
        ("report", "s", "--text"),
        ("report", "s", "--markdown"),
        ("compare", "s"),
        ("show", "s", "--instance", "i3"),
    ):
        first = project(*command, *(["--json"] if command[0] == "infer" else []))
        second = with_features(*command, *(["--json"] if command[0] == "infer" else []))
        assert (first.returncode, first.stderr) == (second.returncode, second.stderr)
        assert without_seconds(first.stdout) == without_seconds(second.stdout), command


def without_seconds(answer: str) -> str:
    """An answer without the time that its inference took."""
    return re.sub(r'"seconds": [0-9.]+', "", answer)


def test_imported_features_have_a_cost_and_survive_exports(imported: Project, project: Project):
    shutil.copytree(imported.folder / "s", project.folder / "s")
    known = features(StoreOnDisk.open(project.folder / "s"))
    assert known.names == ("shape", "size")
    assert set(known.costs) == {3.0}
    for format, file in (("csv", "out.csv"), ("parquet", "out.parquet")):
        project.done("export", "s", "--format", format, "--to", file)
        project.done("import", file, "--store", f"from-{format}")
    project.done("import", "s", "--store", "from-store", "--format", "store")
    for copy in ("from-csv", "from-parquet", "from-store"):
        copied = StoreOnDisk.open(project.folder / copy).features()
        assert copied.equals(StoreOnDisk.open(project.folder / "s").features()), copy


def test_a_feature_has_one_value_on_an_instance(project: Project):
    rows = rows_of()
    rows[2] = rows[2].replace(",5,a,", ",6,a,")
    (project.folder / "t.csv").write_text("\n".join(rows))
    message = project.refused("import", "t.csv", "--store", "s")
    assert "'feature_size' has several values on the instance 'i0'" in message


def test_a_table_gives_features_to_runs(project: Project):
    table = ["instance,kind,slope,cost", *(f"synthetic-{i},k{i % 2},{i / 2},4" for i in range(5))]
    (project.folder / "table.csv").write_text("\n".join(table))
    ratings = {"A": 0.7, "B": 0.3}
    suite = synthetic(ratings, count=6, features="table.csv")
    project.configure(**suite, budget={"grid": [10, 100]})
    done = project.done("run", "config.yaml")
    assert "table.csv has no features of 1 instance, such as synthetic-5" in done.stderr
    known = features(StoreOnDisk.open(project.store))
    assert known.column("kind").values == ("k0", "k1", "k0", "k1", "k0", None)
    assert known.column("slope").value(3) == 1.5
    assert known.costs.tolist() == [4, 4, 4, 4, 4, 0]
    (project.folder / "table.csv").write_text("\n".join(table).replace(",1.5,", ",2.5,"))
    assert project.json("run", "config.yaml")["executed"] == 0
    assert features(StoreOnDisk.open(project.store)).column("slope").value(3) == 2.5


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("name,size\nsynthetic-0,3", "has no column 'instance'"),
        ("instance\nsynthetic-0", "has no column besides 'instance'"),
        ("instance,size\nx,3", "has no row for any of the"),
        ("instance,size\nx,3\nx,4", "has two rows for the instance 'x'"),
        ("instance,size,cost\nx,3,-1", "the cost of its features is -1"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_and_nothing_is_run(
    project: Project, table: str, words: str
):
    (project.folder / "table.csv").write_text(table)
    project.configure(
        **synthetic({"A": 0.7, "B": 0.3}, count=2, features="table.csv"), budget={"grid": [10]}
    )
    for command in ("run", "race"):
        message = project.refused(command, "config.yaml")
        assert words in message
        assert len(message.splitlines()) == 1


def test_a_source_of_features_is_a_table_a_function_or_the_landscape(project: Project):
    project.configure(instances={"suite": "classic", "features": "landskape"})
    assert "expected a table FILE.csv" in project.refused("check", "config.yaml")


def test_functions_compute_features_and_their_evaluations_are_the_cost(project: Project):
    with_functions(project, "mine.py:slope")
    project.done("run", "config.yaml")
    known = features(StoreOnDisk.open(project.store))
    assert {"rises", "log_range", "dimension", "function"} == set(known.names)
    assert set(known.column("rises").values) <= {"yes", "no"}
    assert known.costs.tolist() == [2, 2, 2, 2]
    with_functions(project, "mine.py:given")
    project.done("run", "config.yaml", "--store", "other")
    other = features(StoreOnDisk.open(project.folder / "other"))
    assert other.costs.tolist() == [7, 7, 7, 7]


def test_functions_that_fail_leave_features_out_or_are_refused(project: Project):
    for name, words in (
        ("fails", "RuntimeError: no features today"),
        ("wrong", "expected a mapping from names of features"),
        ("nothing", "'mine.py' has no 'nothing'"),
    ):
        with_functions(project, f"mine.py:{name}")
        message = project.refused("run", "config.yaml", "--store", name)
        assert words in message
        assert len(message.splitlines()) == 1
        assert words in project("check", "config.yaml").stdout
    with_functions(project, "mine.py:sometimes", count=8)
    done = project.done("run", "config.yaml")
    assert "not in three dimensions" in done.stderr
    known = features(StoreOnDisk.open(project.store))
    is_missing = known.column("variables").is_missing.tolist()
    assert is_missing == [dimension == 3 for dimension in known.column("dimension").values]


def test_features_of_the_landscape_cost_ten_evaluations_a_variable(project: Project):
    with_functions(project, "landscape", functions=["sphere", "rastrigin"], count=6)
    project.done("run", "config.yaml")
    known = features(StoreOnDisk.open(project.store))
    costs = [10 * dimension for dimension in known.column("dimension").values]  # type: ignore[operator]
    assert known.costs.tolist() == pytest.approx(costs)
    is_sphere = [name == "sphere" for name in known.column("function").values]
    fits = known.column("landscape.quadratic_fit").values
    for sphere, fit in zip(is_sphere, fits, strict=True):
        assert (fit > 0.999) == sphere  # type: ignore[operator]


def test_a_race_stores_features_of_each_round_and_of_a_race_that_has_ended(project: Project):
    suite = synthetic({"A": 0.9, "B": 0.1})
    rules = {"limits": {"instances": 12}}
    project.configure(**suite, budget={"grid": [10]}, race=rules)
    project.race("config.yaml")
    before = (project.store / "polarbear.json").read_text()
    assert not (project.store / "features").exists()
    table = ["instance,kind", *(f"synthetic-{i},k{i % 2}" for i in range(200))]
    (project.folder / "table.csv").write_text("\n".join(table))
    suite["instances"]["features"] = "table.csv"
    project.configure(**suite, budget={"grid": [10]}, race=rules)
    project.race("config.yaml")
    disk = StoreOnDisk.open(project.store)
    assert set(disk.features()["instance"]) == set(disk.instances()["instance"])
    assert before != (project.store / "polarbear.json").read_text()
    project.race("config.yaml", "--store", "again")
    assert names_of_features(project.folder / "again") == ["kind"]


def test_features_are_merged_verified_and_repaired(imported: Project, project: Project):
    shutil.copytree(imported.folder / "s", project.folder / "s")
    (project.folder / "u.csv").write_text(
        "algorithm,instance,t,y,feature_size\nsmall,j,1,2,5\nlarge,j,1,3,5\nsmall,i0,1,2,99\n"
    )
    project.done("import", "u.csv", "--store", "u", "--from", 1, "--to", 10, "--points", 2)
    merged = project.json("merge", "s", "u", "--into", "both", "--first-wins")
    assert "features of an instance are those of the first store that has them" in merged["notes"]
    both = features(StoreOnDisk.open(project.folder / "both"))
    assert both.of(["j", "i0"]).column("size").value(0) == 5
    assert both.of(["i0"]).column("size").value(0) == 5
    project.done("rename", "both", "small", "tiny")
    assert names_of_features(project.folder / "both") == ["shape", "size"]
    (part,) = (project.folder / "s" / "features").glob("*.parquet")
    part.write_bytes(part.read_bytes()[:-1])
    damaged = project("verify", "s", "--json")
    assert damaged.returncode == 1
    assert json.loads(damaged.stdout)["damaged"][0]["file"] == f"features/{part.name}"
    project.done("repair", "s")
    assert project.json("verify", "s")["sound"] is True
    assert features(StoreOnDisk.open(project.folder / "s")).names == ()
