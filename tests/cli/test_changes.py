"""Changes of code, options, rules and names in the life of a project; no run is lost."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from polarbear.execution.outcome import RunKey
from polarbear.store import StoreOnDisk
from polarbear.store.catalog import Catalog, part_file
from polarbear.store.runs import run_id
from tests.cli.test_race import rounds
from tests.support import RANDOM, Project

pytestmark = pytest.mark.usefixtures("no_workers")
MINE = """
import numpy as np
from helper import STEP

def climber(problem, seed, step=STEP):
    rng = np.random.default_rng(seed)
    x = rng.uniform(problem.lower, problem.upper)
    y = problem(x)
    while True:
        trial = np.clip(x + step * rng.standard_normal(len(x)), problem.lower, problem.upper)
        value = problem(trial)
        if value < y:
            x, y = trial, value
"""


def write_code(project: Project, code: str = MINE, helper: str = "STEP = 0.3\n") -> None:
    (project.folder / "mine.py").write_text(code)
    (project.folder / "helper.py").write_text(helper)


def climber(name: str = "climber", **options: Any) -> dict[str, Any]:
    entry = {"name": name, "use": "python", "function": "mine:climber"}
    return {**entry, "options": options} if options else entry


def configure(project: Project, *algorithms: dict[str, Any], **changes: Any) -> None:
    rules = {"batch": {"start": 4, "min": 4, "max": 4}, "limits": {"rounds": 2}, "alpha": 0.999}
    project.configure(
        algorithms=[*(algorithms or (climber(),)), RANDOM],
        budget={"grid": [5, 20, 80]},
        inference={"draws": 400},
        **{"race": rules, **changes},
    )


def attempts(store: Path) -> dict[tuple[str, str], int]:
    rows = StoreOnDisk.open(store).runs().select("algorithm", "instance", "attempt").iter_rows()
    return {(name, instance): attempt for name, instance, attempt in rows}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("raced"))
    write_code(project)
    configure(project)
    project.race("config.yaml")
    return project


@pytest.fixture
def raced(project: Project, template: Project) -> Project:
    """A project with a race of two rounds, which a test may change."""
    shutil.copytree(template.folder, project.folder, dirs_exist_ok=True)
    return project


CHANGED = {"mine.py": MINE.replace("True", "1 < 2"), "helper.py": "STEP = 0.30\n"}


@pytest.mark.parametrize("file", CHANGED)
def test_a_changed_file_is_named_with_its_algorithm_and_how_many_runs_it_made(raced, file):
    before = rounds(raced.store)
    (raced.folder / file).write_text(CHANGED[file])
    for command in ("race", "run"):
        refusal = raced.refused(command, "config.yaml")
        assert f"climber: {file}; 8 runs from before that" in refusal
        assert "--rerun climber" in refusal
        assert "--keep climber" in refusal
        assert "random" not in refusal
    assert rounds(raced.store) == before


def test_rerun_repeats_changed_algorithms_only(raced: Project):
    first = rounds(raced.store)
    write_code(raced, helper="STEP = 0.01\n")
    done = raced.race("config.yaml", "--rerun", "climber")
    assert "race 1 is archived; 8 runs to repeat, 2 rounds to decide again" in done.stderr
    assert {a for (name, _), a in attempts(raced.store).items() if name == "random"} == {1}
    assert {a for (name, _), a in attempts(raced.store).items() if name == "climber"} == {2}
    assert rounds(raced.store, "races/race-0001") == first
    assert rounds(raced.store).keys() == first.keys()
    assert rounds(raced.store) != first
    repeated_race = raced("race", "config.yaml")
    assert "changed" not in repeated_race.stderr


def test_keep_all_with_one_to_rerun_keeps_all_others_and_an_added_function_changes_none(project):
    write_code(project)
    configure(project, climber("one"), climber("two"))
    run = "run", "config.yaml", "--instances", "1"
    project.done(*run)
    write_code(project, f"{MINE}\n\ndef other(problem, seed):\n    climber(problem, seed, 1)\n")
    project.done(*run)
    write_code(project, helper="STEP = 0.01\n")
    assert project(*run, "--rerun", "all", "--keep", "all").returncode == 1
    done = project.done(*run, "--rerun", "one", "--keep", "all")
    assert "kept despite the change: two: helper.py" in done.stderr
    attempt_of = {name: attempt for (name, _), attempt in attempts(project.store).items()}
    assert attempt_of == {"one": 2, "two": 1, "random": 1}


def test_keep_goes_on_with_the_race_and_is_not_asked_again(raced: Project):
    first = rounds(raced.store)
    write_code(raced, CHANGED["mine.py"])
    done = raced("race", "config.yaml", "--keep", "climber")
    assert "kept despite the change: climber: mine.py" in done.stderr
    assert rounds(raced.store) == first
    raced.race("config.yaml")
    assert set(attempts(raced.store).values()) == {1}


@pytest.mark.slow
def test_a_program_and_the_files_its_command_names_are_looked_at(project: Project):
    (project.folder / "solver.sh").write_text("#!/bin/sh\ncat $1\n")
    (project.folder / "solver.sh").chmod(0o755)
    (project.folder / "values.txt").write_text("1 5\n10 2\n")
    for name in ("one", "two"):
        (project.folder / f"{name}.tsp").touch()
    entry = {"name": "solver", "use": "command", "command": "./solver.sh values.txt"}
    project.configure(algorithms=[entry], instances={"suite": "files", "glob": "*.tsp"})
    project.done("run", "config.yaml")
    (project.folder / "values.txt").write_text("1 5\n10 1\n")
    assert "solver: values.txt; 2 runs" in project("run", "config.yaml").stderr
    (project.folder / "solver.sh").write_text("#!/bin/sh\ncat $1 $1\n")
    done = project("run", "config.yaml")
    assert "solver: solver.sh and values.txt; 2 runs" in done.stderr
    project.done("run", "config.yaml", "--rerun", "all")


def test_a_change_that_is_undone_runs_nothing_and_loses_no_run(raced: Project):
    first = rounds(raced.store)

    def finished() -> set[tuple[Any, ...]]:
        """Every run in the store: those that count, and those that are set aside."""
        columns = ("started", "instance", "seed", "evaluations", "best")
        return set(StoreOnDisk.open(raced.store).every_run().select(columns).iter_rows())

    def redecided(*algorithms: dict[str, Any]) -> str:
        configure(raced, *algorithms)
        before = finished()
        refusal = raced.refused("race", "config.yaml")
        raced.race("config.yaml", "--redecide")
        assert before <= finished()
        return refusal

    assert "8 runs to repeat, 2 rounds to decide again" in redecided(climber(step=0.1))
    assert {a for (name, _), a in attempts(raced.store).items() if name == "random"} == {1}
    runs_of_both = finished()
    redecided(climber())
    assert (finished(), rounds(raced.store)) == (runs_of_both, first)
    simplex = {"name": "simplex", "use": "scipy", "method": "nelder-mead"}
    longer_rules = {
        "batch": {"start": 4, "min": 4, "max": 4},
        "limits": {"rounds": 4},
        "alpha": 0.999,
    }
    configure(raced, climber(), simplex, race=longer_rules)
    assert "simplex has caught up" in raced("race", "config.yaml").stderr
    assert "'simplex' is in the race, but not in the configuration" in redecided(climber())
    assert rounds(raced.store) == first
    aside = raced.json("status", "config")["set_aside"]
    assert ("simplex", "dropped") in [(entry["algorithm"], entry["reason"]) for entry in aside]
    configure(raced, climber(), simplex, race=longer_rules)
    restored = "taken back, as their code and options are present again: 8 runs of simplex"
    assert restored in raced("race", "config.yaml").stderr


def test_other_rules_are_decided_again_without_a_single_run(raced: Project):
    first = rounds(raced.store)
    before = attempts(raced.store)
    rules = {"batch": {"start": 4, "min": 4, "max": 4}, "limits": {"rounds": 2}, "alpha": 0.6}
    configure(raced, race={**rules, "epsilon": 0.1})
    refusal = raced.refused("race", "config.yaml")
    assert "rules.alpha: stored 0.999, configuration 0.6" in refusal
    assert "0 runs to repeat, 2 rounds to decide again, in about" in refusal
    raced.race("config.yaml", "--redecide")
    assert rounds(raced.store) != first
    assert before.items() <= attempts(raced.store).items()
    told = raced.json("status", "config")
    assert [race["race"] for race in told["races"]] == [1]
    assert "rules.alpha: stored 0.999, configuration 0.6" in told["races"][0]["because"]
    earlier = raced.json("status", "config", "--race", 1)
    assert earlier["race"]["rules"]["alpha"] == 0.999
    assert earlier["race"]["rounds"] == 2
    report = raced.json("report", "config", "--race", 1)
    assert any("0.999" in str(value) for _, value in report["settings"])
    assert "has no race 7; it has races 1 to 2" in raced("status", "config", "--race", 7).stderr


def test_redecide_uses_repeated_runs_and_continues(raced: Project):
    first = rounds(raced.store)
    done = raced("race", "config.yaml", "--redecide")
    assert "nothing has changed: the race continues" in done.stderr
    second_attempt = {"attempt": 2, "started": datetime.now(UTC)}
    instance = StoreOnDisk.open(raced.store).instances()["instance"][0]
    catalog = Catalog(raced.store)
    files = []
    for name in ("trajectories", "runs"):
        rows = [
            {**row, **second_attempt, "run": run_id(RunKey("climber", instance), 2)}
            for _, part in catalog.read_parts(name)
            for row in part.to_dicts()
            if (row["algorithm"], row["instance"]) == ("climber", instance)
        ]
        if name == "trajectories":
            rows = [{**row, "y": [y + 1000 for y in row["y"]]} for row in rows]
        files.append(part_file(name, rows))
    catalog.commit(files)
    raced.race("config.yaml")
    assert rounds(raced.store) == first
    done = raced("race", "config.yaml", "--redecide")
    assert "race 1 is archived" in done.stderr
    assert rounds(raced.store) != first
    assert "made since its last round: 1 run of climber" in raced("status", "config").stdout


def renamed_rounds(store: Path, old: str, new: str, folder: str = "rounds") -> list[Any]:
    """The checkpoints of a race with a name replaced, and without keys that derive from names."""
    checkpoints = []
    for path in sorted((store / folder).glob("round-*.json")):
        facts = json.loads(path.read_text().replace(f'"{old}"', f'"{new}"'))
        derived = ("posterior", "checksum")
        checkpoints.append({key: value for key, value in facts.items() if key not in derived})
    return checkpoints


def test_a_renamed_algorithm_keeps_its_runs_its_rounds_and_its_seeds(raced: Project):
    longer_rules = {
        "batch": {"start": 4, "min": 4, "max": 4},
        "limits": {"rounds": 3},
        "alpha": 0.999,
    }
    configure(raced, race=longer_rules)
    raced("race", "config.yaml", "--store", "never-renamed")
    configure(raced, climber("hill climber"))
    refused_race = raced("race", "config.yaml")
    assert "polarbear rename config climber NEW" in refused_race.stderr
    renamed = raced.json("rename", "config", "climber", "hill climber")
    assert (renamed["runs"], renamed["new"], renamed["seeds_of"]) == (8, "hill climber", "climber")
    status = raced.json("status", "config")
    assert [entry["algorithm"] for entry in status["algorithms"]] == ["hill climber", "random"]
    in_race = {entry["algorithm"] for entry in status["race"]["algorithms"]}
    assert in_race == {"hill climber", "random"}
    configure(raced, climber("hill climber"), race=longer_rules)
    raced.race("config.yaml")
    never = raced.folder / "never-renamed"
    assert renamed_rounds(raced.store, "", "") == renamed_rounds(never, "climber", "hill climber")
    raced.done("select", "config")
    assert "is in config already" in raced("rename", "config", "random", "hill climber").stderr
    assert "did you mean 'random'" in raced("rename", "config", "randm", "x").stderr


def test_forgotten_runs_are_set_aside_and_can_be_restored(raced: Project):
    first = rounds(raced.store)
    forgotten = raced.json("forget", "config", "--algorithm", "climber")
    assert (forgotten["set_aside"], forgotten["restored"]) == (8, 0)
    assert raced.json("status", "config")["runs"] == 8
    assert "its race is to be decided again" in raced("report", "config", "--text").stdout
    forgotten = raced.json("forget", "config", "--algorithm", "climber", "--restore")
    assert (forgotten["restored"], forgotten["superseded"]) == (8, 0)
    raced.race("config.yaml")
    assert rounds(raced.store) == first
    assert "did you mean 'climber'" in raced("forget", "config", "--algorithm", "climbr").stderr


@pytest.mark.slow
def test_forgetting_failed_runs_has_them_run_again(project: Project):
    fails = (
        "import pathlib\n\ndef fragile(problem, seed):\n    assert pathlib.Path('there').exists()\n"
    )
    fails += "    problem((problem.lower + problem.upper) / 2)\n"
    (project.folder / "mine.py").write_text(fails)
    project.configure(
        algorithms=[{"name": "fragile", "use": "python", "function": "mine:fragile"}],
        instances={"suite": "classic", "count": 2},
    )
    assert project.json("run", "config.yaml")["failed_runs"] == 2
    (project.folder / "there").touch()
    assert project.json("run", "config.yaml")["executed"] == 0
    assert project.json("forget", "config", "--algorithm", "fragile", "--failed")["set_aside"] == 2
    answer = project.json("run", "config.yaml")
    assert (answer["executed"], answer["failed_runs"]) == (2, 0)
    answer = project.json("forget", "config", "--algorithm", "fragile", "--restore")
    assert (answer["restored"], answer["superseded"]) == (2, 2)
    assert project.json("status", "config")["failures"] == []
