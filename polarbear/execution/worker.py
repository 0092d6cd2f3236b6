"""The main function of a worker process, which executes one run after the other."""

import faulthandler
import io
import os
import signal
import sys
import tempfile
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from polarbear.execution import process_tree
from polarbear.execution.journal import Journal
from polarbear.execution.outcome import shorten
from polarbear.problems.base import Setting, Suite

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


def serve(
    connection: Connection,
    journal_path: Path,
    log_path: Path,
    suite: Suite,
    setting: Setting,
    tag: str,
    name: str,
) -> None:
    """Receive tasks and send outcomes until the connection ends."""
    from polarbear.execution.run import Problems, execute  # which the pool's process never needs

    # The parent handles interrupts. A handler, because programs started by a run would inherit
    # that the signal is ignored.
    for number in INTERRUPTS:
        signal.signal(number, lambda number, frame: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTS)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    is_subreaper = process_tree.become_subreaper()
    tempfile.tempdir = str(journal_path.parent)  # which the pool removes in any case
    log = _capture_output(log_path)
    if setting.folder not in sys.path:
        sys.path.insert(0, setting.folder)
    journal = Journal(journal_path)
    problems = Problems(suite, setting)
    connection.send(None)  # ready
    while True:
        try:
            task = connection.recv()
        except EOFError:
            return
        outcome = execute(task, problems, journal.add, lambda: log_tail(log_path), name)
        if process_tree.has_children():
            leftovers = process_tree.kill_descendants()
        else:
            leftovers = 0 if is_subreaper else process_tree.kill_tagged(tag)
        if leftovers:
            problems.forget()  # the kept problem may have lost a process that it needs
        # Before the outcome is sent: the next run may be killed before it writes anything.
        journal.truncate(0)
        os.ftruncate(log, 0)
        connection.send(outcome)


def log_tail(path: Path, lines: int = 12) -> str:
    """The last lines that a run printed, shortened."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 8192))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    return shorten("\n".join(text.strip().splitlines()[-lines:]), 1000)


def _capture_output(path: Path) -> int:
    """Write all output of runs into a file: standard output is for results."""
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.stdout = sys.stderr = log_stream(1)
    faulthandler.enable(file=2)
    return log


def log_stream(handle: int) -> io.TextIOWrapper:
    """A text stream that drops output instead of failing on a full disk."""
    raw = io.BufferedWriter(_TolerantFile(handle, "w", closefd=False))
    return io.TextIOWrapper(raw, "utf-8", errors="backslashreplace", line_buffering=True)


class _TolerantFile(io.FileIO):
    def write(self, data: Any) -> int:
        with suppress(OSError):
            super().write(data)
        return len(memoryview(data).cast("B"))
