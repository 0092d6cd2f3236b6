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
from typing import Self

import psutil

from polarbear.errors import PolarBearError
from polarbear.execution import process_tree
from polarbear.execution.messages import Assignment, RunEnd, WorkerSetup
from polarbear.execution.outcome import Status, Task

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
# The processes of a run are searched for in every fourth measurement of memory.
CHILDREN_INTERVAL = 4
MAX_LOG_BYTES = 64 * 2**20  # of the output of a run; more could fill the disk


def import_path() -> tuple[str, ...]:
    """The folders from which this process imports modules, none relative to the working folder."""
    return tuple(os.path.abspath(folder) for folder in sys.path)  # noqa: PTH100 - they are texts


def status_of_death(exit_code: int) -> Status:
    """The status of a run whose process, or worker, died with this exit code."""
    from polarbear.algorithms.program import killed_from_outside  # few races need it

    return Status.LOST if killed_from_outside(exit_code) else Status.KILLED


@dataclass
class WorkerProcess:
    """One worker, the task assigned to it, and the files that its processes write."""

    setup: WorkerSetup
    process: subprocess.Popen[bytes]
    identity: psutil.Process | None
    connection: Connection
    children: list[psutil.Process] = field(default_factory=list)  # at the last measurement
    warm: Mapping[str, int] = field(default_factory=dict)  # idle processes by their keys
    task: Task | None = None
    process_key: str = ""  # of the task
    is_alone: bool = False  # the process of the task serves no other one
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

    def serves(self, process_key: str) -> bool:
        """Whether it has a process for runs with this key, or receives one now."""
        is_forked_now = self.task is not None and self.process_key == process_key
        return is_forked_now or process_key in self.warm

    def assign(self, task: Task, process_key: str, is_alone: bool) -> None:
        """Give it a task, which is sent as soon as the worker is ready."""
        self.task = task
        self.process_key = process_key
        self.is_alone = is_alone
        self.has_begun = False
        if self.is_ready:
            self._send()

    def receive(self) -> RunEnd | None:
        """Receive the end of the task's run, or None if the worker is ready now."""
        end: RunEnd | None = self.connection.recv()
        if end is not None:
            self.warm = end.warm
            return end
        self.is_ready = True
        if self.task is not None:
            self._send()
        return None

    def _send(self) -> None:
        # Emptied here, where no earlier run can write any more, and the new one not yet.
        for file in (self.setup.journal, self.setup.log):
            with suppress(OSError):
                os.truncate(file, 0)
        assignment = Assignment(pickle.dumps(self.task), self.process_key, self.is_alone)
        with suppress(OSError):  # the worker is dead, as the end of the connection will show
            self.connection.send_bytes(pickle.dumps(assignment))
            self.has_begun = True
        self.since = time.monotonic()
        self.measurements = 0

    def measure_memory(self, limit: float) -> int:
        """Bytes used by the processes of the run; empties the log if that is too large."""
        self.measurements += 1
        with suppress(OSError):
            if self.setup.log.stat().st_size > MAX_LOG_BYTES:
                os.truncate(self.setup.log, 0)  # only its end would be quoted
        if self.identity is None:
            return 0
        if self.measurements % CHILDREN_INTERVAL == 1:
            idle = {pid for key, pid in self.warm.items() if key != self.process_key}
            descendants = process_tree.descendants(self.identity)
            self.children = [process for process in descendants if process.pid not in idle]
        return process_tree.memory_of(self.children, at_least=limit)

    def stop(self) -> RunEnd | None:
        """Kill the worker and all processes below it; return the end of a run before that."""
        has_died = self.process.poll() is not None
        if self.identity is not None:
            process_tree.kill_worker(self.identity)
        self.process.wait()
        if has_died:
            process_tree.kill(self.children)
            process_tree.kill_tagged(self.setup.tag)
        end: RunEnd | None = None
        with suppress(EOFError, OSError):
            while self.connection.poll():
                end = self.connection.recv() or end
        self.connection.close()
        return end


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
