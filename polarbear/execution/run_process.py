"""The process that executes runs, one after the other, forked from a worker.

Only such a process executes code of the user. It holds nothing but its own end of a channel to the
worker and the journal, and neither of them reaches the processes that a run forks.
"""

import fcntl
import os
import pickle
import socket
import sys
import time
import traceback
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NoReturn, Self

import psutil

from polarbear.execution import process_tree
from polarbear.execution.journal import Journal
from polarbear.execution.messages import Channel, WorkerSetup, encode
from polarbear.execution.outcome import Outcome, Status, Task
from polarbear.execution.process_state import State, changes, process_state
from polarbear.execution.run import Problems, crash_message, execute
from polarbear.execution.worker_log import log_tail
from polarbear.settings.user_code import write_importable_modules

FIRST_DESCRIPTOR = 100  # of ours: far from those that code may close or write to by mistake
WITHOUT_CHANNEL = 87  # the exit code of a process whose run has closed its channel


@dataclass
class RunProcess:
    """A forked process as its worker sees it."""

    pid: int
    channel: Channel
    sentinel: int | None  # readable once the process has ended; None where there is no such thing
    identity: psutil.Process
    has_ended: bool = False

    @classmethod
    def fork(cls, setup: WorkerSetup, problems: Problems | None, unrelated: Iterable[int]) -> Self:
        """Fork a process; it closes its copies of ``unrelated`` file descriptors."""
        end, other_end = socket.socketpair()
        secret = os.urandom(16)
        worker_pid = os.getpid()
        pid = os.fork()
        if pid == 0:
            try:
                end.close()
                for descriptor in unrelated:
                    os.close(descriptor)
                _serve_runs(other_end, secret, setup, problems, worker_pid)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(1)
        other_end.close()
        sentinel = None
        if hasattr(os, "pidfd_open"):
            with suppress(OSError):
                sentinel = os.pidfd_open(pid)
        return cls(pid, Channel(end, secret), sentinel, psutil.Process(pid))

    def descriptors(self) -> list[int]:
        """The numbers of open files that belong to the worker's side of this process."""
        channel = self.channel.fileno()
        return [channel] if self.sentinel is None else [channel, self.sentinel]

    def wait(self, seconds: float) -> int | None:
        """The exit code of the process, negative for a signal; None if it still runs then."""
        deadline = time.monotonic() + seconds
        while True:
            with suppress(ChildProcessError):
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                if pid:
                    self.has_ended = True
                    return os.waitstatus_to_exitcode(status)
            if time.monotonic() >= deadline:
                return None
            time.sleep(0.001)

    def end(self) -> None:
        """Kill the process and all that it has started, and close the channel."""
        if not self.has_ended:
            process_tree.kill_worker(self.identity)
            with suppress(ChildProcessError):
                os.waitpid(self.pid, 0)
            self.has_ended = True
        self.channel.close()
        if self.sentinel is not None:
            os.close(self.sentinel)
            self.sentinel = None


class Runner:
    """Executes runs in the forked process."""

    def __init__(self, setup: WorkerSetup, problems: Problems | None, journal: Journal) -> None:
        self._setup = setup
        self._problems = problems
        self._journal = journal
        self._state: State = {}
        self._n_modules = 0

    def execute(self, message: bytes) -> tuple[Outcome, bool]:
        """Execute a pickled task; return its outcome, and whether this process is unchanged."""
        task: Task = pickle.loads(message)
        problems = self._problems
        if problems is None:
            problems = Problems(*pickle.loads(self._setup.problems))
            self._problems = problems
        outcome = execute(
            task,
            problems,
            self._journal.add,
            self._log_tail,
            worker=self._setup.name,
            catches_interrupts=True,
            on_begin=self._note_state,
        )
        return outcome, self._is_unchanged()

    def _log_tail(self) -> str:
        return log_tail(self._setup.log)

    def _note_state(self) -> None:
        """Note the state before the run; what packages change when they load is part of it."""
        if len(sys.modules) != self._n_modules:
            with suppress(OSError):  # only processes that a run starts anew need it
                write_importable_modules(self._setup.modules)
            self._state = process_state()

    def _is_unchanged(self) -> bool:
        """Whether the run has changed nothing in this process that another run would meet."""
        if not self._state or changes(self._state):
            return False
        self._n_modules = len(sys.modules)
        return True


def _serve_runs(
    end: socket.socket,
    secret: bytes,
    setup: WorkerSetup,
    problems: Problems | None,
    worker_pid: int,
) -> NoReturn:
    """Receive tasks and send outcomes until the worker ends; the main function of the process."""
    os.setsid()  # signals to the group of a run reach neither the worker nor the race
    process_tree.die_with_parent(worker_pid)
    process_tree.become_subreaper()
    _set_variables(setup)
    channel = Channel(_out_of_reach(end), secret)
    journal = Journal(setup.journal, FIRST_DESCRIPTOR)
    pid = os.getpid()

    def leave_to_parent() -> None:
        """Let a forked child keep neither the channel nor the journal."""
        channel.close()
        journal.detach_file()

    os.register_at_fork(after_in_child=leave_to_parent)
    runner = Runner(setup, problems, journal)
    while True:
        try:
            message = channel.receive()
        except (EOFError, OSError):
            os._exit(0)  # the worker has ended
        try:
            outcome, is_unchanged = runner.execute(message)
            answer = encode(outcome, is_unchanged)
        except BaseException as error:
            answer = encode(_failed(error, setup), is_unchanged=False)
        if os.getpid() != pid:
            os._exit(0)  # a child that the run has forked, and that came back from it
        try:
            channel.send(answer)
        except OSError:
            os._exit(WITHOUT_CHANNEL)


def _failed(error: BaseException, setup: WorkerSetup) -> Outcome:
    """The outcome of a run whose code could not be loaded or which broke this process."""
    import numpy as np

    from polarbear.execution.host import here

    message = crash_message(error, log_tail(setup.log))
    nothing = np.empty(0)
    no_task: Task = None  # type: ignore[assignment]  # the worker knows the task
    outcome = Outcome(no_task, Status.CRASHED, message, nothing, nothing)
    return replace(outcome, started=time.time(), where=here(setup.name))


def _set_variables(setup: WorkerSetup) -> None:
    """Give runs the environment of the user instead of that of the worker."""
    for name, value in setup.variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _out_of_reach(end: socket.socket) -> socket.socket:
    """The same socket under another number, which no program that a run starts receives."""
    number = fcntl.fcntl(end.fileno(), fcntl.F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR)
    end.close()
    return socket.socket(fileno=number)
