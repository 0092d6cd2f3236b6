"""A pool of worker processes on this machine; a run that fails affects no other run."""

import multiprocessing
import os
import secrets
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import ModuleType
from typing import Self

import psutil

from polarbear.errors import PolarBearError
from polarbear.execution import process_tree
from polarbear.execution.host import default_memory, here
from polarbear.execution.journal import read_journal
from polarbear.execution.outcome import Executor, Outcome, RunLimits, Status, Task
from polarbear.execution.worker import INTERRUPTS, THREAD_VARIABLES, log_tail, serve
from polarbear.problems.base import Setting, Suite
from polarbear.settings.grid import EVALUATIONS
from polarbear.wording import typed_time

MEASURE_INTERVAL_SECONDS = 0.25  # between measurements of memory
CHILDREN_INTERVAL = 4  # programs started by a run are looked for in every fourth measurement
MAX_LOG_BYTES = 64 * 2**20  # of the output of a run; more could fill the disk
MAX_TRIAL_SETUP_SECONDS = 30.0  # to import packages and compile loops before the first call
MAX_START_SECONDS = 120.0
MAX_DYING_SECONDS = 1.0  # between the end of a process's connection and its own
MAX_FAILED_STARTS = 3  # in a row
_START_LOCK = threading.Lock()  # all threads share the environment


