"""The program of a worker, which lets one run after the other be executed.

A pool starts it as ``python -m polarbear.execution.worker HANDLE``, where HANDLE is the number of
an open socket. It receives a `WorkerSetup`, then one run after the other, and reports the end of
each. Such a process knows nothing of the script that started the race: no module of the parent is
imported again, and user code comes from files.

The worker itself executes no run. It forks processes that do (`run_process`), which takes a few
milliseconds, since it has a single thread and has loaded what runs need. A process in which code of
the user was executed serves one algorithm only; one that a run has changed serves none any more.
"""

import faulthandler
import gc
import os
import pickle
import select
import signal
import sys
import tempfile
from collections import OrderedDict
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection

# Loaded for the processes that are forked, which would load it one by one.
import polarbear.algorithms.python
import polarbear.problems.python  # noqa: F401
from polarbear.execution import process_tree
from polarbear.execution.host import cpu_model
from polarbear.execution.messages import (
    UNREADABLE,
    Assignment,
    RunEnd,
    UnreadableError,
    WorkerSetup,
    leaves_unchanged,
)
from polarbear.execution.outcome import Status
from polarbear.execution.run import Problems
from polarbear.execution.run_process import WITHOUT_CHANNEL, RunProcess
from polarbear.execution.worker_log import log_stream
from polarbear.execution.worker_process import INTERRUPTS, status_of_death

STANDARD_OUTPUT = 1
STANDARD_ERROR = 2
MAX_WARM = 2  # processes that are kept, each for another algorithm
LOOK_MILLISECONDS = 100  # between looks at a process where its end cannot be waited for
MAX_DYING_SECONDS = 1.0  # between the end of a process's channel and its own
CLOSED = "it closed the file descriptors of its process"


class PoolGoneError(Exception):
    """The pool has closed its end, so nobody waits for the run any more."""


class Worker:
    """Serves the pool at the other end of a connection."""

    def __init__(self, connection: Connection, setup: WorkerSetup) -> None:
        self._connection = connection
        self._setup = setup
        self._warm: OrderedDict[str, RunProcess] = OrderedDict()  # the last used one is the last
        self._problems = _preloaded(setup)
        self._is_subreaper = process_tree.become_subreaper()

    def serve(self) -> None:
        """Receive runs and report their ends until the connection ends, which raises EOFError."""
        gc.collect()
        gc.freeze()  # what is not collected is not copied in forked processes
        self._connection.send(None)  # ready
        while True:
            assignment: Assignment = self._connection.recv()
            self._connection.send_bytes(pickle.dumps(self._executed(assignment)))

    def close(self) -> None:
        """End all processes."""
        for process in self._warm.values():
            process.end()
        self._warm.clear()

    def _executed(self, assignment: Assignment) -> RunEnd:
        """Let a run be executed, and end its process unless that can serve another one."""
        process = self._warm.pop(assignment.process_key, None)
        if process is not None and not self._sent(process, assignment.task):
            process.end()
            process = None
        if process is None:
            process = RunProcess.fork(self._setup, self._problems, self._descriptors())
            self._sent(process, assignment.task)
        end = self._end_of(process)
        if leaves_unchanged(end.outcome) and not assignment.is_alone:
            self._warm[assignment.process_key] = process
            if len(self._warm) > MAX_WARM:
                _, longest_unused = self._warm.popitem(last=False)
                longest_unused.end()
        else:
            process.end()
        self._kill_orphans()
        return replace(end, warm={key: kept.pid for key, kept in self._warm.items()})

    def _sent(self, process: RunProcess, task: bytes) -> bool:
        """Send a task; return False if the process has died."""
        try:
            process.channel.send(task)
        except OSError:
            return False
        return True

    def _descriptors(self) -> list[int]:
        """The open files that a forked process shall not keep."""
        descriptors = [self._connection.fileno()]
        for process in self._warm.values():
            descriptors += process.descriptors()
        return descriptors

    def _end_of(self, process: RunProcess) -> RunEnd:
        """Wait for the end of a run, or of its process."""
        channel = process.channel.fileno()
        pool = self._connection.fileno()
        sentinels = [] if process.sentinel is None else [process.sentinel]
        timeout = LOOK_MILLISECONDS if process.sentinel is None else None
        poll = select.poll()
        for descriptor in (channel, pool, *sentinels):
            poll.register(descriptor, select.POLLIN)
        while True:
            ready = [descriptor for descriptor, _ in poll.poll(timeout)]
            if pool in ready:
                process.end()
                raise PoolGoneError
            if channel in ready:
                try:
                    message = process.channel.receive_part()
                    if message is not None:
                        return RunEnd(message)
                    continue
                except UnreadableError:
                    return RunEnd(status=Status.KILLED, message=UNREADABLE)
                except (EOFError, OSError):
                    exit_code = process.wait(MAX_DYING_SECONDS)
                    if exit_code is None or exit_code == WITHOUT_CHANNEL:
                        return RunEnd(status=Status.CRASHED, message=CLOSED)
                    return _death(exit_code)
            exit_code = process.wait(0.0)
            if exit_code is not None:
                return _death(exit_code)

    def _kill_orphans(self) -> None:
        """Kill what a run has left behind outside of its process."""
        own = {process.pid for process in self._warm.values()}
        if self._is_subreaper:
            process_tree.kill_children_except(own)
        else:
            process_tree.kill_tagged(self._setup.tag, own)


def _death(exit_code: int) -> RunEnd:
    """The end of a run whose process died."""
    status = status_of_death(exit_code)
    return RunEnd(status=status, message=f"its process died (exit code {exit_code})")


def _preloaded(setup: WorkerSetup) -> Problems | None:
    """The problems, with their packages loaded; None if that would execute code of the user.

    All processes inherit what is loaded here.
    """
    cpu_model()  # which is kept from now on
    if setup.has_user_problems:
        return None
    problems = Problems(*pickle.loads(setup.problems))
    with suppress(Exception):  # a run says why a problem cannot be built
        instance = problems.suite.instance(0, problems.setting)
        problem = problems.get(instance)
        problem.evaluate((problem.lower + problem.upper) / 2)
    return problems


def main() -> None:
    """Serve the pool at the other end of the socket that the command line names."""
    handle = int(sys.argv[1])
    os.set_inheritable(handle, False)
    _handle_signals()
    connection = Connection(handle)
    try:
        setup: WorkerSetup = connection.recv()
        _restore_import_path(setup)
        _write_output_to_log()
        tempfile.tempdir = str(setup.journal.parent)  # which the pool removes in any case
        worker = Worker(connection, setup)
    except EOFError:  # the pool has closed its end
        return
    try:
        worker.serve()
    except (EOFError, OSError, PoolGoneError):
        return
    finally:
        worker.close()


def _handle_signals() -> None:
    """Leave interrupts to the parent process.

    They get a handler instead of being ignored, because programs that a run starts would inherit
    that a signal is ignored.
    """
    for number in INTERRUPTS:
        signal.signal(number, lambda number, frame: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTS)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _restore_import_path(setup: WorkerSetup) -> None:
    """Import modules from where the parent does."""
    sys.path[:] = [*setup.import_path, str(setup.modules)]
    if setup.folder not in sys.path:
        sys.path.insert(0, setup.folder)


def _write_output_to_log() -> None:
    """Write what runs print into the log, which the pool has opened as standard output."""
    sys.stdout = log_stream(STANDARD_OUTPUT)
    sys.stderr = sys.stdout
    faulthandler.enable(file=STANDARD_ERROR)


if __name__ == "__main__":
    main()
