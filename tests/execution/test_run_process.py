"""Which runs share a process, and what of a run is over when the next one begins."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from polarbear.config.configuration import Config
from polarbear.driver.collect import pool_of
from polarbear.execution.executor_choice import use_executor
from polarbear.execution.outcome import Executor, Outcome, Status
from polarbear.execution.pool import Pool
from tests.execution.test_pool import GENEROUS, configured, tasks
from tests.faults.leftovers import LEFTOVERS
from tests.support import RANDOM

LEFTOVERS_FILE = Path(__file__).parents[1] / "faults" / "leftovers.py"
COUNTER = """
RUNS = []


def counts(problem, seed):
    RUNS.append(seed)
    problem.report(1, -len(RUNS))
"""
LEAVER = """
import os
import subprocess
import threading
import time
from pathlib import Path

LEFT = Path(__file__).parent / "left"


def spin():
    while True:
        pass


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def leaves(problem, seed):
    left = [int(line) for line in LEFT.read_text().split()] if LEFT.exists() else []
    still = sum(is_running(pid) for pid in left) + threading.active_count() - 1
    problem.report(1e-6, still)
    threading.Thread(target=spin, daemon=True).start()
    child = os.fork()
    if child == 0:
        time.sleep(1000)
        os._exit(0)
    program = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    script = "(setsid sleep 1000 & echo $!)"
    orphan = subprocess.run(["sh", "-c", script], stdout=open(LEFT, "a"), check=True)
    with LEFT.open("a") as file:
        print(os.getpid(), child, program.pid, file=file)
"""
# What the state of a process does not contain: modules and objects that only code of a user or a
# library has. No other algorithm is executed in such a process.
NOT_COMPARED = {
    "absent_module",
    "at_exit",
    "encoder",
    "fault_handler",
    "lock",
    "logging_off",
    "module_global",
    "numba_threads",
    "pickler",
    "recorder",
    "temporary_prefix",
    "victim",
    "alarm_soon",
}


def entry(file: Path, name: str) -> dict[str, Any]:
    return {"name": name, "use": "python", "function": f"{file}:{name}"}


@contextmanager
def executor_of(config: Config) -> Iterator[Executor]:
    with use_executor(None), pool_of(config) as executor:
        yield executor


@pytest.fixture(scope="module")
def kept_after() -> dict[str, bool]:
    """Whether a process was kept for further runs, by what a run has left in it."""
    config = configured(*(entry(LEFTOVERS_FILE, name) for name in LEFTOVERS), RANDOM)
    kept = {}
    with Pool(config.instances, config.setting, 1, GENEROUS) as pool:
        for task in tasks(config, budget=20):
            list(pool.run([task]))
            (worker,) = pool._workers
            kept[task.algorithm.name] = worker.process_key in worker.warm
    return kept


@pytest.mark.parametrize("name", sorted(set(LEFTOVERS) - NOT_COMPARED))
def test_a_process_that_a_run_has_left_in_another_state_serves_no_other_run(name, kept_after):
    assert not kept_after[name]


def test_a_process_that_is_as_before_serves_the_next_run(kept_after):
    assert kept_after["random"]
    assert kept_after["module_global"]


def test_the_processes_of_the_two_algorithms_used_last_are_kept(tmp_path: Path):
    (tmp_path / "counter.py").write_text(COUNTER)
    names = ("first", "second", "third")
    entries = [{**entry(tmp_path / "counter.py", "counts"), "name": name} for name in names]
    config = configured(*entries)
    first, second, third = tasks(config)
    values: list[float] = []
    with Pool(config.instances, config.setting, 1, GENEROUS) as pool:
        for task in (first, second, first, third, first, second, third):
            (outcome,) = pool.run([task])
            values += outcome.values.tolist()
            (worker,) = pool._workers
            assert len(worker.warm) <= 2
    # The third one takes the place of the second, and is itself replaced by it.
    assert values == [-1, -1, -2, -1, -3, -1, -1]


@pytest.mark.parametrize("engine", ["local", pytest.param("dask", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("isolation", "values"), [("algorithm", [-1, -2, -3]), ("run", [-1, -1, -1])]
)
def test_runs_of_one_algorithm_share_a_process_or_not(
    tmp_path: Path, engine: str, isolation: str, values: list[float]
):
    (tmp_path / "counter.py").write_text(COUNTER)
    execution = {"engine": engine, "workers": 1, "isolation": isolation}
    config = configured(entry(tmp_path / "counter.py", "counts"), execution=execution)
    outcomes: list[Outcome] = []
    with executor_of(config) as executor:
        for task in tasks(config, instances=3):
            outcomes += executor.run([task])
    assert [value for outcome in outcomes for value in outcome.values] == values


@pytest.mark.parametrize("engine", ["local", pytest.param("dask", marks=pytest.mark.slow)])
def test_when_seconds_are_measured_nothing_of_an_earlier_run_is_running(
    tmp_path: Path, engine: str
):
    (tmp_path / "leaver.py").write_text(LEAVER)
    config = configured(
        entry(tmp_path / "leaver.py", "leaves"),
        budget={"axis": "seconds", "grid": [30]},
        execution={"engine": engine, "workers": 1},
    )
    with executor_of(config) as executor:
        outcomes = list(executor.run(tasks(config, instances=4, budget=30)))
    assert [outcome.status for outcome in outcomes] == [Status.ENDED] * 4
    assert [outcome.values.tolist() for outcome in outcomes] == [[0.0]] * 4
    assert len((tmp_path / "left").read_text().split()) == 4 * 4
