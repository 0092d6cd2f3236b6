"""Finds and kills every process that a run has started, even if the race is killed.

Programs start programs, and some of those leave their process group, session and parent. On Linux
a worker is a child subreaper: an orphan below it becomes its child and is found there. On all
systems the environment of a worker contains a tag, which its descendants inherit. The tag is used
where there is no subreaper, or after the worker has died. A process that has left its parent and
cleared its environment is then not found.

A watchdog process is started with the read end of a pipe whose other end the race holds. When the
pipe closes, the race has ended: the watchdog kills every process with the race's tag and removes
the temporary folder of the workers.
"""

import ctypes
import multiprocessing
import os
import secrets
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Container, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

import psutil

from polarbear.errors import PolarBearError
from polarbear.numerics.system_files import children_now

TAG_VARIABLE = "POLARBEAR_RUN"  # tags of nested races are joined by colons
MAX_KILL_SECONDS = 30.0  # a busy machine may need that long to remove killed processes
# A process that starts another one and ends while a look at all processes goes on may hide it.
MIN_EMPTY_LOOKS = 2
LOOK_SECONDS = 0.01  # between two looks
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_WATCHDOG = "from polarbear.execution.process_tree import watch; watch()"


def tagged_environment(tag: str) -> dict[str, str]:
    """The environment variable that descendants shall inherit."""
    return {TAG_VARIABLE: ":".join(filter(None, (os.environ.get(TAG_VARIABLE), tag)))}


