"""Seconds of the processor that this process and all processes below it have used."""

import os
import resource
import time
from contextlib import suppress

import psutil

from polarbear.numerics.system_files import children_now


def tree_seconds() -> float:
    """Those of this process, with all its threads, and of the processes below it."""
    return time.process_time() + seconds_below()


def seconds_below() -> float:
    """Those of the processes below this one, also of those that have ended.

    The system counts the time of a process that runs in steps of some milliseconds.
    """
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = ended.ru_utime + ended.ru_stime
    waiting = children_now(os.getpid())
    if waiting is None:
        waiting = [child.pid for child in psutil.Process().children()]
    while waiting:
        pid = waiting.pop()
        with suppress(psutil.Error, OSError):
            times = psutil.Process(pid).cpu_times()
            seconds += times.user + times.system
            seconds += getattr(times, "children_user", 0.0)
            seconds += getattr(times, "children_system", 0.0)
            below = children_now(pid)
            if below is None:
                below = [child.pid for child in psutil.Process(pid).children()]
            waiting += below
    return seconds


class ProcessorClock:
    """Seconds that the processes of a run have used; it never goes back.

    A process that ends between two looks at the system may be missed for a moment.
    """

    def __init__(self, includes_this_process: bool) -> None:
        self._read = tree_seconds if includes_this_process else seconds_below
        self._latest = self._read()

    def now(self) -> float:
        """The seconds so far, since an unknown start."""
        self._latest = max(self._latest, self._read())
        return self._latest
