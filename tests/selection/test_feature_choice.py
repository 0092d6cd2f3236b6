"""Choices by features, their cross-validation and the rule, on a store with a planted rule."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import polarbear as pb
from polarbear.errors import SelectionError
from polarbear.inference.feature_models import forest
from tests.support import Project

N_PROBLEMS = 60
TIMES = (10.0, 100.0, 1000.0)
COST = 50.0


def planted_runs(seed: int = 0) -> tuple[pl.DataFrame, np.ndarray]:
    """Runs in which 'low' wins where the feature size is at most 0.5, and 'high' elsewhere."""
    rng = np.random.default_rng(seed)
    size = rng.random(N_PROBLEMS).round(3)
    rows = []
    for k in range(N_PROBLEMS):
        for name in ("low", "high", "never"):
            is_good = (name == "low") == (size[k] <= 0.5) and name != "never"
            level = rng.normal(0 if is_good else 1.5, 0.5)
            for t in TIMES:
                rows.append((name, f"p{k:02d}", t, 10 + level - np.log10(t)))
    schema = ["algorithm", "instance", "t", "y"]
    return pl.DataFrame(rows, schema, orient="row"), size


def add_features(store: Path, columns: dict[str, np.ndarray], cost: float = 0.0) -> None:
    """Add a feature for each column to all instances, which share a cost."""
    disk = pb.open(store)._disk
    frames = [
        pl.DataFrame(
            {"instance": [f"p{k:02d}" for k in range(N_PROBLEMS)], "value": values}
        ).with_columns(name=pl.lit(name), category=pl.lit(None, pl.String), cost=pl.lit(cost))
        for name, values in columns.items()
    ]
    with disk.writing():
        disk.add_features(pl.concat(frames))


def stored(project: Project) -> np.ndarray:
    runs, size = planted_runs()
    runs.write_csv(project.folder / "runs.csv")
    project.done("import", "runs.csv", "--store", "s", "--format", "table")
    return size


@pytest.fixture(autouse=True)
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fitting takes the time of these tests, and few trees find a rule on one of two features."""
    monkeypatch.setattr(forest, "N_TREES", 40)


@pytest.fixture
def planted(project: Project) -> Project:
    size = stored(project)
    noise = np.random.default_rng(1).random(N_PROBLEMS)
    add_features(project.folder / "s", {"size": size, "noise": noise})
    return project


def test_the_choice_follows_the_features_and_its_forest_is_kept(planted: Project):
    low = planted.json("select", "s", "--features", "size=0.1, noise=0.5")
    assert low["choice"] == "low"
    assert low["features"] == {"size": "0.1", "noise": "0.5"}
    assert 1 < low["problems_weighted"] < N_PROBLEMS
    assert low["feature_cost"] == 0
    assert {row["algorithm"] for row in low["ranking"]} <= {"low", "high", "never"}
    forests = list((planted.folder / "s" / "forests").iterdir())
    assert len(forests) == 1
    high = planted.json("select", "s", "--features", "size=0.9", "--preference", "at 100")
    assert high["choice"] == "high"
    assert high["ranking"][0]["p2bb"] > 0.9
    assert any("noise not given" in note for note in high["notes"])
    assert list((planted.folder / "s" / "forests").iterdir()) == forests
    assert planted.done("verify", "s").returncode == 0
    screen = planted.done("select", "s", "--features", "size=0.9,noise=0.5").stdout
    assert "by features: size=0.9, noise=0.5" in screen
    everyone = planted.json("select", "s")
    assert "features" not in everyone
    assert "problems_weighted" not in everyone


def test_an_instance_of_the_store_is_named_by_its_id(planted: Project):
    _, size = planted_runs()
    k = int(np.argmax(size))
    answer = planted.json("select", "s", "--instance", f"p{k:02d}", "--portfolio", 2)
    assert answer["choice"] == "high"
    assert answer["features"]["size"] == size[k]
    assert any("itself are left out" in note for note in answer["notes"])
    assert len(answer["portfolio"]) == 2
    assert pb.open(planted.folder / "s").select(features={"size": 0.05}).choice == "low"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--features", "size"], "features are given as name=value"),
        (["--features", "sise=1"], "did you mean 'size'"),
        (["--features", "size=large"], "'size' is a number, found 'large'"),
        (["--instance", "p99"], "unknown instance 'p99'"),
        (["--features", "size=1", "--instance", "p01"], "leave one out"),
        (["--features", "size=1", "--model", "gp"], "leave out --model and --key"),
    ],
)
def test_what_cannot_be_meant_is_refused(planted: Project, options: list[str], words: str):
    assert words in planted.refused("select", "s", *options)


