"""Newcomers that are judged against the set of a store, from Python and from the command line."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

import polarbear as pb
from tests.support import RANDOM, Project, solver, synthetic

RATINGS = {
    "default": [1.0] * 10,
    "early": [2.0] * 5 + [0.5] * 5,
    "good": [1.0] * 8 + [8.0] * 2,
    "even": [1.0] * 10,
    "hopeless": [0.05] * 10,
}
CACHED = 120
MEMBERS = ("default", "early")


def entry(name: str) -> dict[str, Any]:
    return {"name": name, "use": "synthetic"}


def configuration(*names: str, **changes: Any) -> dict[str, Any]:
    return {
        "algorithms": [entry(name) for name in names],
        "instances": synthetic(RATINGS)["instances"],
        "budget": {"grid": [10 * i for i in range(1, 11)]},
        "race": {"regret": None, "limits": {"instances": CACHED}},
        "execution": {"workers": 1},
        "inference": {"draws": 500},
        **changes,
    }


@pytest.fixture(scope="module")
def cached(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the runs of two members on all cached problems."""
    folder = tmp_path_factory.mktemp("judging") / "store"
    return pb.run(configuration(*MEMBERS), folder, instances=CACHED).path


@pytest.fixture
def store(cached: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(cached, tmp_path / "store"))


def test_a_real_improvement_is_a_member_with_a_confirmed_gain(store: Path):
    judgement = pb.judge(store, entry("good"))
    assert judgement.verdict == "member"
    assert judgement.members == MEMBERS
    assert judgement.decided_after < CACHED == judgement.cost.problems
    assert judgement.gain is not None
    assert judgement.gain.problems == CACHED - judgement.decided_after
    # The rating 8 against 1 wins 8 of 9 problems.
    assert judgement.gain.low < 8 / 9 < judgement.gain.high
    assert judgement.gain.from_ == 90
    assert [lead.to for lead in judgement.leads][-1] == 100
    assert "Confirmed on" in judgement.text
    assert pb.open(store).algorithms == (*MEMBERS, "good")


def test_a_member_is_one_that_the_next_newcomers_have_to_beat(store: Path):
    pb.judge(store, entry("good"))
    again = pb.judge(store, entry("even"))
    assert again.members == (*MEMBERS, "good")
    assert again.entrant == 2


@pytest.mark.parametrize(("name", "most"), [("even", CACHED), ("hopeless", 12)])
def test_what_is_no_better_is_dropped_and_its_runs_are_set_aside(store: Path, name: str, most: int):
    judgement = pb.judge(store, entry(name))
    assert judgement.verdict == "no gain"
    assert judgement.cost.problems <= most
    assert judgement.score < 0.55
    assert pb.open(store).algorithms == MEMBERS
    assert set(pb.open(store).runs()["algorithm"]) == set(MEMBERS)


def test_the_score_is_p_best_for_a_preference(store: Path):
    judgement = pb.judge(store, entry("good"), preference="at 100")
    assert judgement.score > 0.99
    assert judgement.preference == "at 100"


def test_a_finished_judgement_is_not_made_again(store: Path):
    first = pb.judge(store, entry("even"))
    files = (store / "polarbear.json").read_bytes()
    assert pb.judge(store, entry("even")).to_dict() == first.to_dict()
    assert (store / "polarbear.json").read_bytes() == files


def test_another_algorithm_with_the_name_of_a_judged_one_is_refused(store: Path):
    pb.judge(store, entry("even"))
    with pytest.raises(pb.PolarBearError, match="needs another name"):
        pb.judge(store, {"name": "even", "use": "synthetic", "contract": True})


class Killed(BaseException):
    """Ends a judgement as a kill does."""


class Fragile(pb.InProcess):
    """An executor that is killed after a number of runs."""

    runs_left = 15

    def run(self, tasks: Any, over: Any) -> Any:
        for outcome in super().run(tasks, over):
            yield outcome
            Fragile.runs_left -= 1
            if Fragile.runs_left == 0:
                raise Killed


