"""A pool of worker processes on this machine; a run that fails affects no other run."""

import multiprocessing
import os
import pickle
import secrets
import time
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Self

from polarbear.algorithms.base import Algorithm
from polarbear.errors import PolarBearError
from polarbear.execution import process_tree
from polarbear.execution.host import default_memory, here
from polarbear.execution.journal import read_journal
from polarbear.execution.messages import (
    UNREADABLE,
    RunEnd,
    UnreadableError,
    WorkerSetup,
    decode,
)
from polarbear.execution.outcome import Executor, Outcome, RunLimits, Status, Task
from polarbear.execution.worker_log import log_tail
from polarbear.execution.worker_process import (
    THREAD_VARIABLES,
    WorkerProcess,
    import_path,
    status_of_death,
)
from polarbear.problems.base import Setting, Suite
from polarbear.settings.enumerations import Isolation
from polarbear.settings.grid import EVALUATIONS
from polarbear.wording import typed_time

MEASURE_INTERVAL_SECONDS = 0.25  # between measurements of memory
MAX_TRIAL_SETUP_SECONDS = 30.0  # covers imports and compilation before the first call
MAX_START_SECONDS = 120.0
MAX_FAILED_STARTS = 3  # in a row
SHARED = ""  # the key of the processes that execute no code of the user
# Variables of the environment that a worker has changed; its runs get those of this process.
WORKER_VARIABLES = ("PYTHONPATH",)


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
        isolation: Isolation = Isolation.ALGORITHM,
    ) -> None:
        self._suite = suite
        self._setting = setting
        self._size = workers
        self._limits = limits
        self._max_memory = default_memory(workers) if limits.memory is None else limits.memory
        self._threads = threads
        self._name = name
        self._isolation = isolation
        self._problems = pickle.dumps((suite, setting))
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

    def preferred(self, tasks: Sequence[Task]) -> Task:
        """A task for which an idle worker has a process, or else one that the fewest workers have.

        So each worker serves some of the algorithms, and few processes are forked. Where seconds
        are measured, algorithms take turns.
        """
        if self._isolation is Isolation.RUN or self._setting.budget.is_timed:
            return tasks[0]
        idle_workers = self._idle_workers()
        for task in tasks:
            process_key = self._process_key(task.algorithm)
            if any(process_key in worker.warm for worker in idle_workers):
                return task
        return min(tasks, key=self._n_workers_serving)

    def _n_workers_serving(self, task: Task) -> int:
        """The number of workers with a process for the algorithm of a task."""
        process_key = self._process_key(task.algorithm)
        return sum(worker.serves(process_key) for worker in self._workers)

    def wake(self) -> None:
        self._waker.send_bytes(b"!")

    def _has_room(self) -> bool:
        return len(self._workers) < self._size or bool(self._idle_workers())

    def _is_busy(self) -> bool:
        return any(worker.task is not None for worker in self._workers)

    def _submit(self, task: Task) -> None:
        process_key = self._process_key(task.algorithm)
        worker = self._worker_for(process_key)
        is_alone = self._isolation is Isolation.RUN or task.algorithm.needs_own_process
        worker.assign(task, process_key, is_alone)

    def _process_key(self, algorithm: Algorithm) -> str:
        """What runs that may share a process have in common: the algorithm, if code is a user's.

        An algorithm whose runs share no process has a key of its own, so that none is ended for it.
        """
        is_alone = algorithm.needs_own_process
        if is_alone or algorithm.runs_user_code or self._suite.runs_user_code:
            return algorithm.name
        return SHARED

    def _worker_for(self, process_key: str) -> WorkerProcess:
        """The worker that shall execute a run.

        At best it has a warm process for it, or else it is a new one, or has the fewest processes.
        """
        idle = self._idle_workers()
        for worker in idle:
            if process_key in worker.warm:
                return worker
        if len(self._workers) < self._size:
            return self._start()
        return min(idle, key=lambda worker: len(worker.warm))

    def _idle_workers(self) -> list[WorkerProcess]:
        return [worker for worker in self._workers if worker.task is None]

    def _start(self) -> WorkerProcess:
        """Start a worker process that writes its files into the temporary folder."""
        assert self._scratch is not None, "a pool is used as a context"
        self._started += 1
        setup = WorkerSetup(
            name=self._name or str(self._started),
            tag=secrets.token_hex(8),
            journal=self._scratch.folder / f"journal-{self._started}",
            log=self._scratch.folder / f"log-{self._started}",
            modules=self._scratch.folder / "modules",
            problems=self._problems,
            folder=self._setting.folder,
            has_user_problems=self._suite.runs_user_code,
            import_path=import_path(),
            variables={name: os.environ.get(name) for name in WORKER_VARIABLES},
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
            end = worker.receive()
        except (EOFError, OSError):
            yield from self._remove(worker, Status.KILLED, "its process died")
            return
        if end is None:  # the worker is ready
            self._failed_starts = 0
        elif worker.task is not None:
            outcome = self._outcome(worker, worker.task, end)
            worker.task = None
            yield outcome

    def _outcome(self, worker: WorkerProcess, task: Task, end: RunEnd) -> Outcome:
        """The outcome of a task whose run has ended by itself."""
        if end.outcome:
            try:
                return decode(end.outcome, task)
            except UnreadableError:
                return self._interrupted(worker, task, Status.KILLED, UNREADABLE)
        return self._interrupted(worker, task, end.status, end.message)

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
                used_bytes = worker.measure_memory(self._max_memory)
                if used_bytes > self._max_memory:
                    message = (
                        f"killed at {used_bytes / 2**20:.0f} MiB of memory; "
                        f"the limit of a run is {self._max_memory / 2**20:.0f} MiB"
                    )
                    yield from self._remove(worker, Status.MEMORY, message)

    def _remove(self, worker: WorkerProcess, status: Status, message: str) -> Iterator[Outcome]:
        """Stop a worker; its run, if it had begun, keeps the trajectory in its journal."""
        end = worker.stop()
        self._workers.remove(worker)
        if end is not None and worker.task is not None:
            yield self._outcome(worker, worker.task, end)
            return
        if status is Status.KILLED:
            exit_code = worker.process.returncode
            message += f" (exit code {exit_code})"
            status = status_of_death(exit_code)
        if not worker.is_ready:
            self._failed_starts += 1
            if self._failed_starts >= MAX_FAILED_STARTS:
                message = _with_output(message, worker)
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
        improvements = read_journal(worker.setup.journal, self._suite.objectives)
        times = improvements.times
        last_time = float(times[-1]) if len(times) else 0.0
        counts_evaluations = self._setting.budget.axis == EVALUATIONS
        return Outcome(
            task,
            status,
            _with_output(message, worker),
            times,
            improvements.values,
            evaluations=int(last_time) if counts_evaluations else 0,
            reached=last_time,
            seconds=worker.seconds,
            started=time.time() - worker.seconds,
            where=here(worker.setup.name),
            violations=improvements.violations,
        )


def _with_output(message: str, worker: WorkerProcess) -> str:
    """A message and the last lines that the run has printed."""
    return "\n".join(filter(None, (message, log_tail(worker.setup.log))))
