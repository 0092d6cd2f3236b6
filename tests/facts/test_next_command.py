"""Every way in which a race can end names the command that answers what it left open."""

import json
import shlex
import shutil
import subprocess
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from polarbear.facts.next_command import quoted
from tests.support import Project

GRID = {"grid": [10, 20, 30, 40]}
CLEAR = {"good": [6.0] * 4, "bad": [0.2] * 4}
CROSS = {"early": [6.0, 6.0, 0.3, 0.3], "late": [0.3, 0.3, 6.0, 6.0]}
NEAR = {"one": [1.5] * 4, "other": [1.0] * 4}
CLOSE_AT_30 = {"early": [6.0, 6.0, 1.0, 0.3], "late": [0.3, 0.3, 1.7, 6.0]}
SAME = {"one": [1.0] * 4, "other": [1.0] * 4}


class Case(NamedTuple):
    """A race, the options of the commands that end it, and what the next command begins with.

    ``answered`` says of the facts after the next command that nothing is left open.
    """

    ratings: dict[str, list[float]]
    next: str
    rules: dict[str, Any] | None = None
    commands: tuple[tuple[str, ...], ...] = ((),)
    answered: Callable[[dict[str, Any]], bool] = lambda facts: bool(facts["choice"])
    newcomer: bool = False


def recommends(facts: dict[str, Any]) -> bool:
    """Whether `select` recommends an algorithm."""
    return not any("too early" in note for note in facts["notes"])


def has_no_open_pair(facts: dict[str, Any]) -> bool:
    return bool(facts["resolved"])


def has_more_problems(facts: dict[str, Any]) -> bool:
    return bool(facts["instances"] >= 10)


SELECT = 'polarbear select config --preference "at '
RACE = "polarbear race config.yaml"
CASES = {
    "settled with a recommendation": Case(CLEAR, SELECT, answered=recommends),
    "settled, two that cross": Case(CROSS, SELECT, answered=recommends),
    "settled, equivalent": Case(
        SAME, SELECT, {"epsilon": 0.4, "alpha": 0.9, "guarantee": "none"}, answered=recommends
    ),
    "settled, too close to call at one time": Case(
        CLOSE_AT_30,
        f'{RACE} --for "at 30"',
        {"regret": None},
        answered=lambda facts: all(question["answered"] for question in facts["for"]),
    ),
    "limit of instances": Case(
        NEAR, f"{RACE} --more ", {"limits": {"instances": 8}}, answered=has_more_problems
    ),
    "limit of rounds": Case(
        CLEAR, f"{RACE} --more ", {"limits": {"rounds": 1}}, answered=has_no_open_pair
    ),
    "limit of evaluations": Case(
        CLEAR, f"{RACE} --more ", {"limits": {"evaluations": 1}}, answered=has_no_open_pair
    ),
    "limit of time spent": Case(
        CLEAR, f"{RACE} --more ", {"limits": {"spent": 1}}, answered=has_no_open_pair
    ),
    "further problems, with open pairs": Case(
        CLEAR, RACE, commands=(("--more", "3"),), answered=has_no_open_pair
    ),
    "further problems of a settled race": Case(
        CLEAR, SELECT, commands=((), ("--more", "3")), answered=recommends
    ),
    "for a preference": Case(
        CROSS,
        'polarbear select config --preference "at 40"',
        commands=(("--for", "at 40"),),
        answered=recommends,
    ),
    "for a preference, at a limit": Case(
        NEAR,
        f"{RACE} --more ",
        {"limits": {"rounds": 1}},
        commands=(("--for", "at 40"),),
        answered=has_more_problems,
    ),
    "a newcomer that has not caught up": Case(
        {**CLEAR, "new": [3.0] * 4},
        f"{RACE} --more ",
        {"limits": {"rounds": 3}, "alpha": 0.999},
        answered=lambda facts: facts["joining"] is None,
        newcomer=True,
    ),
}


def configure(project: Project, case: Case, names: list[str]) -> None:
    project.configure(
        algorithms=[{"name": name, "use": "synthetic"} for name in names],
        instances={"suite": "synthetic", "ratings": case.ratings},
        budget=GRID,
        race=case.rules,
        inference={"draws": 400},
        execution={"workers": 1, "check": False},
    )


def next_in(lines: str) -> str:
    """The command after `Next:` in what a command prints."""
    (line,) = (line for line in lines.splitlines() if line.startswith("Next: "))
    return line.removeprefix("Next: ")


