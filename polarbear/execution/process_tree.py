"""Finds and kills every process that a run has started.

Programs start programs, and some of those leave their process group, session and parent. On Linux
a worker is a child subreaper: an orphan below it becomes its child and is found there. On all
systems the environment of a worker contains a tag, which its descendants inherit. The tag is used
where there is no subreaper, or after the worker has died. A process that has left its parent and
cleared its environment is then not found.
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

TAG_VARIABLE = "POLARBEAR_RUN"  # tags of nested races are joined by colons
MAX_KILL_SECONDS = 30.0  # a busy machine may need that long to remove killed processes
_PR_SET_CHILD_SUBREAPER = 36


def new_tag() -> str:
    return secrets.token_hex(8)


def tagged_environment(tag: str) -> dict[str, str]:
    """The environment variable that descendants shall inherit."""
    return {TAG_VARIABLE: ":".join(filter(None, (os.environ.get(TAG_VARIABLE), tag)))}


def become_subreaper() -> bool:
    """Become the parent of orphans below this process; return False where that is impossible."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        return bool(prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def has_children() -> bool:
    """Return whether this process may have children, by one system call where that exists."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    except (AttributeError, OSError):
        return True
    return True


def find_process(pid: int) -> psutil.Process | None:
    """Identify a process by more than its number, which is reused later; None if it is gone."""
    try:
        return psutil.Process(pid)
    except psutil.Error:
        return None


def descendants(process: psutil.Process) -> list[psutil.Process]:
    """Children of a process, and theirs, as far as they have kept their parent."""
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def memory_of(processes: Iterable[psutil.Process]) -> int:
    """Bytes of resident memory of the processes that still exist."""
    used = 0
    for process in processes:
        try:
            used += process.memory_info().rss if process.is_running() else 0
        except psutil.Error:
            continue
    return used


def kill_descendants(process: psutil.Process | None = None) -> int:
    """Kill all descendants of a process, by default of this one; return how many there were."""
    return _kill_all(lambda: descendants(process or psutil.Process()))


def kill_tagged(tag: str) -> int:
    """Kill all other processes with a tag, and their descendants; return how many there were."""

    def find() -> list[psutil.Process]:
        tagged = [process for process in psutil.process_iter() if _has_tag(process, tag)]
        return [*tagged, *(below for process in tagged for below in descendants(process))]

    return _kill_all(find)


def kill_worker(worker: psutil.Process) -> None:
    """Kill a worker after its descendants, which would otherwise lose their parent."""
    try:
        worker.suspend()  # it can start nothing new, and still adopts orphans
        kill_descendants(worker)
        worker.kill()
    except psutil.Error:
        return


def kill(processes: Iterable[psutil.Process]) -> None:
    """Kill processes that were identified earlier and still run."""
    for process in processes:
        try:
            if process.is_running():
                process.kill()
        except psutil.Error:
            continue


def _kill_all(find: Callable[[], list[psutil.Process]]) -> int:
    """Kill until nothing is found any more: what is being killed may start more."""
    seen: set[psutil.Process] = set()
    deadline = time.monotonic() + MAX_KILL_SECONDS
    while True:
        alive = [process for process in find() if _is_alive(process)]
        if not alive or time.monotonic() > deadline:
            return len(seen)
        seen.update(alive)
        kill(alive)
        _reap(alive)
        time.sleep(0.001)


def _is_alive(process: psutil.Process) -> bool:
    """Return whether another process still runs; reap it if it is a dead child of this one."""
    try:
        if process.status() != psutil.STATUS_ZOMBIE:
            return process.pid != os.getpid()
    except psutil.Error:
        return False
    _reap([process])
    return False


def _reap(processes: Iterable[psutil.Process]) -> None:
    """Reap dead children of this process, except those of multiprocessing.

    It reaps its children itself. Otherwise it would take them for alive, and could later send a
    signal to an unrelated process with the same number.
    """
    managed = {child.pid for child in multiprocessing.active_children()}
    for process in processes:
        if process.pid in managed:
            continue
        try:
            os.waitpid(process.pid, os.WNOHANG)
        except (ChildProcessError, OSError):
            continue


def _has_tag(process: psutil.Process, tag: str) -> bool:
    try:
        tags = process.environ().get(TAG_VARIABLE, "").split(":")
        return process.pid != os.getpid() and tag in tags
    except (psutil.Error, OSError, ValueError):
        return False
