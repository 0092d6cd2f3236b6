"""Problems that a race uses beyond those that its open pairs draw."""

import shutil
from pathlib import Path

import pytest

from polarbear.driver.loop import Race
from polarbear.store import StoreOnDisk
from tests.cli.test_race import rounds, synthetic
from tests.support import Project

SETTLES = {"alpha": 0.95, "guarantee": "none"}


def state_of(store: Path) -> object:
    last = StoreOnDisk.open(store).rounds.last()
    assert last is not None
    return last.state


@pytest.fixture(scope="module")
def settled_race(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("settled"))
    synthetic(project, "good", "bad", "early", race=SETTLES)
    project.done("race", "config.yaml")
    return project


@pytest.fixture
def settled(project: Project, settled_race: Project) -> Project:
    """A copy of a race that is settled."""
    shutil.copytree(settled_race.folder, project.folder, dirs_exist_ok=True)
    return project


def test_a_settled_race_uses_problems_that_all_its_candidates_ran_on(settled: Project):
    before = state_of(settled.store)
    n = before.instances + 7
    settled.done("run", "config.yaml", "--instances", n)
    answer = settled.json("race", "config.yaml")
    assert answer["instances"] == n
    assert answer["rounds"] == before.round + 1
    assert answer["instances_by_algorithm"]["good"] == n
    assert answer["stopped_because"] == "every relation is settled"
    assert settled.json("select", "config")["posterior"]["instances"] == n
    assert settled.json("race", "config.yaml")["rounds"] == before.round + 1  # nothing is left


@pytest.mark.parametrize("option", ["--fresh", "--redecide"])
def test_a_race_that_begins_again_uses_them_too(settled: Project, option: str):
    n = state_of(settled.store).instances + 7
    settled.done("run", "config.yaml", "--instances", n)
    if option == "--redecide":
        synthetic(settled, "good", "bad", "early", race={**SETTLES, "epsilon": 0.06})
    assert settled.json("race", "config.yaml", option)["instances"] == n


def test_limits_do_not_keep_a_race_from_problems_that_were_run(project: Project):
    synthetic(project, race={"alpha": 0.999, "limits": {"instances": 16}})
    assert project("race", "config.yaml").returncode == 3
    project.done("run", "config.yaml", "--instances", 20)
    done = project("race", "config.yaml")
    assert done.returncode == 3
    assert state_of(project.store).instances == 20
    assert "Stopped because the limit of 16 instances is reached" in done.stdout


def test_problems_that_a_candidate_lacks_are_not_used(settled: Project):
    n = state_of(settled.store).instances
    settled.done("run", "config.yaml", "--instances", n + 4)
    # A candidate lacks the runs on all problems of `run`, an eliminated algorithm has them.
    settled.done("forget", "config", "--algorithm", "early")
    settled("race", "config.yaml")
    runs = StoreOnDisk.open(settled.store).runs()
    assert "early" in runs["algorithm"]


def test_more_adds_problems_for_the_candidates_as_one_round(settled: Project):
    before = state_of(settled.store)
    done = settled.done("race", "config.yaml", "--more", 12)
    assert "Stopped because all candidates ran on 12 further problems" in done.stdout
    after = StoreOnDisk.open(settled.store).rounds.last()
    assert after.state.round == before.round + 1
    assert after.drawn == 12
    assert after.ran_to == dict.fromkeys(before.candidates, 60.0)
    assert settled.json("race", "config.yaml", "--more", 5)["instances"] == before.instances + 17
    verified = settled.json("verify", "config")
    assert verified["damaged"] == []


def test_more_ignores_limits_and_open_pairs(project: Project):
    synthetic(project, race={"alpha": 0.999, "limits": {"rounds": 2, "evaluations": 100}})
    assert project("race", "config.yaml").returncode == 3
    n = state_of(project.store).instances
    answer = project.json("race", "config.yaml", "--more", 6)
    assert answer["instances"] == n + 6
    assert not answer["resolved"]


def test_more_can_begin_a_race(project: Project):
    synthetic(project)
    answer = project.json("race", "config.yaml", "--more", 11)
    assert (answer["rounds"], answer["instances"]) == (1, 11)


