"""`polarbear run` and `polarbear status`, as users and pipelines call them."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil
import pytest

from polarbear.numerics.threads import available_processors
from polarbear.store import StoreOnDisk
from tests.store.editing import rewrite
from tests.support import RANDOM, SOLVERS, Project, solver

TOO_MANY = available_processors() + 1  # workers, even where the machine is idle


def contents(store: Path) -> list[tuple[str, str, str, bytes, bytes]]:
    """The properties of runs that must not depend on how they were executed."""
    return sorted(
        (run.algorithm, run.instance, run.status, t.tobytes(), y.tobytes())
        for run, t, y in StoreOnDisk.open(store).trajectories()
    )


@pytest.mark.usefixtures("real_workers")
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
    done = project.done("run", "config.yaml")
    assert "coordinate_descent" in done.stdout
    assert "3 x crashes crashed: RuntimeError: the matrix is not positive definite" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    assert project.json("run", "config.yaml")["executed"] == 0  # failed runs are kept
    assert project.json("run", "config.yaml", "--retry-failed")["executed"] == 3
    facts = project.json("status", "config")
    assert (facts["runs"], facts["instances"]) == (6, 3)
    assert facts["failures"][0]["status"] == "crashed"
    assert facts["bytes"] > 1000
    assert facts["written_by"] is None
    text = project("status", "config").stdout
    assert "6 runs on 3 instances of 'classic'" in text
    assert "crashes crashed" in text


@pytest.mark.slow
def test_a_longer_budget_extends_the_same_trajectories_but_those_that_had_ended(project: Project):
    algorithms = [solver("coordinate_descent"), solver("stops")]
    project.configure(algorithms=algorithms)
    project.json("run", "config.yaml")
    short = {(a, i): (t, y) for a, i, _, t, y in contents(project.store)}
    project.configure(algorithms=algorithms, budget={"grid": {"from": 5, "to": 400, "points": 8}})
    assert project.json("run", "config.yaml")["executed"] == 3
    for algorithm, instance, _, t, y in contents(project.store):
        assert t.startswith(short[algorithm, instance][0])
        assert y.startswith(short[algorithm, instance][1])
    assert project.json("status", "config")["superseded_runs"] == 3


def test_objectives_with_nan_and_infinities_are_reported_and_do_no_harm(project: Project):
    project.configure(
        instances={"suite": "python", "function": f"{SOLVERS}:NanBowl", "count": 2},
        algorithms=[RANDOM],
    )
    answer = project.json("run", "config.yaml")
    assert answer["failed_runs"] == 0
    assert answer["algorithms"][0]["invalid"] == 2 * (100 + 20)
    for _, _, y in StoreOnDisk.open(project.store).trajectories():
        assert len(y)
        assert np.all(np.isfinite(y))


def test_too_many_workers_for_the_free_cores_are_warned_about_on_seconds_only(project: Project):
    project.configure(budget={"axis": "seconds", "grid": [0.05]}, algorithms=[solver("stops")])
    done = project("run", "config.yaml", "--workers", TOO_MANY)
    assert f"free for {TOO_MANY} runs at once" in done.stderr
    quiet = ("--retry-failed", "-q", "--store", "quiet")
    assert project("run", "config.yaml", "--workers", TOO_MANY, *quiet).stderr == ""
    project.configure()
    done = project("run", "config.yaml", "--workers", TOO_MANY, "--store", "other")
    assert "runs at once" not in done.stderr


def test_seconds_are_recorded_with_their_machine_and_not_mixed_silently(project: Project):
    project.configure(
        budget={"axis": "seconds", "grid": [0.02, 0.1]}, algorithms=[solver("coordinate_descent")]
    )
    project.json("run", "config.yaml")
    runs = StoreOnDisk.open(project.store).runs()
    assert runs["reached"].to_list() == [0.1] * 3
    assert all(0.1 <= seconds < 5 for seconds in runs["seconds"])
    assert runs["host"][0]
    assert runs["cpu"][0]
    assert runs["load"][0] >= 0
    for _, t, _ in StoreOnDisk.open(project.store).trajectories():
        assert np.all(np.diff(t) > 0)
        assert t[-1] <= 0.1
    rewrite(project.store, "runs", lambda row: {**row, "host": "elsewhere"})
    refusal = project.refused("run", "config.yaml", "--instances", 4)
    assert "were timed on elsewhere" in refusal
    assert "--mix-hosts" in refusal
    answer = project.json("run", "config.yaml", "--instances", 4, "--mix-hosts")
    assert answer["executed"] == 1
    assert len(project.json("status", "config")["hosts"]) == 2


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
def test_a_store_that_is_being_written_can_be_asked_and_not_be_written_by_another(
    project, wait_until
):
    go = project.folder / "go"
    project.configure()
    project.json("run", "config.yaml")
    project.configure(algorithms=[solver("waits", until=str(go)), solver("coordinate_descent")])
    process = project.start("run", "config.yaml")
    wait_until(lambda: project.json("status", "config")["written_by"] is not None)
    assert str(process.pid) in project.json("status", "config")["written_by"]
    assert f"is being written by process {process.pid}" in project.refused("run", "config.yaml")
    command = "infer config --model dirichlet --algorithms random,coordinate_descent --json"
    done = project.done(*command.split())
    assert json.loads(done.stdout)["from_store"] is False
    assert "the posterior was not kept" in done.stderr
    go.touch()
    process.communicate(timeout=600)
    assert process.returncode == 0
    assert project.json("status", "config")["runs"] == 9


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
