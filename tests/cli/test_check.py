"""`polarbear check`: what a short trial shows before anything is spent."""

import json
from typing import Any

import pytest

import polarbear as pb
from polarbear.store import StoreOnDisk
from tests.support import RANDOM, SOLVERS, Project, solver


def checked(project: Project, code: int = 0, **changes: Any) -> dict[str, Any]:
    project.configure(**changes)
    done = project("check", "config.yaml", "--json")
    assert done.returncode == code, done.stderr
    assert not project.store.exists()
    findings: dict[str, Any] = json.loads(done.stdout)
    return findings


def test_check_estimates_the_cost_of_a_valid_configuration(project: Project):
    findings = checked(project)
    assert (findings["ok"], findings["errors"], findings["warnings"]) == (True, [], [])
    assert findings["noisy"] is False
    assert findings["dimension"] in (2, 3, 4)
    assert findings["forecast"]["runs"] == 6
    assert findings["forecast"]["seconds"] > 0
    assert findings["forecast"]["bytes"] > 0
    for trial in findings["algorithms"]:
        assert trial["evaluations"] == 50
        assert trial["improved"]
        assert trial["seconds_per_evaluation"] > 0


def test_a_failure_in_a_check_is_exit_code_1_and_nothing_is_stored(project: Project):
    project.configure(algorithms=[RANDOM, solver("fails_at_once")])
    done = project("check", "config.yaml")
    assert done.returncode == 1
    assert "error: 'fails_at_once' failed on classic-0" in done.stdout
    assert "the licence has expired" in done.stdout
    assert not project.store.exists()


def suite(function: str) -> dict[str, Any]:
    return {"suite": "python", "function": f"{SOLVERS}:{function}"}


@pytest.mark.parametrize(
    ("code", "words", "changes"),
    [
        (0, "the same point twice has the values", {"instances": suite("bowl")}),
        (0, "'random' met 30 of 50 values that are not finite", {"instances": suite("NanBowl")}),
        (1, "none of its 50 objective values was a finite", {"instances": suite("OnlyNan")}),
        (1, "cannot be built: ", {"instances": suite("boxless")}),
        (
            0,
            "points before it learns anything, more than the budget of 20",
            {
                "algorithms": [{"name": "DE", "use": "scipy", "method": "differential-evolution"}],
                "budget": {"grid": [5, 20]},
            },
        ),
    ],
)
def test_a_finding_of_a_trial_is_an_error_or_a_warning(project, code, words, changes):
    findings = checked(project, code, **{"algorithms": [RANDOM], **changes})
    assert any(words in finding for finding in findings["errors" if code else "warnings"])
    assert bool(findings["noisy"]) is words.startswith("the same point twice")
    assert (findings["algorithms"] == []) is words.startswith("cannot be built")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("def go(problem): pass", "is called as go(problem, seed), but is defined as go(problem)"),
        ("def go(problem, seed, size): pass", "missing a required argument: 'size'"),
    ],
)
def test_a_signature_that_does_not_fit_is_an_error_of_the_user_s_file(project, line, words):
    (project.folder / "mine.py").write_text(f"{line}\n")
    project.configure(algorithms=[{"name": "x", "use": "python", "function": "mine.py:go"}])
    assert words in project.refused("check", "config.yaml")


def test_a_slow_objective_is_left_alone_after_a_moment(project: Project):
    findings = checked(project, algorithms=[solver("slow", pause=0.4)])
    (trial,) = findings["algorithms"]
    assert 1 <= trial["evaluations"] < 10
    assert findings["ok"]


def test_a_first_race_begins_with_a_trial_that_stores_nothing_and_can_be_left_out(project):
    def raced(name: str, *flags: str) -> tuple[str, list[Any], dict[str, bytes]]:
        done = project.race("config.yaml", "--store", name, *flags)
        folder = project.folder / name
        runs = StoreOnDisk.open(folder).all_runs().select("algorithm", "instance", "attempt").rows()
        rounds = {path.name: path.read_bytes() for path in (folder / "rounds").glob("*.json")}
        return done.stderr, sorted(runs), rounds

    project.configure(
        algorithms=[RANDOM, solver("coordinate_descent")],
        instances={"suite": "python", "function": f"{SOLVERS}:bowl"},
        budget={"grid": [5, 20, 60]},
        race={"limits": {"rounds": 1}},
        inference={"draws": 400},
    )
    notes, runs_with_trial, rounds_with_trial = raced("tried")
    assert "warning: the objective is noisy" in notes
    notes_without_trial, runs_without_trial, rounds_without_trial = raced("untried", "--no-check")
    assert "noisy" not in notes_without_trial
    assert runs_with_trial == runs_without_trial
    assert rounds_with_trial == rounds_without_trial


def test_python_gets_the_same_facts_without_a_store(project: Project):
    path = project.configure()
    result_of_check = pb.check(path)
    assert result_of_check.ok
    assert result_of_check.to_dict().keys() == checked(project).keys()
    assert "2 algorithms tried on classic-0" in repr(result_of_check)


STATEFUL = """
import numpy as np

CALLS = []


def stateful(problem, seed):
    CALLS.append(seed)
    rng = np.random.default_rng([seed, len(CALLS)])
    while True:
        problem(rng.uniform(problem.lower, problem.upper))


def fails_later(problem, seed):
    CALLS.append(seed)
    if len(CALLS) > 1:
        raise RuntimeError("only once")
    problem(problem.lower)
"""


@pytest.mark.parametrize("name", ["stateful", "fails_later"])
@pytest.mark.parametrize("isolated", [True, False], ids=["own process", "this process"])
def test_a_run_that_differs_in_the_second_run_of_a_process_is_reported(
    project: Project, name: str, isolated: bool
):
    (project.folder / "mine.py").write_text(STATEFUL)
    entry = {"name": "mine", "use": "python", "function": f"mine.py:{name}"}
    config = project.configure(algorithms=[entry, solver("coordinate_descent")])
    with pb.use_executor(None if isolated else pb.InProcess):
        checked = pb.check(config)
    (warning,) = (text for text in checked.warnings if "two trajectories" in text)
    assert warning.startswith("'mine' gave two trajectories for one seed in one process")
    assert "`execution: {isolation: run}`" in warning