@pytest.mark.slow
def test_a_stream_that_is_killed_and_resumed_has_the_same_verdicts(store: Path, tmp_path: Path):
    names = ("even", "good", "hopeless")
    other = Path(shutil.copytree(store, tmp_path / "other"))
    whole = [pb.judge(other, entry(name)).to_dict() for name in names]
    Fragile.runs_left = 15
    with pytest.raises(Killed), pb.use_executor(Fragile):
        pb.judge(store, entry("even"))
    assert "even" in pb.open(store).algorithms
    resumed = [pb.judge(store, entry(name)).to_dict() for name in names]
    assert json.dumps(resumed) == json.dumps(whole)
    assert (store / "judgements.json").read_text() == (other / "judgements.json").read_text()
    assert pb.open(store).algorithms == (*MEMBERS, "good")


def test_another_newcomer_can_come_after_one_that_was_interrupted(store: Path):
    Fragile.runs_left = 15
    with pytest.raises(Killed), pb.use_executor(Fragile):
        pb.judge(store, entry("even"))
    assert pb.judge(store, entry("hopeless")).members == MEMBERS
    assert pb.open(store).algorithms == MEMBERS
    assert pb.judge(store, entry("even")).entrant == 1


def test_a_member_enters_the_race_of_its_store(tmp_path: Path):
    raced = pb.race(configuration(*MEMBERS), tmp_path / "store", more=CACHED)
    judgement = pb.judge(raced, entry("good"))
    assert judgement.verdict == "member"
    assert "good" in raced.standings().pareto_set
    assert pb.judge(raced, entry("hopeless")).verdict == "no gain"
    assert "hopeless" not in [row.algorithm for row in raced.standings().algorithms]


def test_a_newcomer_that_cannot_run_has_failed(tmp_path: Path):
    config = {
        "algorithms": [RANDOM],
        "instances": {"suite": "classic", "dimensions": {"from": 2, "to": 3}},
        "budget": {"grid": [10, 20]},
        "execution": {"workers": 1},
    }
    store = pb.run(config, tmp_path / "store", instances=10).path
    broken = {"name": "broken", "use": "python", "function": "nowhere.py:solve"}
    judgement = pb.judge(store, broken)
    assert (judgement.verdict, judgement.score) == ("failed", 0)
    assert "nowhere.py" in judgement.text
    assert pb.open(store).algorithms == ("random",)


@pytest.fixture
def raced_project(project: Project) -> Project:
    """A race of two algorithms, and a configuration with a third."""
    project.configure(**configuration(*MEMBERS))
    project.race("config.yaml", "--more", CACHED)
    project.configure(**configuration(*MEMBERS, "good", "hopeless"))
    return project


@pytest.mark.parametrize(("name", "verdict"), [("good", "member"), ("hopeless", "eliminated")])
def test_race_add_prints_the_verdict(raced_project: Project, name: str, verdict: str):
    raced = json.loads(raced_project.race("config.yaml", "--add", name, "--json").stdout)
    assert raced["verdict"] == verdict
    assert 0 <= raced["score"] <= 1
    assert raced["text"].startswith(name)
    assert raced["cost"]["problems"] >= 10
    assert (name in raced["pareto_set"]) == (verdict == "member")
    again = json.loads(raced_project.race("config.yaml", "--add", name, "--json").stdout)
    assert again["text"] == raced["text"]


def test_race_add_says_that_a_newcomer_failed_and_does_not_enter_it(project: Project):
    classic = {"suite": "classic", "dimensions": {"from": 2, "to": 3}}
    both = [RANDOM, solver("coordinate_descent")]
    limits = {"limits": {"instances": 16}}
    project.configure(algorithms=both, instances=classic, race=limits)
    project.race("config.yaml")
    project.configure(algorithms=[*both, solver("fails_at_once")], instances=classic, race=limits)
    done = project("race", "config.yaml", "--add", "fails_at_once", "--json")
    assert done.returncode == 1
    raced = json.loads(done.stdout)
    assert raced["verdict"] == "failed"
    assert "fails_at_once" not in raced["pareto_set"]
    config = yaml.safe_load((project.folder / "config.yaml").read_text())
    assert len(config["algorithms"]) == 3
