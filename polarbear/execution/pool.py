"""A pool of worker processes on this machine; a run that fails affects no other run."""

import multiprocessing
import os
import secrets
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from typing import Self

from polarbear.errors import PolarBearError
from polarbear.execution import process_tree
from polarbear.execution.host import default_memory, here
from polarbear.execution.journal import read_journal
from polarbear.execution.outcome import Executor, Outcome, RunLimits, Status, Task
from polarbear.execution.worker_log import log_tail
from polarbear.execution.worker_process import (
    THREAD_VARIABLES,
    WorkerProcess,
    WorkerSetup,
    import_path,
)
from polarbear.problems.base import Setting, Suite
from polarbear.settings.grid import EVALUATIONS
from polarbear.wording import typed_time

MEASURE_INTERVAL_SECONDS = 0.25  # between measurements of memory
MAX_TRIAL_SETUP_SECONDS = 30.0  # covers imports and compilation before the first call
MAX_START_SECONDS = 120.0
MAX_DYING_SECONDS = 1.0  # between the end of a process's connection and its own
MAX_FAILED_STARTS = 3  # in a row


class Pool(Executor):
    """An executor on this machine; use it as a context, then iterate over ``run``.

    ``name`` is the name of its only worker; without it, workers are numbered.
    """

    def __init__(
        self,
        suite: Suite,
        setting: Setting,
        workers: int,
        limits: RunLimits,
        threads: int = 1,
        name: str = "",
    ) -> None:
        self._suite = suite
        self._setting = setting
        self._size = workers
        self._limits = limits
        self._max_memory = default_memory(workers) if limits.memory is None else limits.memory
        self._threads = threads
        self._name = name
        self._workers: list[WorkerProcess] = []
        self._started = 0
        self._failed_starts = 0
        self._scratch: process_tree.Scratch | None = None
        self._woken, self._waker = multiprocessing.Pipe(duplex=False)

    def __enter__(self) -> Self:
        self._scratch = process_tree.Scratch()
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self._workers:
            worker.stop()
        self._workers.clear()
        if self._scratch is not None:
            self._scratch.clear()
        self._woken.close()
        self._waker.close()

    @property
    def size(self) -> int:
        return self._size

    def wake(self) -> None:
        self._waker.send_bytes(b"!")

    def _has_room(self) -> bool:
        return len(self._workers) < self._size or self._idle_worker() is not None

    def _is_busy(self) -> bool:
        return any(worker.task is not None for worker in self._workers)

    def _submit(self, task: Task) -> None:
        self._worker_for(task).assign(task)

    def _worker_for(self, task: Task) -> WorkerProcess:
        """The process that shall execute a task: any idle one, or a new one."""
        return self._idle_worker() or self._start()

    def _idle_worker(self) -> WorkerProcess | None:
        return next((worker for worker in self._workers if worker.task is None), None)

    def _start(self) -> WorkerProcess:
        """Start a worker process that writes its files into the temporary folder."""
        assert self._scratch is not None, "a pool is used as a context"
        self._started += 1
        setup = WorkerSetup(
            name=self._name or str(self._started),
            tag=secrets.token_hex(8),
            journal=self._scratch.folder / f"journal-{self._started}",
            log=self._scratch.folder / f"log-{self._started}",
            suite=self._suite,
            setting=self._setting,
            import_path=import_path(),
            python_path=os.environ.get("PYTHONPATH"),
        )
        variables = {
            **dict.fromkeys(THREAD_VARIABLES, str(self._threads)),
            **process_tree.tagged_environment(f"{self._scratch.tag}:{setup.tag}"),
        }
        worker = WorkerProcess.start(setup, variables)
        self._workers.append(worker)
        return worker

    def _finished(self) -> Iterator[Outcome]:
        worker_of = {worker.connection: worker for worker in self._workers}
        for connection in wait([*worker_of, self._woken], self._seconds_to_next_limit()):
            assert isinstance(connection, Connection)
            if connection is self._woken:
                self._woken.recv_bytes()
            else:
                yield from self._receive(worker_of[connection])
        for worker in list(self._workers):
            yield from self._enforce_limits(worker)

    def _seconds_to_next_limit(self) -> float:
        """The seconds until a worker has to be measured, or reaches a limit."""
        seconds_left = [
            self._limit(worker) - worker.seconds
            for worker in self._workers
            if worker.task is not None
        ]
        return max(0.0, min([MEASURE_INTERVAL_SECONDS, *seconds_left]))

    def _receive(self, worker: WorkerProcess) -> Iterator[Outcome]:
        """Receive the message of a worker, or notice that its connection has ended."""
        try:
            outcome = worker.receive()
        except (EOFError, OSError):
            if worker.is_dead_within(MAX_DYING_SECONDS):
                yield from self._remove(worker, Status.KILLED, "its process died")
            else:
                message = "it closed the file descriptors of its process"
                yield from self._remove(worker, Status.CRASHED, message)
            return
        if outcome is None:  # the worker is ready
            self._failed_starts = 0
        else:
            yield outcome

    def _limit(self, worker: WorkerProcess) -> float:
        """The seconds after which a worker or its run is killed."""
        if not worker.is_ready or worker.task is None:
            return MAX_START_SECONDS
        trial_seconds = worker.task.seconds
        if trial_seconds is None:
            return self._limits.seconds
        return trial_seconds + MAX_TRIAL_SETUP_SECONDS

    def _enforce_limits(self, worker: WorkerProcess) -> Iterator[Outcome]:
        limit = self._limit(worker)
        if not worker.is_ready:
            if worker.seconds > limit:
                yield from self._remove(worker, Status.KILLED, "its process did not start")
        elif worker.task is not None:
            if worker.seconds > limit:
                message = f"killed after {typed_time(limit, 'seconds')}, the limit of a run"
                yield from self._remove(worker, Status.TIMEOUT, message)
            elif worker.seconds > (worker.measurements + 1) * MEASURE_INTERVAL_SECONDS:
                used_bytes = worker.measure_memory()
                if used_bytes > self._max_memory:
                    message = (
                        f"killed at {used_bytes / 2**20:.0f} MiB of memory; "
                        f"the limit of a run is {self._max_memory / 2**20:.0f} MiB"
                    )
                    yield from self._remove(worker, Status.MEMORY, message)

    def _remove(self, worker: WorkerProcess, status: Status, message: str) -> Iterator[Outcome]:
        """Stop a worker; its run, if it had begun, keeps the trajectory in its journal."""
        finished_before = worker.stop()
        self._workers.remove(worker)
        if finished_before is not None:
            yield finished_before
            return
        if status is Status.KILLED:
            from polarbear.algorithms.program import killed_from_outside  # few races need it

            exit_code = worker.process.returncode
            message += f" (exit code {exit_code})"
            if killed_from_outside(exit_code):
                status = Status.LOST
        message = "\n".join(filter(None, (message, log_tail(worker.setup.log))))
        if not worker.is_ready:
            self._failed_starts += 1
            if self._failed_starts >= MAX_FAILED_STARTS:
                raise PolarBearError(f"a worker process could not be started: {message}")
        if worker.task is None:
            return
        if worker.has_begun:
            yield self._interrupted(worker, worker.task, status, message)
        else:
            self._submit(worker.task)

    def _interrupted(
        self, worker: WorkerProcess, task: Task, status: Status, message: str
    ) -> Outcome:
        """The outcome of a run whose process has ended, from its journal."""
        times, values = read_journal(worker.setup.journal)
        last_time = float(times[-1]) if len(times) else 0.0
        counts_evaluations = self._setting.budget.axis == EVALUATIONS
        return Outcome(
            task,
            status,
            message,
            times,
            values,
            evaluations=int(last_time) if counts_evaluations else 0,
            reached=last_time,
            seconds=worker.seconds,
            started=time.time() - worker.seconds,
            where=here(worker.setup.name),
        )
