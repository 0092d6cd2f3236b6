"""A race that is killed at any step of its start leaves no folder and no process."""

import os
import secrets
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.faults.killed_starts import RACE, RUN_PROCESS, WORKER

MARK = "POLARBEAR_TEST_OF_KILLED_STARTS"


def killed_at(folder: Path, process: str, steps: range, mark: str) -> list[int]:
    """Start a race for each step, and kill it there; return the steps that were reached."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.killed_starts", str(folder), process]
        + [str(step) for step in steps],
        env={**os.environ, MARK: mark},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [int(line) for line in done.stdout.split()]


def folders_left(folder: Path) -> list[Path]:
    return list(folder.glob("*/polarbear-*"))


def processes_left(mark: str) -> list[psutil.Process]:
    processes = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark:
                processes.append(process)
        except psutil.Error:
            continue
    return processes


@pytest.mark.parametrize(
    ("process", "steps", "n_least"),
    [
        (RACE, range(20, 150, 30), 5),
        pytest.param(RACE, range(0, 900, 6), 80, marks=pytest.mark.slow),
        pytest.param(WORKER, range(0, 1500, 40), 20, marks=pytest.mark.slow),
        pytest.param(RUN_PROCESS, range(0, 1000, 30), 20, marks=pytest.mark.slow),
    ],
)
def test_a_race_that_is_killed_at_a_step_of_its_start_leaves_nothing(
    tmp_path: Path,
    wait_until: Callable[..., None],
    process: str,
    steps: range,
    n_least: int,
):
    mark = secrets.token_hex(8)
    reached = killed_at(tmp_path, process, steps, mark)
    assert len(reached) >= n_least
    wait_until(lambda: not processes_left(mark))
    assert folders_left(tmp_path) == []