def become_subreaper() -> bool:
    """Become the parent of orphans below this process; return False where that is impossible."""
    return _set_process_option(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(parent: int) -> None:
    """Let the system kill this process when its parent ends, on Linux."""
    _set_process_option(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before
        os.kill(os.getpid(), signal.SIGKILL)


def _set_process_option(option: int, value: int) -> bool:
    """Set an option of this process by prctl; return False where there is none."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        return bool(_system_library().prctl(option, value, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


@cache  # a worker has looked it up before it forks processes
def _system_library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def has_children() -> bool:
    """Return whether this process may have children, by one system call where that exists."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    except (AttributeError, OSError):
        return True
    return True


def descendants(process: psutil.Process) -> list[psutil.Process]:
    """Children of a process, and theirs, as far as they have kept their parent."""
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def kill_descendants(process: psutil.Process | None = None) -> int:
    """Kill all descendants of a process, by default of this one; return how many there were."""
    return _kill_all(lambda: descendants(process or psutil.Process()))


def tagged(tag: str) -> list[psutil.Process]:
    """All other processes with a tag in their environment."""
    return [process for process in psutil.process_iter() if _has_tag(process, tag)]


def memory_of(processes: Iterable[psutil.Process], at_least: float) -> int:
    """Bytes used by processes together.

    Forked processes share memory. It is divided among them, which takes longer to measure, only
    where it would be ``at_least`` a number of bytes otherwise.
    """
    alive = [process for process in processes if _is_running(process)]
    used_bytes = sum(_memory(process, "rss") for process in alive)
    if used_bytes < at_least or len(alive) < 2:
        return used_bytes
    return sum(_memory(process, "pss") for process in alive)


def _is_running(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running())
    except psutil.Error:
        return False


def _memory(process: psutil.Process, kind: str) -> int:
    """The resident bytes of a process; with ``pss``, shared ones divided by their users."""
    try:
        if kind == "pss" and sys.platform.startswith("linux"):
            return int(process.memory_full_info().pss)
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0


def kill_tagged(tag: str, spared: Container[int] = ()) -> int:
    """Kill all other processes with a tag, and their descendants; return how many there were.

    Those whose numbers are ``spared`` stay alive.
    """

    def find() -> list[psutil.Process]:
        roots = [process for process in tagged(tag) if process.pid not in spared]
        return [*roots, *(below for process in roots for below in descendants(process))]

    return _kill_all(find)


def kill_children_except(spared: Container[int]) -> int:
    """Kill the children of this process, and theirs, but for those whose numbers are spared."""

    def find() -> list[psutil.Process]:
        numbers = children_now(os.getpid())
        if numbers is not None and all(number in spared for number in numbers):
            return []
        others = [child for child in psutil.Process().children() if child.pid not in spared]
        return [*others, *(below for child in others for below in descendants(child))]

    return _kill_all(find)


def kill_worker(worker: psutil.Process) -> None:
    """Kill a worker after its descendants, which would otherwise lose their parent."""
    with suppress(psutil.Error):
        worker.suspend()  # it can start nothing new, and still adopts orphans
        if children_now(worker.pid) != []:
            kill_descendants(worker)
        worker.kill()


def kill(processes: Iterable[psutil.Process]) -> None:
    """Kill processes that were identified earlier and still run."""
    for process in processes:
        with suppress(psutil.Error):  # also if its number belongs to another process now
            process.kill()


def _kill_all(find: Callable[[], list[psutil.Process]]) -> int:
    """Kill until nothing is found any more, because a process may start others until it is dead.

    Returns the number of killed processes.
    """
    killed: set[psutil.Process] = set()
    deadline = time.monotonic() + MAX_KILL_SECONDS
    while True:
        alive = [process for process in find() if _is_alive(process)]
        if not alive or time.monotonic() > deadline:
            return len(killed)
        killed.update(alive)
        kill(alive)
        time.sleep(0.001)


def _is_alive(process: psutil.Process) -> bool:
    """Return whether another process still runs; reap it if it is a dead child of this one.

    Multiprocessing reaps its children itself. Otherwise it would take them for alive, and could
    later send a signal to an unrelated process with the same number.
    """
    with suppress(psutil.Error, OSError):
        if process.status() != psutil.STATUS_ZOMBIE:
            return process.pid != os.getpid()
        if process.pid not in {child.pid for child in multiprocessing.active_children()}:
            os.waitpid(process.pid, os.WNOHANG)
    return False


def _has_tag(process: psutil.Process, tag: str) -> bool:
    try:
        tags = process.environ().get(TAG_VARIABLE, "").split(":")
        return process.pid != os.getpid() and tag in tags
    except (psutil.Error, OSError, ValueError):
        return False


class Scratch:
    """A temporary folder, a tag for all processes that use it, and the watchdog of both.

    The watchdog knows the name of the folder, which is made only once the watchdog has left the
    session of the race: a race that is killed at any earlier moment leaves nothing.
    """

    def __init__(self) -> None:
        self.tag = secrets.token_hex(8)
        try:
            self.folder = Path(tempfile.gettempdir()) / f"polarbear-{secrets.token_hex(8)}"
            self._watchdog = subprocess.Popen(
                [sys.executable, "-c", _WATCHDOG, self.tag, str(self.folder)],
                cwd=os.sep,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            try:
                self.folder.mkdir(mode=stat.S_IRWXU)
            except OSError:
                self._dismiss_watchdog()
                raise
        except OSError as error:
            raise PolarBearError(
                f"cannot make a temporary folder for workers: {error.strerror or error}; free some "
                "space, or let the variable TMPDIR name a folder with some"
            ) from None

    def clear(self) -> None:
        """Remove the folder, and kill all processes with the tag."""
        kill_tagged(self.tag)
        remove_folder(self.folder)
        self._dismiss_watchdog()

    def _dismiss_watchdog(self) -> None:
        """Let the watchdog look for what is left, and end."""
        assert self._watchdog.stdin is not None
        self._watchdog.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._watchdog.wait(MAX_KILL_SECONDS)


def remove_folder(folder: Path) -> None:
    """Remove a folder as far as possible, with subfolders that may not be listed or changed."""
    for parent, subfolders, _ in os.walk(folder):  # parents come before their subfolders
        for name in subfolders:
            subfolder = Path(parent, name)
            if not subfolder.is_symlink():
                with suppress(OSError):
                    subfolder.chmod(stat.S_IRWXU)
    shutil.rmtree(folder, ignore_errors=True)


def watch() -> None:
    """Wait for the end of the race, then clean up; the main function of the watchdog."""
    tag, folder = sys.argv[1:]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while os.read(0, 4096):
        pass
    deadline = time.monotonic() + MAX_KILL_SECONDS
    n_empty_looks = 0
    while n_empty_looks < MIN_EMPTY_LOOKS and time.monotonic() < deadline:
        has_killed = kill_tagged(tag) > 0
        remove_folder(Path(folder))
        is_empty = not has_killed and not os.path.lexists(folder)
        n_empty_looks = n_empty_looks + 1 if is_empty else 0
        if n_empty_looks < MIN_EMPTY_LOOKS:
            time.sleep(LOOK_SECONDS)
