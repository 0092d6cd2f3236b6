"""Times as long, from a store: in JSON and on screen of every command that shows win rates."""

import json

import polars as pl
import pytest

from tests.support import Project


def table() -> pl.DataFrame:
    """Twelve problems, on which `slow` makes the improvements of `fast` after twice the time."""
    rows = []
    for k in range(12):
        for step, y in enumerate((9.0, 5.0, 2.0 + k / 20)):
            t = 10 * (step + 1) + k
            rows.append(("fast", f"p{k}", float(t), y))
            rows.append(("slow", f"p{k}", float(2 * t), y))
    return pl.DataFrame(rows, ["algorithm", "instance", "t", "y"], orient="row")


@pytest.fixture
def project(tmp_path) -> Project:
    table().write_csv(tmp_path / "runs.csv")
    project = Project(tmp_path)
    grid = ["--from", 25, "--to", 100, "--points", 4]
    project.done("import", "runs.csv", "--store", "store", "--format", "table", *grid)
    return project


def test_show_and_select_say_how_much(project):
    output = project.done("show", "store", "--pair", "fast,slow", "--at", "60").stdout
    assert "fast reaches slow's values in 0.5 times the evaluations (0.5 to 0.5)" in output
    assert "slow reaches fast's values in 2 times the evaluations (2 to 2)" in output
    facts = json.loads(
        project.done("show", "store", "--pair", "fast,slow", "--at", "60", "--json").stdout
    )
    assert facts["times_as_long"][0] == {
        "algorithm": "fast",
        "against": "slow",
        "from": 60,
        "to": 60,
        "problems": 12,
        "median": 0.5,
        "low": 0.5,
        "high": 0.5,
    }
    selection = ("select", "store", "--algorithms", "fast,slow")
    answer = json.loads(project.done(*selection, "--json").stdout)
    assert answer["choice"] == "fast"
    assert answer["times_as_long"]["median"] == 0.5
    assert [row["times_as_long"]["median"] for row in answer["ranking"]] == [0.5, 2]
    screen = project.done(*selection).stdout
    assert "fast reaches slow's values in 0.5 times the evaluations" in screen
    assert "times as long" in screen


def test_the_report_has_a_table(project):
    screen = project.done("report", "store", "--html", "page.html").stdout
    assert "fast reaches slow's values in 0.5 times the evaluations (0.5 to 0.5)" in screen
    for text in (
        (project.folder / "page.html").read_text(),
        project.done("report", "store", "--text").stdout,
        project.done("report", "store", "--markdown").stdout,
    ):
        assert "How much better" in text
        assert "0.5 to 0.5" in text
        assert "and back" in text
    facts = json.loads(project.done("report", "store", "--json").stdout)
    assert facts["times_as_long"][0]["median"] == 0.5
    assert facts["times_as_long"][0]["win_rate"] > 0.8


def test_a_race_compares_the_first_two_of_each_span(project):
    project.configure(
        race={"alpha": 0.999, "limits": {"rounds": 3, "instances": 24}},
        inference={"draws": 400},
        instances={"suite": "classic", "dimensions": {"from": 2, "to": 2}},
    )
    facts = json.loads(project.race("config.yaml", "--json").stdout)
    assert facts["times_as_long"] or not facts["recommended"]
    for factor, span in zip(facts["times_as_long"], facts["recommended"], strict=True):
        assert (factor["from"], factor["to"]) == (span["from"], span["to"])
        assert factor["algorithm"] == span["algorithms"][0] != factor["against"]
        assert factor["problems"] > 0
    status = json.loads(project.done("status", "config", "--json").stdout)
    assert status["race"]["times_as_long"] == facts["times_as_long"]
