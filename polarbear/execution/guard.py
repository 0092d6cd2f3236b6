"""What stands beside a run on a Dask worker: the same pool as on one machine, of one process.

A bare task would take the Dask worker down with it. Here it runs in a process of its own, under the
limits, with the journal and the janitor that local runs have.
"""

from __future__ import annotations

import multiprocessing
import pickle
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from distributed import WorkerPlugin, get_worker

from polarbear.errors import ClusterError, PolarBearError
from polarbear.execution import luggage
from polarbear.execution.executor import RunLimits
from polarbear.execution.host import default_memory, here
from polarbear.execution.inspection import differing
from polarbear.execution.outcome import Outcome, Task
from polarbear.execution.pool import Pool
from polarbear.problems.base import Setting, Suite

TELLING = 1.0  # seconds in which a message has left a worker
SHARE = 0.8  # of a worker's memory that its runs may have


@dataclass(frozen=True)
class Job:
    """What the runs of one call have in common, as every worker gets it once."""

    name: str
    suite: Suite
    setting: Setting
    limits: RunLimits
    threads: int
    packages: Mapping[str, str]  # with the versions that runs are said to be made by
    trial: Task
    code: bytes | None  # the configuration's folder, unless all machines share it


class UnfitError(ClusterError):
    """A worker lacks something that every run needs."""


class UnknownJobError(ClusterError):
    """A worker was not told about a job, as after a restart of its scheduler."""


class LeavingError(ClusterError):
    """A worker was told to end while it was at a run."""


class Guards(WorkerPlugin):
    """The guarded processes of one Dask worker, one for each of its threads."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def setup(self, worker: Any) -> None:
        self._worker = worker
        self._idle: list[Pool] = []
        self._all: list[Pool] = []
        self._lock = threading.Lock()
        self._inspecting = threading.Lock()
        self._fit = self._leaving = False
        _allow_children()

    def teardown(self, worker: Any) -> None:
        self._leaving = True  # what ends now does not end of itself
        with self._lock:
            for pool in self._all:
                pool.__exit__(None, None, None)
            self._all.clear()
            self._idle.clear()

    def execute(self, task: Task) -> Outcome:
        """Run a task in a process of its own, once it is known that this machine can."""
        self.inspect()
        return self._guarded(task)

    def inspect(self) -> None:
        """Raise what makes this machine unfit, looked for once."""
        with self._inspecting:
            if not self._fit:
                self._look()
                self._fit = True

    def _look(self) -> None:
        flaw = differing(self.job.packages)
        if flaw:
            raise UnfitError(f"{self._called}: {flaw}")
        outcome = self._guarded(self.job.trial)
        if outcome.status.failed:
            raise UnfitError(f"{self._called}: {outcome.message}")

    @property
    def _called(self) -> str:
        return f"worker {self._worker.address} on {here().host}"

    def _guarded(self, task: Task) -> Outcome:
        with self._lock:
            if self._leaving:
                raise LeavingError(f"{self._called} was told to end")
            if not self._idle:
                self._idle.append(self._pool())
            pool = self._idle.pop()
        try:
            (outcome,) = pool.run([task])
        finally:
            if self._leaving:
                raise LeavingError(f"{self._called} was told to end")
        with self._lock:
            self._idle.append(pool)
        return outcome

    def _pool(self) -> Pool:
        job, memory = self.job, self.job.limits.memory
        if memory is None:
            limit = self._worker.memory_manager.memory_limit
            threads = self._worker.state.nthreads
            memory = SHARE * limit / threads if limit else default_memory(threads)
        setting = job.setting
        if job.code is not None:
            folder = luggage.unpacked(job.code, Path(self._worker.local_directory))
            setting = replace(setting, folder=str(folder))
        limits = replace(job.limits, memory=memory)
        pool = Pool(job.suite, setting, 1, limits, job.threads, self._worker.address)
        self._all.append(pool.__enter__())
        return pool


def run_guarded(job: str, key: str, task: bytes, wary: bool = False) -> bytes:
    """One run on the Dask worker that this is called on; the outcome comes without its task.

    That it begins is told first. ``wary`` waits until that has left the worker, whom the run may
    take down.
    """
    worker = get_worker()
    guards = worker.plugins.get(job)
    if not isinstance(guards, Guards):
        raise UnknownJobError(f"worker {worker.address} knows nothing of {job}")
    where = here(worker.address)
    worker.log_event(job, {"key": key, "worker": where.worker, "host": where.host})
    if wary:
        time.sleep(TELLING)
    outcome = guards.execute(pickle.loads(task))
    return pickle.dumps({one.name: getattr(outcome, one.name) for one in fields(outcome)[1:]})


def inspected(job: str) -> str:
    """What makes the worker unfit that this is called on; empty if it is fit."""
    guards = get_worker().plugins.get(job)
    if not isinstance(guards, Guards):
        return f"worker {get_worker().address} knows nothing of {job}"
    try:
        guards.inspect()
    except PolarBearError as error:
        return str(error)
    return ""


def _allow_children() -> None:
    """A worker under a nanny is daemonic unless it was started otherwise, and would be refused
    children. Those that it gets here watch for its death themselves."""
    with suppress(AttributeError):
        multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]
