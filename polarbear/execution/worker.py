"""The program of a worker process, which executes one run after the other.

A pool starts it as ``python -m polarbear.execution.worker HANDLE``, where HANDLE is the number of
an open socket. It receives a `WorkerSetup`, then one task after the other, and answers each task
with its outcome. Such a process knows nothing of the script that started the race: no module of
the parent is imported again, and user code comes from files.
"""

import faulthandler
import os
import signal
import sys
import tempfile
from multiprocessing.connection import Connection

from polarbear.execution import process_tree
from polarbear.execution.journal import Journal
from polarbear.execution.run import Problems, execute
from polarbear.execution.worker_log import log_stream, log_tail
from polarbear.execution.worker_process import INTERRUPTS, WorkerSetup

STANDARD_OUTPUT = 1
STANDARD_ERROR = 2


def main() -> None:
    """Serve the pool at the other end of the socket that the command line names."""
    handle = int(sys.argv[1])
    os.set_inheritable(handle, False)  # the pool shall notice the end of this process at once
    _handle_signals()
    connection = Connection(handle)
    try:
        setup: WorkerSetup = connection.recv()
        serve(connection, setup)
    except EOFError:  # the pool has closed its end
        return


def serve(connection: Connection, setup: WorkerSetup) -> None:
    """Receive tasks and send outcomes until the connection ends, which raises EOFError."""
    _restore_import_path(setup)
    _write_output_to_log()
    tempfile.tempdir = str(setup.journal.parent)  # which the pool removes in any case
    is_subreaper = process_tree.become_subreaper()
    journal = Journal(setup.journal)
    problems = Problems(setup.suite, setup.setting)
    connection.send(None)  # ready
    while True:
        task = connection.recv()
        outcome = execute(
            task,
            problems,
            journal.add,
            lambda: log_tail(setup.log),
            worker=setup.name,
            catches_interrupts=True,
        )
        if process_tree.has_children():
            n_killed = process_tree.kill_descendants()
        elif is_subreaper:
            n_killed = 0
        else:
            n_killed = process_tree.kill_tagged(setup.tag)
        if n_killed:
            problems.forget()  # the kept problem may have lost a process that it needs
        # Before the outcome is sent: the next run may be killed before it writes anything.
        journal.truncate(0)
        os.ftruncate(STANDARD_OUTPUT, 0)
        connection.send(outcome)


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
    """Import modules from where the parent does; programs of a run get the user's PYTHONPATH."""
    sys.path[:] = setup.import_path
    if setup.python_path is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = setup.python_path
    if setup.setting.folder not in sys.path:
        sys.path.insert(0, setup.setting.folder)


def _write_output_to_log() -> None:
    """Write what runs print into the log, which the pool has opened as standard output."""
    sys.stdout = log_stream(STANDARD_OUTPUT)
    sys.stderr = sys.stdout
    faulthandler.enable(file=STANDARD_ERROR)


if __name__ == "__main__":
    main()