def paste(project: Project, command: str) -> dict[str, Any]:
    """Give a command as a user does who pastes it; returns its facts."""
    program, *arguments = shlex.split(command)
    assert program == "polarbear"
    done = project(*arguments, "--json")
    assert done.returncode in (0, 3), done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("name", CASES)
def test_the_next_command_answers_what_is_open(project: Project, name: str):
    case = CASES[name]
    names = list(case.ratings)
    configure(project, case, names[:-1] if case.newcomer else names)
    for options in case.commands:
        done = project.race("config.yaml", *options)
    if case.newcomer:
        configure(project, case, names)
        done = project.race("config.yaml")
    command = next_in(done.stdout)
    assert command.startswith(case.next)
    status = project.done("status", "config").stdout
    assert next_in(status) == command
    assert project.json("status", "config")["race"]["next"][0] == command
    assert case.answered(paste(project, command)), command


def test_after_a_limit_of_hours_the_same_command_continues(project: Project):
    """The limit is one of each command."""
    configure(project, Case(CLEAR, "", {"limits": {"hours": 1e-9}}), list(CLEAR))
    command = next_in(project.race("config.yaml").stdout)
    assert command == RACE
    configure(project, Case(CLEAR, "", {"limits": {"hours": 1.0}}), list(CLEAR))
    assert paste(project, command)["resolved"]


@pytest.mark.parametrize("named", ["beside", "elsewhere"])
def test_select_names_the_command_when_it_is_too_early(project: Project, named: str):
    case = Case(CLEAR, "", {"limits": {"rounds": 1}})
    configure(project, case, list(CLEAR))
    project.race("config.yaml")
    if named == "elsewhere":
        shutil.copytree(project.store, project.folder / "copy")
    store = "config" if named == "beside" else "copy"
    notes = project.json("select", store, "--preference", "at 40")["notes"]
    (command,) = (note.removeprefix("next: ") for note in notes if note.startswith("next: "))
    if named == "elsewhere":
        assert command.startswith("polarbear race CONFIG --store copy --more ")
        command = command.replace("CONFIG", "config.yaml")
    paste(project, command)
    assert recommends(project.json("select", store, "--preference", "at 40"))


def test_runs_without_a_race_name_the_command_for_more_of_them(project: Project):
    configure(project, Case(CLEAR, ""), list(CLEAR))
    project.done("run", "config.yaml", "--instances", 4)
    notes = project.json("select", "config")["notes"]
    (command,) = (note.removeprefix("next: ") for note in notes if note.startswith("next: "))
    assert command == "polarbear run config.yaml --instances 14"
    paste(project, command)
    assert recommends(project.json("select", "config"))


def test_an_interrupted_race_names_the_same_command(project: Project, monkeypatch):
    from polarbear.driver.loop import Race

    take_result = Race._take_result

    def interrupted(self, result):
        take_result(self, result)
        raise KeyboardInterrupt

    configure(project, Case(CLEAR, ""), list(CLEAR))
    monkeypatch.setattr(Race, "_take_result", interrupted)
    done = project("race", "config.yaml")
    assert done.returncode == 130
    assert "the same command continues" in done.stderr
    monkeypatch.undo()
    command = next_in(project.done("status", "config").stdout)
    assert command == RACE
    assert paste(project, command)["resolved"]


def test_a_race_whose_algorithm_fails_names_the_option_that_repeats_its_runs(project: Project):
    from tests.support import RANDOM, solver

    project.configure(
        algorithms=[RANDOM, solver("fails_at_once", "broken")],
        execution={"workers": 1, "check": False},
    )
    refusal = project.refused("race", "config.yaml")
    assert "--retry-failed" in refusal
    project.configure(
        algorithms=[RANDOM, solver("coordinate_descent", "broken")],
        execution={"workers": 1, "check": False},
        race={"limits": {"rounds": 1}},
    )
    done = project("race", "config.yaml", "--rerun", "broken")
    assert done.returncode in (0, 3), done.stderr


@pytest.mark.parametrize("preference", ["at 40", 'mine:"$HOME"', "file`s.yaml", "a\\b!"])
def test_a_preference_in_a_command_survives_the_shell(preference: str):
    assert shlex.split(quoted(preference)) == [preference]
    printed = ["sh", "-c", f"printf %s {quoted(preference)}"]
    assert subprocess.run(printed, capture_output=True, text=True).stdout == preference
