"""A pool of worker processes on this machine; a run that fails affects no other run."""

from __future__ import annotations

import multiprocessing
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from typing import Self

from polarbear.algorithms.program import killed_from_outside
from polarbear.errors import PolarBearError
from polarbear.execution.cleanup import Scratch
from polarbear.execution.executor import RunLimits
from polarbear.execution.host import default_memory, here
from polarbear.execution.outcome import Outcome, Status, Task
from polarbear.execution.recorder import Journal
from polarbear.execution.worker import log_tail
from polarbear.execution.worker_handle import WorkerHandle, start_worker
from polarbear.problems.base import Setting, Suite
from polarbear.settings.grid import EVALUATIONS
from polarbear.wording import typed_time

MEASURE_INTERVAL_SECONDS = 0.25  # between measurements of memory
MAX_TRIAL_SETUP_SECONDS = 30.0  # to import packages and compile loops before the first call
MAX_START_SECONDS = 120.0
MAX_FAILED_STARTS = 3  # in a row
_NO_MORE = object()


class Pool:
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
        self.size = workers
        self._limits = limits
        self._max_memory = default_memory(workers) if limits.memory is None else limits.memory
        self._threads = threads
        self._name = name
        self._workers: list[WorkerHandle] = []
        self._started = 0
        self._failed_starts = 0
        self._returned: deque[Task] = deque()  # by workers that died before they began
        self._scratch: Scratch | None = None
        self._woken, self._waker = multiprocessing.Pipe(duplex=False)

    def __enter__(self) -> Self:
        self._scratch = Scratch()
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self._workers:
            worker.stop()
        self._workers.clear()
        if self._scratch is not None:
            self._scratch.clear()
        self._woken.close()
        self._waker.close()

    def run(
        self, tasks: Iterable[Task | None], over: Callable[[], bool] = lambda: False
    ) -> Iterator[Outcome]:
        """Execute tasks as described in ``Executor``."""
        waiting = iter(tasks)
        has_more = True
        while not over():
            has_more = self._assign_tasks(waiting, has_more)
            if not has_more and all(worker.task is None for worker in self._workers):
                return
            yield from self._finished()

    def wake(self) -> None:
        """Let ``run`` check at once whether it is over or has more to do; from any thread."""
        self._waker.send_bytes(b"!")

    def _assign_tasks(self, waiting: Iterator[Task | None], has_more: bool) -> bool:
        """Give tasks to idle workers and start workers as needed; return whether more remain."""
        while True:
            idle = next((worker for worker in self._workers if worker.task is None), None)
            if idle is None and len(self._workers) >= self.size:
                return has_more or bool(self._returned)
            if self._returned:
                task: object = self._returned.popleft()
            else:
                task = next(waiting, _NO_MORE) if has_more else _NO_MORE
            if not isinstance(task, Task):
                return task is not _NO_MORE
            if idle is None:
                idle = self._start()
            idle.assign(task)

    def _start(self) -> WorkerHandle:
        assert self._scratch is not None, "a pool is used as a context"
        self._started += 1
        worker = start_worker(
            self._started,
            self._name,
            self._suite,
            self._setting,
            self._threads,
            self._scratch.folder,
            self._scratch.tag,
        )
        self._workers.append(worker)
        return worker

    def _finished(self) -> Iterator[Outcome]:
        """Wait for a moment; yield runs that have finished or had to be killed."""
        by_connection = {worker.connection: worker for worker in self._workers}
        for connection in wait([*by_connection, self._woken], timeout=MEASURE_INTERVAL_SECONDS):
            assert isinstance(connection, Connection)
            if connection is self._woken:
                self._woken.recv_bytes()
                continue
            worker = by_connection[connection]
            try:
                outcome = worker.receive()
            except (EOFError, OSError):
                yield from self._remove(worker, *worker.reason_of_silence())
                continue
            if outcome is None:
                self._failed_starts = 0
            else:
                yield outcome
        for worker in list(self._workers):
            yield from self._enforce_limits(worker)

    def _enforce_limits(self, worker: WorkerHandle) -> Iterator[Outcome]:
        if not worker.is_ready:
            if worker.seconds > MAX_START_SECONDS:
                yield from self._remove(worker, Status.KILLED, "its process did not start")
        elif worker.task is not None:
            trial = worker.task.seconds
            limit = self._limits.seconds if trial is None else trial + MAX_TRIAL_SETUP_SECONDS
            if worker.seconds > limit:
                message = f"killed after {typed_time(limit, 'seconds')}, the limit of a run"
                yield from self._remove(worker, Status.TIMEOUT, message)
            elif worker.seconds > (worker.measurements + 1) * MEASURE_INTERVAL_SECONDS:
                used = worker.measure_memory()
                if used > self._max_memory:
                    message = (
                        f"killed at {used / 2**20:.0f} MiB of memory; "
                        f"the limit of a run is {self._max_memory / 2**20:.0f} MiB"
                    )
                    yield from self._remove(worker, Status.MEMORY, message)

    def _remove(self, worker: WorkerHandle, status: Status, message: str) -> Iterator[Outcome]:
        """Stop a worker; its run, if it had begun, keeps the trajectory in its journal."""
        finished = worker.stop()
        self._workers.remove(worker)
        if finished is not None:  # just before the process died or was killed
            yield finished
            return
        if status is Status.KILLED:
            message += f" (exit code {worker.process.exitcode})"
            if killed_from_outside(worker.process.exitcode):
                status = Status.LOST
        printed = log_tail(worker.log)
        if printed:
            message += f"\n{printed}"
        if not worker.is_ready:
            self._failed_starts += 1
            if self._failed_starts >= MAX_FAILED_STARTS:
                raise PolarBearError(f"a worker process could not be started: {message}")
        if worker.task is None:
            return
        if not worker.has_begun:
            self._returned.append(worker.task)
            return
        times, values = Journal.read(worker.journal)
        last = float(times[-1]) if len(times) else 0.0
        yield Outcome(
            worker.task,
            status,
            message,
            times,
            values,
            evaluations=int(last) if self._setting.budget.axis == EVALUATIONS else 0,
            reached=last,
            seconds=worker.seconds,
            started=time.time() - worker.seconds,
            where=here(worker.name),
        )