def test_more_ends_with_a_finite_suite(project: Project):
    names = [f"{number}.txt" for number in range(14)]
    project.configure(
        algorithms=[
            {"name": name, "use": "command", "command": ["echo", "1", value]}
            for name, value in (("a", "2"), ("b", "3"))
        ],
        instances={"suite": "files", "names": names},
        budget={"axis": "iterations", "grid": [1, 2, 3]},
        race={"limits": {"rounds": 1}},
    )
    project.race("config.yaml")
    for _ in range(2):
        done = project("race", "config.yaml", "--more", 50)
        assert done.returncode == 3
        assert "Stopped because the suite has no further instance: all 14 are used" in done.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--fresh"], "--more adds problems to the stored race"),
        (["--redecide"], "--more adds problems to the stored race"),
        (["--for", "at 60"], "--more runs this number of problems"),
    ],
)
def test_more_is_refused_with_options_that_contradict_it(settled: Project, options, words):
    assert words in settled.refused("race", "config.yaml", "--more", 3, *options)


class Interrupted(BaseException):
    """Ends a race at a chosen point, as a signal would."""


@pytest.mark.parametrize("point", ["_execute", "_decided", "_take_result", "run"])
def test_more_finishes_the_same_problems_after_an_interruption(
    settled: Project, monkeypatch, point: str
):
    """Interrupted before the runs, before the decision, and after the checkpoint."""
    whole = settled.folder / "whole"
    shutil.copytree(settled.store, whole)
    settled.done("race", "config.yaml", "--store", whole, "--more", 9)
    method = getattr(Race, point)

    def interrupted(self, *arguments):
        if point == "_take_result":
            method(self, *arguments)
        raise Interrupted

    if point == "run":
        keep = "polarbear.driver.round_posterior.RoundInference.keep"
        monkeypatch.setattr(keep, lambda self: (_ for _ in ()).throw(Interrupted))
    else:
        monkeypatch.setattr(Race, point, interrupted)
    with pytest.raises(Interrupted):
        settled("race", "config.yaml", "--more", 9)
    monkeypatch.undo()
    settled.done("race", "config.yaml", "--more", 9)
    assert rounds(settled.store) == rounds(whole)
    assert not (settled.store / "rounds" / "more.json").exists()
    # The next request is another one.
    n = state_of(whole).instances
    assert settled.json("race", "config.yaml", "--more", 9)["instances"] == n + 9


def test_a_late_entrant_feeds_all_its_open_pairs_up_to_the_limit(project: Project):
    """One algorithm left the field early; cached problems count for it, too."""
    rules = {"alpha": 0.999, "resolution": "membership", "limits": {"instances": 40}}
    ratings = {
        "leads": [5.0, 5.0, 5.0, 1.0, 1.0, 1.0],
        "follows": [0.1, 0.1, 0.1, 8.0, 8.0, 8.0],
        "close": [4.8, 4.8, 4.8, 1.0, 1.0, 1.0],
        "late": [0.1, 0.1, 0.1, 7.8, 7.8, 7.8],
    }
    suite = {"suite": "synthetic", "ratings": ratings}
    grid = {"grid": [10, 20, 30, 40, 50, 60]}
    field = [{"name": name, "use": "synthetic"} for name in ratings]
    project.configure(algorithms=field[:3], instances=suite, budget=grid, race=rules)
    project.race("config.yaml")
    first = project.json("status", "config")["race"]
    assert first["instances"] == 40
    assert first["instances_by_algorithm"]["follows"] < 40  # the scenario: it left early
    project.configure(algorithms=field, instances=suite, budget=grid, race=rules)
    project.race("config.yaml")
    race = project.json("status", "config")["race"]
    assert [pair for pair in race["open_pairs"] if {pair["a"], pair["b"]} == {"follows", "late"}]
    assert race["instances_by_algorithm"]["follows"] == 40
    assert race["instances_by_algorithm"]["late"] == 40
    assert project.json("verify", "config")["damaged"] == []
