"""`polarbear report` from the command line: output, files and refusals."""

import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support import RANDOM, Project, solver, synthetic

RATINGS = {
    "early": [0.65, 0.5, 0.35, 0.3],
    "late": [0.3, 0.4, 0.55, 0.65],
    "never": [0.05, 0.05, 0.05, 0.05],
}
SURE = {"early": [0.8, 0.5, 0.1, 0.05], "late": [0.1, 0.4, 0.8, 0.85], "never": [0.01] * 4}


def configured(folder: Path, ratings: dict[str, list[float]]) -> Project:
    project = Project(folder)
    project.configure(
        **synthetic(ratings, count=30),
        budget={"grid": [10, 30, 100, 1000]},
        race={"alpha": 0.95, "limits": {"instances": 48}},
        inference={"draws": 1000},
    )
    return project


@pytest.fixture(scope="module")
def raced(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A store with a race in it, which nothing here writes to."""
    project = configured(tmp_path_factory.mktemp("report"), RATINGS)
    project.race("config.yaml", "-q")
    return project


@pytest.mark.slow
def test_without_any_output_named_it_writes_a_page_beside_the_store(raced: Project):
    done = raced.done("report", "config")
    page = raced.folder / "config.html"
    assert f"wrote {page}" in done.stderr
    assert done.stdout.startswith("Probably early")
    assert page.read_text().lower().startswith("<!doctype html>")
    refusal = raced.refused("report", "config")
    assert "config.html exists already; write over it with --force" in refusal
    raced.done("report", "config", "--force")


def test_text_is_the_whole_report(raced: Project):
    done = raced.done("report", "config", "--text")
    facts = raced.json("status", "config")["race"]
    for words in (
        "Probably early ",
        "Not eliminated",
        "- late: member; likely the best ",
        "- never: ",
        f"{facts['rounds']} rounds on {facts['instances']} instances",
        "Where the evaluations went",
        "Decisions",
        "How to repeat it",
        "█",
    ):
        assert words in " ".join(done.stdout.split()), words
    assert not (raced.folder / "text.html").exists()
    assert [line for line in done.stdout.splitlines() if len(line) > 100] == []


def test_markdown_has_the_same_headings_as_text(raced: Project):
    text = raced("report", "config", "--text").stdout.splitlines()
    markdown = raced("report", "config", "--markdown").stdout.splitlines()
    underlined = [line for line, below in pairwise(text) if set(below) == {"="}]
    headings = [line.lstrip("# ") for line in markdown if line.startswith("#")]
    assert headings == underlined
    assert len(headings) > 5
    assert markdown.count("```text") == 3


def test_json_holds_the_same_facts(raced: Project):
    facts = raced.json("report", "config", "--png", "drawn", "--only", "ratings")
    status = raced.json("status", "config")["race"]
    assert facts["pareto_set"] == status["pareto_set"]
    assert [entry["algorithm"] for entry in facts["out"]] == [
        entry["algorithm"] for entry in status["eliminated"]
    ]
    assert facts["written"] == ["drawn/ratings.png"]
    assert (raced.folder / "drawn" / "ratings.png").stat().st_size > 1000
    assert facts["figures"]["ratings"] is None
    assert "failed" in facts["figures"]["failures"]


def test_json_alone_writes_no_file_and_can_be_repeated(raced: Project):
    before = set(raced.folder.iterdir())
    first = raced.json("report", "config")
    repeated = raced.json("report", "config")
    assert first == repeated
    assert first["written"] == []
    assert set(raced.folder.iterdir()) == before


def test_an_earlier_round_is_shown_as_it_stood_then(raced: Project):
    facts = raced.json("report", "config", "--round", 1, "--csv", "first", "--only", "ratings")
    assert {decision["round"] for decision in facts["decisions"]} <= {1}
    assert "After 1 round on 8 instances" in facts["answer"][1]
    refusal = raced.refused("report", "config", "--round", 99, "--text")
    assert "has no round 99; it has rounds 1 to" in refusal


def test_runs_without_a_race_are_reported_with_the_posterior_of_the_default_model(project: Project):
    configured(project.folder, RATINGS)
    project.json("run", "config.yaml")
    text = " ".join(project.done("report", "config", "--text").stdout.split())
    assert "90 runs on 30 instances, inferred with the empirical model" in text
    project.done("report", "config", "--html", "page.html")


def test_a_posterior_without_a_race_is_reported(project: Project):
    configured(project.folder, SURE)
    project.json("run", "config.yaml")
    project.json("infer", "config", "--draws", 1000)
    done = project.done("report", "config", "--text")
    assert "no race was run" in done.stdout
    assert "- never: dominated: another one is better at each time, P >= 0.95" in done.stdout


def test_one_algorithm_at_one_time_has_a_report(project: Project):
    project.configure(algorithms=[{"name": "alone", "use": "random-search"}], budget={"grid": [50]})
    project.json("run", "config.yaml")
    assert project("infer", "config").returncode in (0, 1)
    done = project.done("report", "config", "--text", "--html", "page.html", "--png", "figures")
    assert "alone" in done.stdout


def test_failures_are_told(project: Project):
    project.configure(algorithms=[RANDOM, solver("crashes", "breaks")])
    project("run", "config.yaml")
    done = project("report", "config", "--text")
    assert "Failures" in done.stdout
    assert "breaks" in done.stdout
    assert "- Note: 3 runs failed" in done.stdout


def test_several_stores_are_compared_with_the_first(raced: Project, tmp_path: Path):
    other = tmp_path / "other"
    shutil.copytree(raced.folder / "config", other)
    done = raced.done("report", "config", str(other), "--markdown")
    assert done.stdout.startswith("# config and other\n\nNo difference between config and other is")
    facts = raced.json("report", "config", str(other), "--html", str(tmp_path / "page.html"))
    assert facts["written"] == [str(tmp_path / "page.html")]
    assert {row["difference"] for row in facts["differences"]} == {0.0}
    assert all(change["same"] for change in facts["changes"])
