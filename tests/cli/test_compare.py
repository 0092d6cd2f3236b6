"""`polarbear compare`."""

import csv
from pathlib import Path

import pytest

from tests.support import RANDOM, Project, solver

FIGURES = ("aocc", "eaf-difference", "eaf", "ecdf")


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A store with runs and a posterior, which nothing here writes to."""
    project = Project(tmp_path_factory.mktemp("compare"))
    project.configure(
        algorithms=[RANDOM, solver("coordinate_descent"), {**RANDOM, "name": "again [b]"}],
        instances={"suite": "classic", "count": 12, "dimensions": {"from": 2, "to": 4}},
    )
    project.json("run", "config.yaml")
    project.json("infer", "config", "--draws", 2000)
    return project


def test_json_holds_everything_the_tables_show(compared: Project):
    answer = compared.json("compare", "config", "--pair", "random,coordinate_descent")
    assert answer["instances"] == answer["instances_in_store"] == 12
    assert answer["scale"]["targets"] == {"easiest": 100.0, "hardest": 1e-08, "count": None}
    means = [row["mean"] for row in answer["aocc"]]
    assert means == sorted(means, reverse=True)
    for row in answer["aocc"]:
        assert 0 <= row["low"] <= row["mean"] <= row["high"] <= 1
        assert 0 <= row["log_time"]["low"] <= row["log_time"]["mean"] <= row["log_time"]["high"]
    assert sum(row["first"] for row in answer["aocc"]) == pytest.approx(1)
    for row in answer["ecdf"]:
        shares = [at["share"] for at in row["at"]]
        assert shares == sorted(shares)
        assert [row["at"][0]["t"], row["at"][-1]["t"]] == [5, 200]
    assert answer["pair"]["a"] == "random"
    assert len(answer["pair"]["words"]) == 2
    assert bool(answer["disagreements"]) != bool(answer["verdict"])


def test_the_tables_show_scale_intervals_and_the_verdict_of_the_posterior(compared: Project):
    done = compared.done("compare", "config", "--pair", "random,again [b]")
    for words in (
        "instances: 12, of 12 in the store",
        "scale: targets are distances from the optimum, 100 down to 1e-08",
        "AOCC: mean share of targets reached",
        "again [b]",
        "ECDF: share of targets reached by that number of evaluations",
        "EAF difference, on the 12 instances both ran in full:",
        "posterior",
    ):
        assert words in done.stdout, words


def test_the_same_seed_gives_the_same_intervals(compared: Project):
    first = compared.json("compare", "config", "--seed", 1)["aocc"]
    repeated = compared.json("compare", "config", "--seed", 1)["aocc"]
    other_seed = compared.json("compare", "config", "--seed", 2)["aocc"]
    assert first == repeated
    assert [row["mean"] for row in first] == [row["mean"] for row in other_seed]
    assert first != other_seed


@pytest.mark.slow
def test_figures_and_their_data_are_written_once(compared: Project, tmp_path: Path):
    arguments = ["compare", "config", "--png", tmp_path / "png", "--csv", tmp_path / "csv"]
    answer = compared.json(*arguments)
    assert sorted(path.name for path in (tmp_path / "png").iterdir()) == [
        f"{name}.png" for name in FIGURES
    ]
    assert sorted(path.name for path in (tmp_path / "csv").iterdir()) == [
        f"{name}.csv" for name in FIGURES
    ]
    assert len(answer["written"]) == 8
    with (tmp_path / "csv" / "aocc.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 3 * 12
    assert "exists already; write over it with --force" in compared.refused(*arguments)
    compared.done("compare", "config", "--csv", tmp_path / "csv", "--force")


def test_a_pair_is_drawn_alone(compared: Project, tmp_path: Path):
    compared.json("compare", "config", "--pair", "random,again [b]", "--csv", tmp_path)
    with (tmp_path / "eaf-difference.csv").open() as file:
        pairs = {(row["a"], row["b"]) for row in csv.DictReader(file)}
    assert pairs == {("random", "again [b]")}
    refused = compared("compare", "config", "--pair", "random,rando")
    assert "unknown algorithm 'rando'; did you mean 'random'?" in refused.stderr


def test_fewer_algorithms_and_other_targets_can_be_asked_for(compared: Project):
    options = ("--algorithms", "random,coordinate_descent", "--targets", "10:1e-2:4")
    answer = compared.json("compare", "config", *options)
    assert {row["algorithm"] for row in answer["aocc"]} == {"random", "coordinate_descent"}
    assert answer["scale"]["targets"]["count"] == 4
    answer_with_seen_targets = compared.json("compare", "config", "--targets", "seen")
    assert answer_with_seen_targets["scale"]["targets"] is None


def test_a_store_without_a_stored_posterior_is_compared_with_that_of_its_runs(project: Project):
    project.configure()
    project.json("run", "config.yaml")
    answer = project.json("compare", "config")
    assert isinstance(answer["disagreements"], list)
    assert answer["instances"] == 3
    assert any("3 instances are few" in note for note in answer["notes"])


def test_imported_rankings_are_refused_with_the_reason(project: Project):
    table = project.folder / "ranks.csv"
    table.write_text("instance,t,algorithm,position\n1,1,A,1\n1,1,B,2\n")
    project.done("import", table, "--store", "ranked", "--format", "rankings")
    assert "has rankings without values" in project.refused("compare", "ranked")