@dataclass
class WorkerHandle:
    """A worker process, the task assigned to it, and the files it writes."""

    name: str
    process: SpawnProcess
    identity: psutil.Process | None
    connection: Connection
    journal: Path
    log: Path
    tag: str
    children: list[psutil.Process] = field(default_factory=list)  # as last seen
    task: Task | None = None
    is_ready: bool = False
    has_begun: bool = False  # the task was sent
    since: float = field(default_factory=time.monotonic)  # when it or its task was started
    measurements: int = 0

    @property
    def seconds(self) -> float:
        """Seconds since the task was sent or, before that, since the process was started."""
        return time.monotonic() - self.since

    def assign(self, task: Task) -> None:
        """Give it a task, which is sent as soon as the process is ready."""
        self.task, self.has_begun = task, False
        if self.is_ready:
            self._send()

    def receive(self) -> Outcome | None:
        """Receive the outcome of the task, or None if the process is ready now."""
        outcome: Outcome | None = self.connection.recv()
        if outcome is not None:
            self.task = None
            return outcome
        self.is_ready = True
        if self.task is not None:
            self._send()
        return None

    def _send(self) -> None:
        with suppress(OSError):  # the process is dead, as the end of the connection will show
            self.connection.send(self.task)
            self.has_begun = True
        self.since, self.measurements = time.monotonic(), 0

    def measure_memory(self) -> int:
        """Bytes used by the process and its children; empties its log if that is too large."""
        self.measurements += 1
        with suppress(OSError):
            if self.log.stat().st_size > MAX_LOG_BYTES:
                os.truncate(self.log, 0)  # only its end would be quoted
        if self.identity is None:
            return 0
        if self.measurements % CHILDREN_INTERVAL == 0:
            self.children = process_tree.descendants(self.identity)
        used = 0
        for process in (self.identity, *self.children):
            with suppress(psutil.Error):
                used += process.memory_info().rss if process.is_running() else 0
        return used

    def stop(self) -> Outcome | None:
        """Kill the process and all its runs have started; return an outcome sent before that."""
        has_died = not self.process.is_alive()
        if self.identity is not None:
            process_tree.kill_worker(self.identity)
        self.process.join()
        if has_died:
            process_tree.kill(self.children)
            process_tree.kill_tagged(self.tag)
        outcome: Outcome | None = None
        with suppress(EOFError, OSError):
            while self.connection.poll():
                outcome = self.connection.recv() or outcome
        self.connection.close()
        return outcome


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
        self._workers: list[WorkerHandle] = []
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

    def _idle(self) -> WorkerHandle | None:
        return next((worker for worker in self._workers if worker.task is None), None)

    def _has_room(self) -> bool:
        return len(self._workers) < self._size or self._idle() is not None

    def _is_busy(self) -> bool:
        return any(worker.task is not None for worker in self._workers)

    def _submit(self, task: Task) -> None:
        (self._idle() or self._start()).assign(task)

    def _start(self) -> WorkerHandle:
        """Start a worker process that writes its files into the temporary folder."""
        assert self._scratch is not None, "a pool is used as a context"
        self._started += 1
        name, tag = self._name or str(self._started), secrets.token_hex(8)
        journal = self._scratch.folder / f"journal-{self._started}"
        log = self._scratch.folder / f"log-{self._started}"
        ours, theirs = multiprocessing.Pipe()
        # Spawned, not forked: C++ extensions and threads do not survive a fork.
        process = multiprocessing.get_context("spawn").Process(
            target=serve,
            args=(theirs, journal, log, self._suite, self._setting, tag, name),
            daemon=True,
        )
        resource_tracker.ensure_running()  # started together with a worker, it would not be blocked
        variables = {
            **dict.fromkeys(THREAD_VARIABLES, str(self._threads)),
            **process_tree.tagged_environment(f"{self._scratch.tag}:{tag}"),
        }
        with _START_LOCK, blocked_interrupts(), _inherited(variables):
            try:
                process.start()
            except OSError as error:
                raise PolarBearError(
                    f"a worker process could not be started: {error.strerror}; free some memory, "
                    "or use fewer workers"
                ) from None
            identity = None
            with suppress(psutil.Error):  # before its number can be reused
                identity = psutil.Process(process.pid)
        theirs.close()
        worker = WorkerHandle(name, process, identity, ours, journal, log, tag)
        self._workers.append(worker)
        return worker

    def _finished(self) -> Iterator[Outcome]:
        by_connection = {worker.connection: worker for worker in self._workers}
        left = [self._limit(worker) - worker.seconds for worker in self._workers if worker.task]
        timeout = max(0.0, min([MEASURE_INTERVAL_SECONDS, *left]))
        for connection in wait([*by_connection, self._woken], timeout):
            assert isinstance(connection, Connection)
            if connection is self._woken:
                self._woken.recv_bytes()
                continue
            worker = by_connection[connection]
            try:
                outcome = worker.receive()
            except (EOFError, OSError):
                worker.process.join(MAX_DYING_SECONDS)
                if worker.process.is_alive():
                    message = "it closed the file descriptors of its process"
                    yield from self._remove(worker, Status.CRASHED, message)
                else:
                    yield from self._remove(worker, Status.KILLED, "its process died")
                continue
            if outcome is None:
                self._failed_starts = 0
            else:
                yield outcome
        for worker in list(self._workers):
            yield from self._enforce_limits(worker)

    def _limit(self, worker: WorkerHandle) -> float:
        """The seconds after which a worker or its run is killed."""
        if not worker.is_ready or worker.task is None:
            return MAX_START_SECONDS
        trial = worker.task.seconds
        return self._limits.seconds if trial is None else trial + MAX_TRIAL_SETUP_SECONDS

    def _enforce_limits(self, worker: WorkerHandle) -> Iterator[Outcome]:
        limit = self._limit(worker)
        if not worker.is_ready:
            if worker.seconds > limit:
                yield from self._remove(worker, Status.KILLED, "its process did not start")
        elif worker.task is not None:
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
            from polarbear.algorithms.program import killed_from_outside  # few races need it

            message += f" (exit code {worker.process.exitcode})"
            if killed_from_outside(worker.process.exitcode):
                status = Status.LOST
        message = "\n".join(filter(None, (message, log_tail(worker.log))))
        if not worker.is_ready:
            self._failed_starts += 1
            if self._failed_starts >= MAX_FAILED_STARTS:
                raise PolarBearError(f"a worker process could not be started: {message}")
        if worker.task is None:
            return
        if not worker.has_begun:
            self._submit(worker.task)
            return
        times, values = read_journal(worker.journal)
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


@contextmanager
def blocked_interrupts() -> Iterator[None]:
    """Block interrupts, which reach the whole process group, while a worker starts.

    They are blocked, not ignored: this process receives them afterwards, and the worker unblocks
    them once its handler is set.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _inherited(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for a new process, and hide the user's script from it.

    Multiprocessing would run the script again in every worker.
    """
    before = {name: os.environ[name] for name in variables if name in os.environ}
    script = sys.modules["__main__"]
    os.environ.update(variables)
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script
        for name in variables:
            del os.environ[name]
        os.environ.update(before)
