"""A Dask cluster as users start it: `dask scheduler` and `dask worker`, each a process to kill."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from distributed import Client

PATIENCE = 600.0  # seconds: a busy machine may need long to start a process

SOLVERS = """
import os, signal, time


def descends(problem, seed):
    x = problem.lower.copy()
    while True:
        for i in range(len(x)):
            step = x.copy()
            step[i] += (problem.upper[i] - problem.lower[i]) / (7 + seed % 5)
            if problem(step) < problem(x) and step[i] <= problem.upper[i]:
                x = step


def slowly(problem, seed):
    for _ in range(1000):
        time.sleep(0.002)
        problem((problem.lower + problem.upper) / (2 + seed % 3))


def waits(problem, seed, sign):
    problem(problem.lower)
    while not os.path.exists(sign):
        time.sleep(0.02)
    while True:
        problem(problem.upper)


def kills_its_worker(problem, seed):
    import psutil
    polarbears = psutil.Process().parent()
    polarbears.parent().kill()
    time.sleep(600)


def kills_itself(problem, seed):
    problem(problem.lower)
    os.kill(os.getpid(), signal.SIGSEGV)


def raises(problem, seed):
    problem(problem.lower)
    raise RuntimeError(f"made in {__file__}")


def hangs(problem, seed):
    problem(problem.lower)
    time.sleep(600)


def leaves(problem, seed):
    problem(problem.lower)
    os._exit(3)
"""


def until(condition: Callable[[], Any]) -> Any:
    """Wait until a condition is true, and return its value."""
    deadline = time.monotonic() + PATIENCE
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


class RealCluster:
    """One scheduler, and workers that come and go."""

    def __init__(self, folder: Path, protocol: str = "tcp", **environment: str) -> None:
        self.folder = folder
        self._protocol = protocol
        self._environment = {**os.environ, **environment}
        self._port = 0
        self._started: list[subprocess.Popen[bytes]] = []
        self.start_scheduler()

    def start_scheduler(self) -> None:
        """Start it, the second time where it was the first."""
        scheduler_file = self.folder / f"scheduler-{len(self._started)}.json"
        self.scheduler = self._start(
            "dask_scheduler", "--port", self._port, "--scheduler-file", scheduler_file,
            "--no-dashboard", "--protocol", self._protocol,
        )  # fmt: skip
        self.address = until(lambda: _address(scheduler_file))
        self._port = int(self.address.rpartition(":")[2])

    def start_worker(self, *options: Any, at: str = "") -> subprocess.Popen[bytes]:
        """Start a worker with a nanny; it is there as soon as the scheduler says so."""
        return self._start(
            "dask_worker", at or self.address, "--nthreads", 1, "--no-dashboard",
            "--memory-limit", 0, "--local-directory", self.folder, *options,
        )  # fmt: skip

    def _start(self, program: str, *arguments: Any) -> subprocess.Popen[bytes]:
        with (self.folder / f"log-{len(self._started)}").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{program}", *map(str, arguments)],
                cwd=self.folder,
                env=self._environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._started.append(process)
        return process

    def await_workers(self, number: int) -> None:
        """Wait until the scheduler has this number of workers."""
        with Client(self.address, timeout=PATIENCE, set_as_default=False) as client:
            client.wait_for_workers(number, timeout=PATIENCE)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """Kill a process and all of its group at once, as a machine that is gone would be."""
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for process in self._started:
            if process.poll() is None:
                self.kill(process)


def _address(scheduler_file: Path) -> str:
    try:
        return str(json.loads(scheduler_file.read_text())["address"])
    except (OSError, ValueError, KeyError):
        return ""
