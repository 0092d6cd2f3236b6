"""The pool: a bad run affects no other run, and keeps its trajectory."""

import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import psutil
import pytest

from polarbear.config.configuration import Config, parse
from polarbear.execution import pool as pool_module
from polarbear.execution.journal import read_journal
from polarbear.execution.outcome import Outcome, RunLimits, Status, Task
from polarbear.execution.pool import Pool
from polarbear.execution.worker_process import WORKER_MODULE, WorkerProcess
from polarbear.numerics.seeds import run_seed
from polarbear.settings.options import Source
from tests.support import RANDOM, solver

GENEROUS = RunLimits(seconds=3600.0, memory=4 * 2**30)  # as a busy machine may need


def configured(*algorithms: dict[str, Any], **changes: Any) -> Config:
    data: dict[str, Any] = {
        "algorithms": list(algorithms),
        "instances": {"suite": "classic", "dimensions": {"from": 2, "to": 5}},
        "budget": {"grid": [100, 300]},
        **changes,
    }
    return parse(data, Source("test"))


def tasks(config: Config, instances: int = 1, budget: float = 300) -> list[Task]:
    return [
        Task(algorithm, instance, run_seed(1, instance.id, algorithm.name), budget)
        for i in range(instances)
        for instance in [config.instances.instance(i, config.setting)]
        for algorithm in config.algorithms
    ]


def run(
    config: Config, *, instances: int = 1, workers: int = 2, limits: RunLimits = GENEROUS
) -> dict[tuple[str, str], Outcome]:
    with Pool(config.instances, config.setting, workers, limits) as pool:
        outcomes = list(pool.run(tasks(config, instances)))
    assert len(outcomes) == instances * len(config.algorithms)
    return {(o.task.algorithm.name, o.task.instance.id): o for o in outcomes}


def past_the_limit_once(
    monkeypatch: pytest.MonkeyPatch, reached: Callable[[WorkerProcess], Any]
) -> None:
    """Let runs appear to take no time until a condition holds, and then too long."""

    def seconds(worker: WorkerProcess) -> float:
        return 1e6 if worker.task and worker.has_begun and reached(worker) else 0.0

    monkeypatch.setattr(WorkerProcess, "seconds", property(seconds))


def outcome_of(outcomes: dict[tuple[str, str], Outcome], name: str) -> Outcome:
    return next(o for (algorithm, _), o in outcomes.items() if algorithm == name)


GOOD = solver("coordinate_descent")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bad", "status", "words"),
    [
        ("crashes", Status.CRASHED, "RuntimeError: the matrix is not positive definite"),
        ("exits", Status.CRASHED, "SystemExit: 3"),
        ("segfaults", Status.KILLED, "its process died (exit code -11)"),
        ("hangs", Status.TIMEOUT, "killed after 2 seconds, the limit of a run"),
        ("eats_memory", Status.MEMORY, "the limit of a run is 400 MiB"),
        ("reports_backwards", Status.BAD_OUTPUT, "times must be finite and not go back"),
    ],
)
def test_a_bad_run_ends_alone_and_keeps_what_it_had_found(bad, status, words, monkeypatch):
    config = configured(GOOD, solver(bad))
    limits = RunLimits(seconds=GENEROUS.seconds, memory=400 * 2**20)
    if bad == "hangs":
        limits = RunLimits(seconds=2.0, memory=GENEROUS.memory)
        past_the_limit_once(
            monkeypatch,
            lambda worker: (
                worker.task.algorithm.name == bad and len(read_journal(worker.setup.journal).times)
            ),
        )
    outcomes = run(config, instances=2, limits=limits)
    for (name, _), outcome in outcomes.items():
        if name == bad:
            assert outcome.status is status
            assert words in outcome.message
            assert len(outcome.values) >= 1
            assert np.all(np.diff(outcome.values) < 0)
        else:
            assert outcome.status is Status.BUDGET
            assert outcome.evaluations == 300


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_closes_all_files_has_failed_and_is_not_lost(workers: int):
    """A lost run would be repeated; that its process is noticed early or late depends on others."""
    outcomes = run(configured(GOOD, solver("closes_all_files")), workers=workers)
    for (name, _), outcome in outcomes.items():
        if name == "closes_all_files":
            assert outcome.status in (Status.KILLED, Status.CRASHED)
            assert "it closed the file desc" in outcome.message or "exit code 1" in outcome.message
        else:
            assert outcome.status is Status.BUDGET


def test_runs_of_one_pool_end_each_in_its_own_way(tmp_path: Path):
    file = tmp_path / "peek.py"
    file.write_text(
        "import os\n"
        "def threads(problem, seed):\n"
        "    names = 'OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS'\n"
        "    raise RuntimeError(*(os.environ[name] for name in names))\n"
    )
    peek = {"name": "peek", "use": "python", "function": f"{file}:threads"}
    environment = dict(os.environ)
    outcomes = run(
        configured(solver("crashes"), solver("stops", after=20), solver("swallows"), peek)
    )
    assert os.environ == environment
    crashed = outcome_of(outcomes, "crashes")
    stopped = outcome_of(outcomes, "stops")
    swallows = outcome_of(outcomes, "swallows")
    assert "about to fail" in crashed.message  # the message ends with what the run had printed
    assert "solvers.py, line" in crashed.message
    assert (stopped.status, stopped.evaluations, stopped.reached) == (Status.ENDED, 20, 20)
    assert (swallows.status, swallows.evaluations) == (Status.BUDGET, 300)
    assert "('1', '1')" in outcome_of(outcomes, "peek").message


