"""The process that executes runs, one after the other, for as long as its parent lives."""

from __future__ import annotations

import faulthandler
import io
import os
import shutil
import signal
import sys
import tempfile
import threading
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from polarbear.execution import families
from polarbear.execution.recorder import Journal
from polarbear.execution.run import Problems, execute, shortened
from polarbear.problems.base import Setting, Suite

YIELDING = 5  # how much nicer than this process workers are who let it go first
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
    mark: str,
    name: str,
    nicer: int = 0,
) -> None:
    """Receive tasks, send outcomes; an end of file means that there is nothing more to do."""
    # The parent decides what an interrupt means. A handler, since programs that a run starts would
    # inherit that it is ignored.
    for number in INTERRUPTS:
        signal.signal(number, lambda number, frame: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTS)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.nice(nicer)
    adopts = families.adopt_orphans()
    tempfile.tempdir = str(journal_path.parent)  # the pool clears it away, whatever happens here
    threading.Thread(target=_die_with_parent, args=(journal_path.parent,), daemon=True).start()
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
        outcome = execute(task, problems, journal.write, lambda: log_tail(log_path), name)
        if _end_what_was_started(adopts, mark):
            problems.forget()  # the one that is kept may have lost what it needs
        # Before anybody hears of it: a run that is killed before it begins has nothing of this one.
        journal.restart()
        os.ftruncate(log, 0)
        connection.send(outcome)


def log_tail(path: Path, lines: int = 12) -> str:
    """The last lines a run printed, as far as they are worth quoting."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 8192))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    return shortened("\n".join(text.strip().splitlines()[-lines:]), 1000)


def _end_what_was_started(adopts: bool, mark: str) -> int:
    """Kill what a run has left behind; how many processes that were."""
    if families.has_children():
        return families.end_descendants()
    return 0 if adopts else families.end_marked(mark)


def _die_with_parent(scratch: Path) -> None:
    """A parent killed the hard way cannot tell its workers, so they watch for it."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        families.end_descendants()
        shutil.rmtree(scratch, ignore_errors=True)
        os.kill(os.getpid(), signal.SIGKILL)


def _capture_output(path: Path) -> int:
    """Standard output belongs to results; what a solver prints is kept aside, to be quoted."""
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.stdout, sys.stderr = _unfailing(1), _unfailing(2)
    faulthandler.enable(file=2)
    return log


def _unfailing(handle: int) -> io.TextIOWrapper:
    """A stream for printing; on a full disk what is printed is lost, and the run goes on."""
    return io.TextIOWrapper(
        io.BufferedWriter(_Unfailing(handle, "w", closefd=False)),
        encoding="utf-8",
        errors="backslashreplace",
        line_buffering=True,
    )


class _Unfailing(io.FileIO):
    def write(self, data: Any) -> int:
        try:
            return super().write(data) or 0
        except OSError:
            return len(memoryview(data).cast("B"))
