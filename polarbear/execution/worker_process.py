"""A worker process as its pool sees it: started, given a task, measured, and stopped."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Self

import psutil

from polarbear.errors import PolarBearError
from polarbear.execution import process_tree
from polarbear.execution.outcome import Outcome, Task
from polarbear.problems.base import Setting, Suite

WORKER_MODULE = "polarbear.execution.worker"
INTERRUPTS = (signal.SIGINT, signal.SIGHUP)  # they reach all processes of a terminal
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "POLARS_MAX_THREADS",
    "RAYON_NUM_THREADS",
)
# Programs started by a run are searched for in every fourth measurement of memory.
CHILDREN_INTERVAL = 4
MAX_LOG_BYTES = 64 * 2**20  # of the output of a run; more could fill the disk


@dataclass(frozen=True)
class WorkerSetup:
    """The settings that a worker process receives before its first task."""

    name: str
    tag: str  # which its descendants inherit in their environment
    journal: Path
    log: Path
    suite: Suite
    setting: Setting
    import_path: tuple[str, ...]
    python_path: str | None  # the variable PYTHONPATH of the process that has the pool


def import_path() -> tuple[str, ...]:
    """The folders from which this process imports modules, none relative to the working folder."""
    return tuple(os.path.abspath(folder) for folder in sys.path)  # noqa: PTH100 - they are texts


@dataclass
class WorkerProcess:
    """One worker process, the task assigned to it, and the files it writes."""

    setup: WorkerSetup
    process: subprocess.Popen[bytes]
    identity: psutil.Process | None
    connection: Connection
    children: list[psutil.Process] = field(default_factory=list)  # at the last measurement
    task: Task | None = None
    is_ready: bool = False
    has_begun: bool = False  # the task was sent
    since: float = field(default_factory=time.monotonic)  # when it or its task was started
    measurements: int = 0

    @classmethod
    def start(cls, setup: WorkerSetup, variables: Mapping[str, str]) -> Self:
        """Start a process with these environment variables in addition to those of this process.

        It is a new interpreter, not a fork: C++ extensions and threads do not survive a fork.
        """
        message = pickle.dumps(setup)
        connection, other_end = multiprocessing.Pipe()
        handle = other_end.fileno()
        # Folders are not searched before those of this process (-P), which the variable names.
        command = [sys.executable, "-P", "-m", WORKER_MODULE, str(handle)]
        python_path = os.pathsep.join(setup.import_path)
        environment = {**os.environ, **variables, "PYTHONPATH": python_path}
        try:
            # Opened for appending: after the file was truncated, output begins at its start.
            with other_end, setup.log.open("ab") as log, blocked_interrupts():
                process = subprocess.Popen(
                    command,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    pass_fds=[handle],
                )
                identity = None
                with suppress(psutil.Error):  # before its number can be reused
                    identity = psutil.Process(process.pid)
        except OSError as error:
            connection.close()
            raise PolarBearError(
                f"a worker process could not be started: {error.strerror}; free some memory, "
                "or use fewer workers"
            ) from None
        with suppress(OSError):  # the process is dead, as the end of the connection will show
            connection.send_bytes(message)
        return cls(setup, process, identity, connection)

    @property
    def seconds(self) -> float:
        """Seconds since the task was sent or, before that, since the process was started."""
        return time.monotonic() - self.since

    def assign(self, task: Task) -> None:
        """Give it a task, which is sent as soon as the process is ready."""
        self.task = task
        self.has_begun = False
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
        self.since = time.monotonic()
        self.measurements = 0

    def measure_memory(self) -> int:
        """Bytes used by the process and its children; empties its log if that is too large."""
        self.measurements += 1
        with suppress(OSError):
            if self.setup.log.stat().st_size > MAX_LOG_BYTES:
                os.truncate(self.setup.log, 0)  # only its end would be quoted
        if self.identity is None:
            return 0
        if self.measurements % CHILDREN_INTERVAL == 0:
            self.children = process_tree.descendants(self.identity)
        used_bytes = 0
        for process in (self.identity, *self.children):
            with suppress(psutil.Error):
                if process.is_running():
                    used_bytes += process.memory_info().rss
        return used_bytes

    def is_dead_within(self, seconds: float) -> bool:
        """Wait for the end of the process, at most for some seconds."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        return self.process.poll() is not None

    def stop(self) -> Outcome | None:
        """Kill the process and all its runs have started; return an outcome sent before that."""
        has_died = self.process.poll() is not None
        if self.identity is not None:
            process_tree.kill_worker(self.identity)
        self.process.wait()
        if has_died:
            process_tree.kill(self.children)
            process_tree.kill_tagged(self.setup.tag)
        outcome: Outcome | None = None
        with suppress(EOFError, OSError):
            while self.connection.poll():
                outcome = self.connection.recv() or outcome
        self.connection.close()
        return outcome


@contextmanager
def blocked_interrupts() -> Iterator[None]:
    """Block interrupts, which reach the whole process group, while a worker starts.

    They are blocked, not ignored: this process receives them afterwards, and the worker unblocks
    them once its handler is set.
    """
    previous_mask = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous_mask)
