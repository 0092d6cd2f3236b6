"""`polarbear show`, from the command line."""

import pytest

from polarbear.store import StoreOnDisk
from tests.support import Project, synthetic

RATINGS = {"A": [0.6, 0.2], "B": [0.4, 0.8]}


def collect(project: Project, instances: int, ratings: dict[str, list[float]]) -> None:
    """Fill a store with runs whose true ratings are known."""
    project.configure(**synthetic(ratings, count=instances), budget={"grid": [10, 100]})
    project.json("run", "config.yaml", "--store", "store")


@pytest.fixture(scope="module")
def looked_at(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("show"))
    collect(project, instances=25, ratings=RATINGS)
    return project


def test_the_duels_of_a_pair_are_a_table_and_json(looked_at: Project):
    facts = looked_at.json("show", "store", "--pair", "A,B", "--at", "10")
    assert (facts["a"], facts["b"], facts["t"]) == ("A", "B", 10)
    assert facts["wins_a"] + facts["wins_b"] + facts["ties"] == len(facts["duels"]) == 25
    done = looked_at("show", "store", "--pair", "A,B", "--at", "10")
    assert f"A wins {facts['wins_a']}, B wins {facts['wins_b']}" in done.stdout
    assert "and 5 more instances: --all shows them" in done.stdout
    assert facts["duels"][-1]["instance"] not in done.stdout
    all_duels = looked_at("show", "store", "--pair", "A,B", "--at", "10", "--all")
    assert all(duel["instance"] in all_duels.stdout for duel in facts["duels"])


def test_a_name_with_a_comma_is_found_and_two_ways_to_read_a_pair_are_an_error(project: Project):
    ratings = {name: [0.25, 0.25] for name in ("cma, large", "cma", "large, slow", "slow")}
    collect(project, instances=3, ratings=ratings)
    facts = project.json("show", "store", "--pair", "cma, large,slow")
    assert (facts["a"], facts["b"]) == ("cma, large", "slow")
    refusal = project.refused("show", "store", "--pair", "cma, large, slow")
    assert "--pair takes two algorithms separated by a comma" in refusal
    assert "known: cma, large, cma" in project("show", "store", "--pair", "a,b,c").stderr


def test_the_runs_on_an_instance_are_shown_with_seeds_and_drawn(looked_at: Project):
    name = looked_at.json("show", "store", "--pair", "A,B")["duels"][0]["instance"]
    facts = looked_at.json("show", "store", "--instance", name)
    done = looked_at.done("show", "store", "--instance", name, "--svg", "runs.svg")
    for run in facts["runs"]:
        assert str(run["seed"]) in done.stdout
        assert len(run["t"]) == len(run["y"])
    drawn = (looked_at.folder / "runs.svg").read_text()
    assert "mathdefault" not in drawn  # ticks are numbers, not formulas
    assert name in drawn


def test_the_duels_of_a_pair_are_drawn(looked_at: Project):
    looked_at.done("show", "store", "--pair", "A,B", "--svg", "duels.svg", "--png", "duels.png")
    facts = looked_at.json("show", "store", "--pair", "A,B")
    drawn = (looked_at.folder / "duels.svg").read_text()
    assert f"wins: A: {facts['wins_a']}, B: {facts['wins_b']}, tie: {facts['ties']}<" in drawn
    assert (looked_at.folder / "duels.png").read_bytes().startswith(b"\x89PNG")


def test_a_stored_run_is_made_again_by_the_command_that_show_tells(project: Project):
    project.configure(
        algorithms=[{"name": "random search", "use": "random-search"}],
        budget={"grid": [5, 20]},
    )
    project.done("run", "config.yaml", "--store", "config", "--instances", "2")
    instance = StoreOnDisk.open(project.folder / "config").instances()["instance"][1]
    (run,) = project.json("show", "config", "--instance", instance)["runs"]
    told = project("show", "config", "--instance", instance)
    command = f"polarbear run config.yaml --on {instance} --repeat"
    assert f"to repeat a run: {command} NAME" in told.stdout
    facts = project.json(*command.split()[1:], "random search")
    assert facts["same"]
    assert (facts["seed"], facts["t"], facts["y"]) == (run["seed"], run["t"], run["y"])
    said = project(*command.split()[1:], "random search")
    assert "identical to the stored run" in said.stdout
    said = project.refused("run", "config.yaml", "--repeat", "nobody", "--on", "x")
    assert "unknown algorithm 'nobody'" in said
    done = project("run", "config.yaml", "--on", "x")
    assert "--repeat NAME and --on ID go together" in done.stderr