def test_the_next_call_yields_the_runs_that_had_begun_when_a_call_was_left(tmp_path: Path):
    """Left after the first run, woken while there is nothing to do, then asked for the rest."""
    go = tmp_path / "go"
    config = configured(GOOD, solver("waits", until=str(go)))
    quick, waiting = tasks(config)
    first: list[Outcome] = []
    with Pool(config.instances, config.setting, 2, GENEROUS) as pool:
        for outcome in pool.run([waiting, quick], over=lambda: bool(first)):
            first.append(outcome)
        assert [outcome.task.algorithm.name for outcome in first] == ["coordinate_descent"]
        requests: list[None] = []

        def nothing() -> Iterator[None]:
            while True:
                requests.append(None)
                if len(requests) == 2:
                    Thread(target=pool.wake).start()
                yield None

        assert list(pool.run(nothing(), over=lambda: len(requests) > 2)) == []
        go.touch()
        rest = list(pool.run([]))
    assert [outcome.task.algorithm.name for outcome in rest] == ["waits"]
    assert rest[0].status is Status.ENDED


def test_same_seed_gives_same_trajectories_with_any_number_of_workers():
    config = configured(GOOD, solver("uses_global_generator"), RANDOM)
    by_one_worker = run(config, instances=4, workers=1)
    by_three_workers = run(config, instances=4, workers=3)
    assert by_one_worker.keys() == by_three_workers.keys()
    for key, outcome in by_one_worker.items():
        assert outcome.times.tobytes() == by_three_workers[key].times.tobytes()
        assert outcome.values.tobytes() == by_three_workers[key].values.tobytes()


def test_a_problem_with_state_is_built_again_for_every_run():
    suite = {"suite": "python", "function": f"{solver('x')['function'].rsplit(':')[0]}:bowl"}
    config = configured(GOOD, solver("coordinate_descent", "again"), instances=suite)
    both = run(config, workers=1)
    only = run(configured(solver("coordinate_descent", "again"), instances=suite), workers=1)
    assert outcome_of(both, "again").values.tobytes() == outcome_of(only, "again").values.tobytes()


def living_workers() -> set[int]:
    """The numbers of the worker processes of this one that live."""
    return {
        child.pid
        for child in psutil.Process().children()
        if child.status() != "zombie" and WORKER_MODULE in child.cmdline()
    }


def test_killing_a_worker_costs_its_run_and_nothing_else(tmp_path: Path):
    begun = tmp_path / "begun"
    go = tmp_path / "go"
    config = configured(solver("waits", until=str(go), begun=str(begun)), GOOD)

    def kill() -> None:
        while not begun.exists():
            time.sleep(0.02)
        for pid in living_workers():
            os.kill(pid, signal.SIGKILL)
        go.touch()

    Thread(target=kill, daemon=True).start()
    with Pool(config.instances, config.setting, 2, GENEROUS) as pool:
        outcomes = list(pool.run(tasks(config, instances=4)))
    assert len(outcomes) == 8
    killed = [o for o in outcomes if o.status is Status.LOST]
    assert 1 <= len(killed) <= 2  # the other worker may have one
    assert all("exit code -9" in o.message for o in killed)
    ended = [o for o in outcomes if o.status in (Status.BUDGET, Status.ENDED)]
    assert len(ended) == 8 - len(killed)


def test_a_run_that_ended_just_before_it_was_killed_at_its_limit_has_ended(tmp_path, monkeypatch):
    go = tmp_path / "go"
    config = configured(solver("waits", until=str(go)))

    def ends(worker: WorkerProcess) -> bool:
        go.touch()
        return worker.connection.poll(None)

    past_the_limit_once(monkeypatch, ends)
    assert outcome_of(run(config), "waits").status is Status.ENDED


def test_programs_that_a_run_had_started_are_killed_with_it(tmp_path, monkeypatch, wait_until):
    pid_file = tmp_path / "pid"
    config = configured(solver("hangs_with_a_child", pid_file=str(pid_file)))
    past_the_limit_once(monkeypatch, lambda worker: pid_file.exists() and pid_file.read_text())
    outcome = outcome_of(run(config), "hangs_with_a_child")
    assert outcome.status is Status.TIMEOUT
    child = int(pid_file.read_text())
    wait_until(lambda: not psutil.pid_exists(child) or psutil.Process(child).status() == "zombie")


def test_leaving_the_pool_ends_its_workers_and_clears_its_scratch_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    config = configured(GOOD, solver("hangs"))
    with Pool(config.instances, config.setting, 2, GENEROUS) as pool:
        assert next(pool.run(tasks(config))).task.algorithm.name == GOOD["name"]
        assert living_workers()
        assert list(tmp_path.glob("polarbear-*"))
    assert not living_workers()
    assert not list(tmp_path.iterdir())


def test_a_run_is_killed_at_its_limit_and_not_at_the_next_measurement(monkeypatch):
    monkeypatch.setattr(pool_module, "MEASURE_INTERVAL_SECONDS", 1e6)
    outcome = outcome_of(run(configured(solver("hangs")), limits=RunLimits(0.5, 2**32)), "hangs")
    assert outcome.status is Status.TIMEOUT
