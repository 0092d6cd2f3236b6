"""Everything a run has started, found and ended, however it tries to get away.

Programs start programs, and some of those leave their process group, their session and their
parent. On Linux a worker is a child subreaper: whatever loses its parent below it becomes its own
child, and is found there. Everywhere, the environment of a worker carries a mark that what it
starts inherits; where there is no subreaper, or the worker has died, the mark is what is looked
for. A process that has left its parent and cleared its environment is then not found.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import secrets
import sys
import time
from collections.abc import Callable, Iterable

import psutil

MARK = "POLARBEAR_RUN"  # an environment variable; marks of races within races are joined by colons
PATIENCE = 30.0  # seconds to wait for the killed to be gone, which a busy machine may need
_PR_SET_CHILD_SUBREAPER = 36


def new_mark() -> str:
    return secrets.token_hex(8)


def marked_environment(mark: str) -> dict[str, str]:
    """The variable that what is started now shall inherit."""
    return {MARK: ":".join(filter(None, (os.environ.get(MARK), mark)))}


def adopt_orphans() -> bool:
    """Become the parent of whatever loses its own below this process; False where that is not so.

    Linux can do it, macOS cannot.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        return bool(prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def has_children() -> bool:
    """Whether this process may have any: one call of the system, where it has that."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    except (AttributeError, OSError):
        return True
    return True


def known(pid: int) -> psutil.Process | None:
    """A process as it can be told from another that has its number later; None if it is gone."""
    try:
        return psutil.Process(pid)
    except psutil.Error:
        return None


def end_descendants(process: psutil.Process | None = None) -> int:
    """Kill all that a process has started, and all that those have; how many there were.

    Without one, it is this process whose descendants are meant.
    """
    return _end(lambda: descendants(process or psutil.Process()))


def end_marked(mark: str) -> int:
    """Kill every process that carries a mark but this one, and all below them; how many."""

    def found() -> list[psutil.Process]:
        marked = [process for process in psutil.process_iter() if _carries(process, mark)]
        return [*marked, *(below for process in marked for below in descendants(process))]

    return _end(found)


def end_worker(worker: psutil.Process) -> None:
    """Kill a worker after everything below it, which it would otherwise lose to somebody else."""
    try:
        worker.suspend()  # lest it start something new meanwhile; it still adopts orphans
        end_descendants(worker)
        worker.kill()
    except psutil.Error:
        return


def end_known(processes: Iterable[psutil.Process]) -> None:
    """Kill processes that were seen before, those that are still the same."""
    for process in processes:
        try:
            if process.is_running():
                process.kill()
        except psutil.Error:
            continue


def _end(found: Callable[[], list[psutil.Process]]) -> int:
    seen: set[psutil.Process] = set()
    deadline = time.monotonic() + PATIENCE
    while True:
        alive = [process for process in found() if _is_alive(process)]
        if not alive or time.monotonic() > deadline:
            return len(seen)
        for process in alive:
            seen.add(process)
            try:
                process.kill()
            except psutil.Error:
                continue
        _reap(alive)
        time.sleep(0.001)  # lest looking for the dying keep them from it


def descendants(process: psutil.Process) -> list[psutil.Process]:
    """What a process has started, and what those have, as far as it has kept a parent."""
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def _is_alive(process: psutil.Process) -> bool:
    """Whether it still runs; one that is dead and ours is buried."""
    try:
        if process.status() != psutil.STATUS_ZOMBIE:
            return process.pid != os.getpid()
    except psutil.Error:
        return False
    _reap([process])
    return False


def _reap(processes: Iterable[psutil.Process]) -> None:
    """Bury the dead among them that are children of this process; others have other parents.

    Those of multiprocessing are left to it, which buries its dead when asked who is alive. Buried
    behind its back they would be alive to it for ever, and it would one day send a signal to
    whoever has their number by then.
    """
    others = {child.pid for child in multiprocessing.active_children()}
    for process in processes:
        if process.pid in others:
            continue
        try:
            os.waitpid(process.pid, os.WNOHANG)
        except (ChildProcessError, OSError):
            continue


def _carries(process: psutil.Process, mark: str) -> bool:
    try:
        return process.pid != os.getpid() and mark in process.environ().get(MARK, "").split(":")
    except (psutil.Error, OSError, ValueError):
        return False
