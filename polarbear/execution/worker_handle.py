"""One worker process as the pool sees it: started, given a task, observed, stopped."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import ModuleType

import psutil

from polarbear.errors import PolarBearError
from polarbear.execution import process_tree
from polarbear.execution.outcome import Outcome, Status, Task
from polarbear.execution.worker import INTERRUPTS, THREAD_VARIABLES, serve
from polarbear.problems.base import Setting, Suite

MAX_LOG_BYTES = 64 * 2**20  # of the output of a run; more could fill the disk
CHILDREN_INTERVAL = 4  # programs started by a run are looked for in every fourth measurement
MAX_DYING_SECONDS = 1.0  # between the end of a process's connection and its own
_START_LOCK = threading.Lock()  # all threads share the environment


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
def hidden_script() -> Iterator[None]:
    """Hide the user's script from multiprocessing, which would run it again in every worker."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables while a process is started."""
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
        """Bytes used by the process and its children; truncates its log if that is too large."""
        self.measurements += 1
        truncate_log(self.log)
        if self.identity is None:
            return 0
        if self.measurements % CHILDREN_INTERVAL == 0:
            self.children = process_tree.descendants(self.identity)
        return process_tree.memory_of([self.identity, *self.children])

    def reason_of_silence(self) -> tuple[Status, str]:
        """Why the connection has ended: the process has died, or its run has closed it."""
        self.process.join(MAX_DYING_SECONDS)
        if self.process.is_alive():
            return Status.CRASHED, "it closed the file descriptors of its process"
        return Status.KILLED, "its process died"

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


def start_worker(
    number: int, name: str, suite: Suite, setting: Setting, threads: int, folder: Path, tag: str
) -> WorkerHandle:
    """Start a worker process that writes its files into a folder."""
    journal, log = folder / f"journal-{number}", folder / f"log-{number}"
    ours, theirs = multiprocessing.Pipe()
    own_tag, name = process_tree.new_tag(), name or str(number)
    # Spawned, not forked: C++ extensions and threads do not survive a fork.
    process = multiprocessing.get_context("spawn").Process(
        target=serve,
        args=(theirs, journal, log, suite, setting, own_tag, name),
        daemon=True,
    )
    resource_tracker.ensure_running()  # started together with a worker, it would not be blocked
    variables = {
        **dict.fromkeys(THREAD_VARIABLES, str(threads)),
        **process_tree.tagged_environment(f"{tag}:{own_tag}"),
    }
    with _START_LOCK, environment(variables), blocked_interrupts(), hidden_script():
        try:
            process.start()
        except OSError as error:
            raise PolarBearError(
                f"a worker process could not be started: {error.strerror}; free some memory, "
                "or use fewer workers"
            ) from None
        assert process.pid is not None
        identity = process_tree.find_process(process.pid)  # before its number can be reused
    theirs.close()
    return WorkerHandle(name, process, identity, ours, journal, log, own_tag)


def truncate_log(log: Path) -> None:
    """Empty a log that has become too large; only its end would be quoted."""
    with suppress(OSError):
        if log.stat().st_size > MAX_LOG_BYTES:
            os.truncate(log, 0)
