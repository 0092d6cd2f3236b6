"""The diary of a research project: everything that happens to it in months, and no run is lost."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from polarbear.store import Store
from tests.support import Project

CODE = """
import numpy as np

def climber(problem, seed, step=0.3):
    rng = np.random.default_rng(seed)
    x = rng.uniform(problem.lower, problem.upper)
    y = problem(x)
    while True:
        trial = np.clip(x + step * rng.standard_normal(len(x)), problem.lower, problem.upper)
        value = problem(trial)
        if value {better} y:
            x, y = trial, value

def bowl(seed):
    centre = np.random.default_rng(seed).uniform(-1, 1, 3)
    def value(x):
        return float(np.sum((x - centre) ** 2))
    value.lower, value.upper = [-2.0] * 3, [2.0] * 3
    return value
"""


class Diary:
    """A project with code of its own, and what its store must never lose."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.finished: set[tuple[Any, ...]] = set()
        self.algorithms: list[dict[str, Any]] = [
            {"name": "climber", "use": "python", "function": "mine:climber"},
            {"name": "random", "use": "random-search"},
        ]
        self.grid: list[int] = [5, 20, 80]
        self.alpha = 0.99999  # so that nobody is out in a few rounds, and all run to the end
        self.limit = 3

    def write(self, bug: bool = False) -> None:
        """Save the code, and the configuration as it is today."""
        (self.project.folder / "mine.py").write_text(CODE.format(better=">" if bug else "<"))
        self.project.configure(
            algorithms=self.algorithms,
            instances={"suite": "python", "function": "mine:bowl"},
            budget={"grid": self.grid},
            race={
                "alpha": self.alpha,
                "batch": {"start": 4, "min": 4, "max": 4},
                "limits": {"rounds": self.limit},
            },
            inference={"draws": 400},
        )

    def race(self, *arguments: str) -> dict[str, Any]:
        """A race that must end well; every run that was ever finished is still there."""
        done = self.project("race", "config.yaml", *arguments, "--json")
        assert done.returncode in (0, 3), done.stderr
        self.look()
        return {**json.loads(done.stdout), "said": done.stderr}

    def refused(self, *arguments: str) -> str:
        """A command that asks first: exit code 1, and everything is as it was."""
        before = rounds(self.project.store)
        done = self.project("race", "config.yaml", *arguments)
        assert done.returncode == 1
        assert rounds(self.project.store) == before
        self.look()
        return done.stderr

    def look(self) -> None:
        now = finished(self.project.store)
        assert self.finished <= now
        self.finished = now


def finished(store: Path) -> set[tuple[Any, ...]]:
    """Every run that a store holds, counting or set aside, by what it came to."""
    columns = ("started", "instance", "seed", "reached", "evaluations", "best")
    return set(Store.open(store).every_run().select(columns).iter_rows())


def rounds(store: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (store / "rounds").glob("round-*.json")}


def attempts(store: Path, algorithm: str) -> set[int]:
    runs = Store.open(store).runs()
    return set(runs.filter(runs["algorithm"] == algorithm)["attempt"])


@pytest.mark.slow
def test_a_project_of_many_changes_loses_no_finished_run(project: Project):
    diary = Diary(project)
    store = project.store
    diary.write(bug=True)
    wrong = diary.race()

    # She mends a bug in mine.py and races again: which algorithm, which file, how many runs.
    diary.write()
    said = diary.refused()
    assert "climber: mine.py; 12 runs" in said
    assert "random: mine.py; 12 runs" in said  # her problems come from the same file
    right = diary.race("--rerun", "climber", "--keep", "random")
    assert attempts(store, "random") == {1}
    assert attempts(store, "climber") == {2}
    assert right["best"] != wrong["best"]

    # She starts over: in the same store, with all runs that fit; a plain command shows this one.
    mended = rounds(store)
    before = len(diary.finished)
    diary.race("--fresh")
    assert len(diary.finished) == before
    assert diary.race()["store"] == "config"
    assert rounds(store) == mended
    assert not (project.folder / "config-2").exists()

    # She changes a hyperparameter.
    diary.algorithms[0]["options"] = {"step": 0.1}
    diary.write()
    assert "12 runs to repeat, 3 rounds to decide again" in diary.refused()
    diary.race("--redecide")
    assert attempts(store, "random") == {1}

    # She wants the old value back: nothing is run.
    del diary.algorithms[0]["options"]
    diary.write()
    before = len(diary.finished)
    diary.race("--redecide")
    assert len(diary.finished) == before
    assert rounds(store) == mended

    # She adds an algorithm, and removes it again; its runs stay, and come back with it.
    simplex = {"name": "simplex", "use": "scipy", "method": "nelder-mead"}
    diary.algorithms.append(simplex)
    diary.limit = 6
    diary.write()
    assert "simplex has caught up" in diary.race()["said"]
    diary.algorithms.pop()
    diary.limit = 3
    diary.write()
    assert "'simplex' is in the race, but not in the configuration" in diary.refused()
    before = len(diary.finished)
    assert set(diary.race("--redecide")["evaluations"]) == {"climber", "random"}
    assert rounds(store) == mended
    aside = project.json("status", "config")["set_aside"]
    assert ("simplex", "dropped") in [(entry["algorithm"], entry["reason"]) for entry in aside]
    diary.algorithms.append(simplex)
    diary.limit = 6
    diary.write()
    assert (
        "taken back, as their code and options are present again: 12 runs of simplex"
        in (diary.race()["said"])
    )
    diary.algorithms.pop()
    diary.limit = 3

    # She wants laxer rules, then the old ones: nothing is run.
    diary.alpha = 0.9
    diary.write()
    assert "rules.alpha: stored 0.99999, configuration 0.9" in diary.refused()
    assert diary.race("--redecide")["rules"]["alpha"] == 0.9
    diary.alpha = 0.99999
    diary.write()
    diary.race("--redecide")
    assert rounds(store) == mended
    assert len(diary.finished) == before

    # She finds a better name.
    assert project("rename", "config", "climber", "hill climber").returncode == 0
    diary.look()
    diary.algorithms[0]["name"] = "hill climber"
    diary.write()
    before = len(diary.finished)
    assert "hill climber" in diary.race()["evaluations"]
    assert len(diary.finished) == before

    # She wants a longer budget and a finer grid: only what must be longer is run, from the start.
    diary.grid = [5, 10, 20, 40, 80, 160]
    diary.write()
    said = diary.refused()
    assert "budget.grid: stored 3 times up to 80, configuration 6 up to 160" in said
    assert "to extend (from their beginning)" in said
    diary.race("--redecide")

    # A colleague goes on with a copy on another machine; then they merge.
    theirs = project.folder / "theirs"
    shutil.copytree(store, theirs)
    whole = rounds(store)
    told = project.json("merge", "config", "theirs", "--into", "both")
    assert told["in_several"] == told["runs"] == len(Store.open(store).runs())
    assert rounds(project.folder / "both") == whole

    # And every race that she ever decided is still there to be looked at.
    races = project.json("status", "config")["races"]
    assert [race["race"] for race in races] == list(range(1, len(races) + 1))
    assert project.json("status", "config", "--race", 1)["race"]["best"] == [
        {**lead, "algorithm": lead["algorithm"].replace("climber", "hill climber")}
        for lead in wrong["best"]
    ]
    assert project("report", "config", "--race", 1, "--text").returncode == 0
