"""`polarbear run` and `polarbear status`, as users and pipelines call them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil
import pytest

from polarbear.execution.host import cores
from polarbear.store import Store
from tests.store.editing import rewrite
from tests.support import SOLVERS, Project, solver

TOO_MANY = cores() + 1  # workers, even where the machine is idle


def contents(store: Path) -> list[tuple[str, str, str, bytes, bytes]]:
    """Everything about the runs that must not depend on how they were executed."""
    return sorted(
        (run.algorithm, run.instance, run.status, t.tobytes(), y.tobytes())
        for run, t, y in Store.open(store).trajectories()
    )


def test_a_run_stores_every_algorithm_on_every_instance_once(project: Project):
    project.configure()
    answer = project.json("run", "config.yaml")
    assert answer["executed"] == 6
    assert answer["failed_runs"] == 0
    assert answer["store"] == "config"
    assert answer["evaluations"] == {"random": 600, "coordinate_descent": 600}
    assert sum(entry["first_at_end"] for entry in answer["algorithms"]) == pytest.approx(1)
    before = contents(project.store)
    answer = project.json("run", "config.yaml")
    assert (answer["executed"], answer["present"]) == (0, 6)
    assert contents(project.store) == before


def test_results_go_to_standard_output_and_nothing_else_does(project: Project):
    project.configure(algorithms=[solver("crashes"), solver("coordinate_descent")])
    done = project("run", "config.yaml")
    assert done.returncode == 0
    assert "coordinate_descent" in done.stdout
    assert "3 x crashes crashed: RuntimeError: the matrix is not positive definite" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    json.loads(project("run", "config.yaml", "--json").stdout)
    facts = project.json("status", "config")
    assert (facts["runs"], facts["instances"]) == (6, 3)
    assert facts["failures"][0]["status"] == "crashed"
    assert facts["bytes"] > 1000
    assert facts["written_by"] is None
    shown = project("status", "config").stdout
    assert "6 runs on 3 instances of 'classic'" in shown
    assert "crashes crashed" in shown


@pytest.mark.slow
def test_a_longer_budget_extends_the_same_trajectories(project: Project):
    project.configure()
    project.json("run", "config.yaml")
    short = {(a, i): (t, y) for a, i, _, t, y in contents(project.store)}
    project.configure(budget={"grid": {"from": 5, "to": 400, "points": 8}})
    assert project.json("run", "config.yaml")["executed"] == 6
    for algorithm, instance, _, t, y in contents(project.store):
        assert t.startswith(short[algorithm, instance][0])
        assert y.startswith(short[algorithm, instance][1])
    assert project.json("status", "config")["superseded_runs"] == 6


def test_a_longer_budget_does_not_repeat_what_had_ended_by_itself(project: Project):
    project.configure(algorithms=[solver("stops")])
    project.json("run", "config.yaml")
    project.configure(algorithms=[solver("stops")], budget={"grid": [10, 9000]})
    assert project.json("run", "config.yaml")["executed"] == 0


@pytest.mark.slow
def test_failed_runs_are_kept_and_repeated_only_when_asked_for(project: Project):
    project.configure(algorithms=[solver("crashes")])
    assert project.json("run", "config.yaml")["failed_runs"] == 3
    assert project.json("run", "config.yaml")["executed"] == 0
    assert project.json("run", "config.yaml", "--retry-failed")["executed"] == 3


def test_a_contradicting_configuration_is_refused_with_the_difference(project: Project):
    project.configure()
    project.json("run", "config.yaml")
    before = contents(project.store)
    done = project("run", "config.yaml", "--seed", 99)
    assert done.returncode == 1
    assert "contradicts what is stored in config" in done.stderr
    assert "seed: stored 1, configuration 99" in done.stderr
    assert contents(project.store) == before


def test_workers_do_not_change_what_is_stored(project: Project):
    project.configure()
    project.json("run", "config.yaml", "--workers", 1, "--store", "one")
    project.json("run", "config.yaml", "--workers", 3, "--store", "three")
    assert contents(project.folder / "one") == contents(project.folder / "three")


def test_objectives_with_nan_and_infinities_are_reported_and_do_no_harm(project: Project):
    project.configure(
        instances={"suite": "python", "function": f"{SOLVERS}:nan_bowl", "count": 2},
        algorithms=[{"name": "random", "use": "random-search"}],
    )
    answer = project.json("run", "config.yaml")
    assert answer["failed_runs"] == 0
    assert answer["algorithms"][0]["invalid"] == 2 * (100 + 20)
    for _, _, y in Store.open(project.store).trajectories():
        assert len(y)
        assert np.all(np.isfinite(y))


# --- seconds ---------------------------------------------------------------------------------


def test_seconds_are_recorded_with_host_load_and_processor(project: Project):
    project.configure(
        budget={"axis": "seconds", "grid": [0.02, 0.1]}, algorithms=[solver("coordinate_descent")]
    )
    project.json("run", "config.yaml")
    runs = Store.open(project.store).runs()
    assert runs["reached"].to_list() == [0.1] * 3
    assert all(0.1 <= seconds < 5 for seconds in runs["seconds"])
    assert runs["host"][0]
    assert runs["cpu"][0]
    assert runs["load"][0] >= 0
    for _, t, _ in Store.open(project.store).trajectories():
        assert np.all(np.diff(t) > 0)
        assert t[-1] <= 0.1


def test_too_many_workers_for_the_free_cores_are_warned_about_on_seconds_only(project: Project):
    seconds = {"axis": "seconds", "grid": [0.05]}
    project.configure(budget=seconds, algorithms=[solver("coordinate_descent")])
    done = project("run", "config.yaml", "--workers", TOO_MANY)
    assert f"cores are free for {TOO_MANY} runs" in done.stderr
    project.configure()
    done = project("run", "config.yaml", "--workers", TOO_MANY, "--store", "other")
    assert "cores are free" not in done.stderr


def test_seconds_of_two_machines_are_not_mixed_silently(project: Project):
    project.configure(
        budget={"axis": "seconds", "grid": [0.05]}, algorithms=[solver("coordinate_descent")]
    )
    project.json("run", "config.yaml")
    rewrite(project.store, "runs", lambda row: {**row, "host": "elsewhere"})
    done = project("run", "config.yaml", "--instances", 4)
    assert done.returncode == 1
    assert "were timed on elsewhere" in done.stderr
    assert "--mix-hosts" in done.stderr
    answer = project.json("run", "config.yaml", "--instances", 4, "--mix-hosts")
    assert answer["executed"] == 1
    assert len(project.json("status", "config")["hosts"]) == 2


# --- interrupts, kills, full disks -----------------------------------------------------------


def held_race(project: Project) -> Path:
    """40 runs on two workers, of which some are stored before the others wait for this file."""
    go = project.folder / "go"
    project.configure(
        algorithms=[solver("holds", store=str(project.store), go=str(go))],
        instances={"suite": "classic", "count": 40},
        budget={"grid": [10, 100]},
        execution={"workers": 2},
    )
    return go


def both_hold(go: Path) -> Callable[[], bool]:
    return lambda: len(list(go.parent.glob(f"{go.name}-*"))) == 2


def workers_of(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children(recursive=True)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_an_interrupt_or_a_kill_keeps_finished_runs_and_the_same_command_continues(
    project: Project, wait_until: Callable[..., None], number: signal.Signals
):
    go = held_race(project)
    process = project.start("run", "config.yaml")
    wait_until(both_hold(go))
    family = workers_of(process.pid)
    os.kill(process.pid, number)
    _, errors = process.communicate(timeout=600)
    if number != signal.SIGKILL:
        assert process.returncode == 130
        assert "every finished run is stored, and the same command continues" in errors
    wait_until(lambda: not any(p.is_running() and p.status() != "zombie" for p in family))
    kept = project.json("status", "config")["runs"]
    assert 0 < kept < 40
    go.touch()
    answer = project.json("run", "config.yaml")
    assert (answer["executed"], answer["present"]) == (40 - kept, kept)
    project.json("run", "config.yaml", "--store", "whole")
    assert contents(project.store) == contents(project.folder / "whole")


@pytest.mark.slow
def test_a_second_run_on_a_store_is_told_to_wait(project: Project, wait_until: Callable[..., None]):
    go = project.folder / "go"
    project.configure(algorithms=[solver("waits", until=str(go))])
    process = project.start("run", "config.yaml")
    wait_until(lambda: len(workers_of(process.pid)) > 1)
    second = project("run", "config.yaml")
    assert second.returncode == 1
    assert f"is being written by process {process.pid}" in second.stderr
    assert str(process.pid) in project.json("status", "config")["written_by"]
    go.touch()
    process.communicate(timeout=600)
    assert process.returncode == 0
    assert project.json("status", "config")["runs"] == 3


@pytest.mark.slow
def test_two_races_started_together_on_a_new_folder_do_not_take_it_for_something_else(
    project: Project,
):
    project.configure(race={"limits": {"rounds": 1}}, inference={"draws": 400})
    started = [project.start("race", "config.yaml", "--workers", "1") for _ in range(2)]
    ends = [(process.communicate()[1], process.returncode) for process in started]
    assert [code for _, code in ends if code in (0, 3)]  # settled, or at the limit of one round
    for words, code in ends:
        assert code in (0, 3) or "is being written by process" in words
    assert Store.open(project.store).rounds.numbers() == [1]


def test_a_folder_that_a_killed_command_began_is_taken_over(project: Project):
    project.configure()
    project.store.mkdir()
    (project.store / "lock").write_text("")
    (project.store / ".writing-1a2b3c4d").write_text('{"form')
    done = project("run", "config.yaml", "--instances", "1")
    assert done.returncode == 0, done.stderr
    assert not (project.store / ".writing-1a2b3c4d").exists()


# --- manners ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"algorithms": [{"name": "x", "use": "nlopt"}]}, "unknown adapter 'nlopt'"),
        ({"instances": {"suite": "tsplib"}}, "unknown suite 'tsplib'"),
        ({"algorithms": []}, "the list is empty"),
        ({"budget": {"grid": [5, 2]}}, "a grid must increase"),
        ({"budget": {"grid": [0.2, 10]}}, "evaluations are whole and the first is 1"),
        ({"budget": {"grid": {"from": 0.3, "to": 9}}}, "evaluations are whole and the first is 1"),
        ({"algorithms": [solver("no_such_function")]}, "has no 'no_such_function'"),
        (
            {"algorithms": [solver("coordinate_descent", stp=0.3)]},
            "unknown argument 'stp'; did you mean 'step'?",
        ),
        (
            {"algorithms": [{"name": "x", "use": "command", "command": "./none"}]},
            "there is no program",
        ),
        ({"instances": {"suite": "files", "glob": "*.tsp"}}, "takes problems of the kind"),
        ({"nonsense": 1}, "unknown key 'nonsense'"),
    ],
)
def test_bad_input_ends_with_one_clear_line_and_makes_no_store(
    project: Project, changes: dict[str, object], words: str
):
    project.configure(**changes)
    done = project("run", "config.yaml")
    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert not project.store.exists()


def test_debug_shows_the_traceback(project: Project):
    project.configure(algorithms=[])
    assert "Traceback" in project("run", "config.yaml", "--debug").stderr


def test_wrong_usage_ends_with_2(project: Project):
    assert project("run").returncode == 2
    assert project("run", "config.yaml", "--no-such-flag").returncode == 2
    assert project("fly").returncode == 2


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_crash(project: Project):
    project.configure()
    project.json("run", "config.yaml")
    command = " ".join([*project.command("status", "config"), "| head -1"])
    done = subprocess.run(
        command, shell=True, cwd=project.folder, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr


def test_quiet_says_nothing_but_the_result(project: Project):
    seconds = {"axis": "seconds", "grid": [0.05]}
    project.configure(budget=seconds, algorithms=[solver("coordinate_descent")])
    assert project("run", "config.yaml", "-q", "--workers", TOO_MANY).stderr == ""