def test_a_store_without_features_says_how_to_give_them(project: Project):
    stored(project)
    assert "instances: {features: FILE.csv}" in project.refused(
        "select", "s", "--features", "size=1"
    )
    scores = project.json("select", "s", "--cross-validate")
    assert scores["features"] == []
    assert "has no features" in scores["verdict"]
    for budget in scores["budgets"]:
        assert budget["choice"] == budget["without_features"]


def test_cross_validation_shows_that_features_help(planted: Project):
    scores = planted.json("select", "s", "--cross-validate", "--png", "scores.png")
    assert (planted.folder / "scores.png").stat().st_size > 10_000
    assert [budget["t"] for budget in scores["budgets"]] == list(TIMES)
    for budget in scores["budgets"]:
        assert {"t", "single_best", "choice", "virtual_best", "gap_closed"} <= set(budget)
        assert budget["single_best"] < budget["choice"] <= budget["virtual_best"]
        assert budget["gap_low"] <= budget["gap_closed"] <= budget["gap_high"]
    assert scores["gap_low"] > 0.3
    assert scores["verdict"].startswith("Features help")
    assert sum(row["cases"] for row in scores["reliability"]) == 3 * len(TIMES) * N_PROBLEMS
    screen = planted.done("select", "s", "--cross-validate").stdout
    assert scores["verdict"] in screen


def test_features_that_say_nothing_do_not_help(project: Project):
    size = stored(project)
    noise = np.random.default_rng(3).permutation(size)
    add_features(project.folder / "s", {"noise": noise})
    verdict = project.json("select", "s", "--cross-validate")["verdict"]
    assert "do not help" in verdict
    assert "By features" not in project.done("report", "s", "--text").stdout


def test_the_cost_of_features_is_charged(project: Project):
    size = stored(project)
    add_features(project.folder / "s", {"size": size}, cost=COST)
    answer = project.json("select", "s", "--features", "size=0.1")
    assert answer["feature_cost"] == COST
    notes = " ".join(answer["notes"])
    assert "computing the features takes 50 evaluations" in notes
    assert "do not compute features" in notes
    scores = project.json("select", "s", "--cross-validate")
    first, *later = scores["budgets"]
    assert first["choice"] == 0  # nothing is left of a budget of 10
    assert first["gap_closed"] < 0
    assert all(budget["choice"] < budget["virtual_best"] for budget in later)
    assert json.dumps(scores["notes"]).count("charged") == 1


def test_the_report_has_the_rule(planted: Project):
    text = planted.done("report", "s", "--text").stdout
    section = text.split("By features of the instance")[1]
    rows = [line.split("  ") for line in section.splitlines() if line.startswith(" size")]
    assert len(rows) == 2
    assert rows[0][0].startswith(" size up to 0.")
    assert "low" in rows[0][-1]
    assert rows[1][0].startswith(" size above 0.")
    assert "high" in rows[1][-1]
    planted.done("report", "s", "--html", "page.html")
    assert "By features of the instance" in (planted.folder / "page.html").read_text()


def test_the_exported_chooser_takes_features(planted: Project):
    arguments = ("export", "s", "--format", "chooser", "--set", "by_features=true", "--to")
    planted.done(*arguments, "chooser.py")
    planted.done(*arguments, "chooser.json")
    names: dict[str, object] = {}
    exec((planted.folder / "chooser.py").read_text(), names)
    choose = names["choose"]
    assert callable(choose)
    assert choose(100, {"size": 0.05})[0] == "low"
    assert choose(None, {"size": 0.95})[0] == "high"
    chooser = json.loads((planted.folder / "chooser.json").read_text())
    assert [group["conditions"][0]["feature"] for group in chooser["groups"]] == ["size", "size"]
    assert list(choose(100)) == chooser["choices"][1]
    assert list(choose()) == chooser["default"]
    same = pb.open(planted.folder / "s").chooser(by_features=True)
    assert same(100, {"size": 0.05}) == choose(100, {"size": 0.05})
    assert same(None, {"noise": 0.5}) == same()
    plain = pb.open(planted.folder / "s").chooser()
    assert "groups" not in plain.to_dict()


def test_few_problems_cannot_be_cross_validated(project: Project):
    runs, _ = planted_runs()
    runs.filter(pl.col("instance") < "p09").write_csv(project.folder / "runs.csv")
    project.done("import", "runs.csv", "--store", "s", "--format", "table")
    with pytest.raises(SelectionError, match="cross-validation needs at least 10"):
        pb.open(project.folder / "s").cross_validate()
