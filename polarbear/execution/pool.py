"""A pool of worker processes, in which one bad run takes down nobody else."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

import psutil

from polarbear.algorithms.signals import killed_from_outside
from polarbear.errors import PolarBearError
from polarbear.execution import families
from polarbear.execution.executor import RunLimits
from polarbear.execution.host import default_memory, here
from polarbear.execution.outcome import Outcome, Status, Task
from polarbear.execution.recorder import Journal
from polarbear.execution.scratch import Scratch
from polarbear.execution.worker import INTERRUPTS, THREAD_VARIABLES, log_tail, serve
from polarbear.problems.base import Setting, Suite
from polarbear.wording import typed_time

DONE = object()  # what an iterable gives that has nothing more
MEMORY_EVERY = 0.25  # seconds between looks at a worker's own memory
FAMILY_EVERY = 4  # every so many looks, programs it has started are counted too
COMING_UP = 10.0  # seconds that a mere trial may take before its clock starts
STARTING_LIMIT = 120.0  # seconds a worker may take to come up
STARTING_TRIES = 3  # so many workers in a row that do not come up are no accident
_STARTING = threading.Lock()  # the environment is that of all threads
LARGEST_LOG = 64 * 2**20  # bytes of what a run prints; more would fill the disk for all


@dataclass
class Worker:
    """One process, what it is doing, and where it leaves its traces."""

    name: str
    process: Any
    connection: Connection
    journal: Path
    log: Path
    mark: str
    family: list[psutil.Process] = field(default_factory=list)  # what it was last seen to have
    task: Task | None = None
    since: float = field(default_factory=time.monotonic)
    ready: bool = False
    looks: int = 0

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.since


class Pool:
    """Worker processes of this machine; use it as a context, then iterate over ``run``.

    ``name`` is what its only worker is called; without it, workers are numbered.
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
        self._memory = default_memory(workers) if limits.memory is None else limits.memory
        self._threads = threads
        self._name = name
        self._workers: list[Worker] = []
        self._started = 0
        self._stillborn = 0  # workers in a row that did not come up
        self._scratch: Scratch | None = None
        self._held: Task | None = None  # taken, but not yet given to a worker
        self._woken, self._waker = multiprocessing.Pipe(duplex=False)

    def __enter__(self) -> Pool:
        self._scratch = Scratch()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: Any, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            self._stop(worker)
        self._workers.clear()
        if self._scratch is not None:
            self._scratch.clear()
        self._woken.close()
        self._waker.close()

    def run(
        self, tasks: Iterable[Task | None], over: Callable[[], bool] = lambda: False
    ) -> Iterator[Outcome]:
        """Execute the tasks, as ``Wakeful`` says; outcomes come as they are finished."""
        waiting = iter(tasks)
        more = True
        while not over():
            while more or self._held:
                if self._held is None:
                    found = next(waiting, DONE)
                    more = found is not DONE
                    self._held = found if isinstance(found, Task) else None
                    if self._held is None:
                        break
                worker = self._idle_worker()
                if worker is None:
                    break
                try:
                    worker.connection.send(self._held)
                except OSError:  # it died idle, so no run is to blame: the next worker takes over
                    self._stop(worker)
                    self._workers.remove(worker)
                    continue
                worker.task, worker.since, worker.looks = self._held, time.monotonic(), 0
                self._held = None
            if not more and not self._held and not any(w.task for w in self._workers):
                return
            yield from self._finished()

    def wake(self) -> None:
        """Let ``run`` look at once whether it is over, or has more to do; from any thread."""
        self._waker.send_bytes(b"!")

    def _idle_worker(self) -> Worker | None:
        for worker in self._workers:
            if worker.ready and worker.task is None:
                return worker
        if len(self._workers) < self.size:
            self._workers.append(self._start())
        return None

    def _start(self) -> Worker:
        assert self._scratch is not None, "a pool is used as a context"
        self._started += 1
        folder, mark = self._scratch.folder, self._scratch.mark
        journal, log = folder / f"journal-{self._started}", folder / f"log-{self._started}"
        ours, theirs = multiprocessing.Pipe()
        # Spawned, not forked: C++ extensions and threads do not survive a fork.
        own, name = families.new_mark(), self._name or str(self._started)
        process = multiprocessing.get_context("spawn").Process(
            target=serve,
            args=(theirs, journal, log, self._suite, self._setting, own, name),
            daemon=True,
        )
        resource_tracker.ensure_running()  # it is nobody's child, and would unblock interrupts
        threads = dict.fromkeys(THREAD_VARIABLES, str(self._threads))
        with (
            _STARTING,
            _environment(threads | families.marked_environment(f"{mark}:{own}")),
            uninterrupted(),
            _without_the_script(),
        ):
            try:
                process.start()
            except OSError as error:
                raise PolarBearError(
                    f"a worker process could not be started: {error.strerror}; free some memory, "
                    "or use fewer workers"
                ) from None
        theirs.close()
        return Worker(name, process, ours, journal, log, own)

    def _stop(self, worker: Worker) -> None:
        """End a worker and everything that its runs have started, were it long dead itself."""
        died = not worker.process.is_alive()
        families.end_worker(worker.process.pid)
        worker.process.join()
        if died:
            families.end_known(worker.family)
            families.end_marked(worker.mark)
        worker.connection.close()

    def _finished(self) -> Iterator[Outcome]:
        """Wait a moment; yield what was finished, and what had to be ended."""
        by_connection = {worker.connection: worker for worker in self._workers}
        for connection in wait([*by_connection, self._woken], timeout=MEMORY_EVERY):
            if connection is self._woken:
                self._woken.recv_bytes()
                continue
            worker = by_connection[connection]  # type: ignore[index]
            try:
                outcome = worker.connection.recv()
            except (EOFError, OSError):
                yield from self._bury(worker, Status.KILLED, "its process died")
                continue
            if worker.ready:
                worker.task = None
                yield outcome
            worker.ready, self._stillborn = True, 0
        for worker in list(self._workers):
            yield from self._within_limits(worker)

    def _within_limits(self, worker: Worker) -> Iterator[Outcome]:
        if worker.task is None:
            if not worker.ready and worker.seconds > STARTING_LIMIT:
                yield from self._bury(worker, Status.KILLED, "its process did not start")
            return
        trial = worker.task.seconds
        limit = self._limits.seconds if trial is None else trial + COMING_UP
        if worker.seconds > limit:
            message = f"killed after {typed_time(limit, 'seconds')}, the limit of a run"
            yield from self._bury(worker, Status.TIMEOUT, message)
        elif worker.seconds > (worker.looks + 1) * MEMORY_EVERY:
            worker.looks = int(worker.seconds / MEMORY_EVERY)
            _bound(worker.log)
            if worker.looks % FAMILY_EVERY == 0:
                worker.family = families.descendants(worker.process.pid)
            used = _memory(worker.process.pid, worker.family)
            if used > self._memory:
                message = (
                    f"killed at {used / 2**20:.0f} MiB of memory; "
                    f"the limit of a run is {self._memory / 2**20:.0f} MiB"
                )
                yield from self._bury(worker, Status.MEMORY, message)

    def _bury(self, worker: Worker, status: Status, message: str) -> Iterator[Outcome]:
        """End a worker; its run, if it had one, keeps what the journal holds of it."""
        self._stop(worker)
        self._workers.remove(worker)
        if status is Status.KILLED:
            message += f" (exit code {worker.process.exitcode})"
            if killed_from_outside(worker.process.exitcode):
                status = Status.LOST
        printed = log_tail(worker.log)
        if printed:
            message += f"\n{printed}"
        if worker.task is None:
            if not worker.ready:
                self._stillborn += 1
                if self._stillborn >= STARTING_TRIES:
                    raise PolarBearError(f"a worker process could not be started: {message}")
            return
        times, values = Journal.read(worker.journal)
        on_evaluations = self._setting.budget.axis == "evaluations"
        last = float(times[-1]) if len(times) else 0.0
        yield Outcome(
            worker.task,
            status,
            message,
            times,
            values,
            evaluations=int(last) if on_evaluations else 0,
            reached=last,
            seconds=worker.seconds,
            invalid=0,
            started=time.time() - worker.seconds,
            where=here(worker.name),
        )


def _memory(pid: int, family: list[psutil.Process]) -> int:
    """Bytes that a worker uses, with those of the programs it was last seen to have started."""
    used = 0
    for number in (pid, *(member.pid for member in family)):
        with suppress(psutil.Error):
            used += psutil.Process(number).memory_info().rss
    return used


def _bound(log: Path) -> None:
    """Start a log over that has grown too large; only its end would be quoted."""
    with suppress(OSError):
        if log.stat().st_size > LARGEST_LOG:
            os.truncate(log, 0)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C reaches the whole process group; a worker that is coming up must not mind it.

    Blocked, not ignored: this process gets what came meanwhile, and the worker opens its ears once
    it has decided what an interrupt means.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _without_the_script() -> Iterator[None]:
    """A worker needs nothing of the script that was called; without this it would run it again."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Environment variables set for as long as a process is being started."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
