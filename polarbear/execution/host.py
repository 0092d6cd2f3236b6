"""The machine that executes runs, as far as it matters for measurements of seconds."""

import os
import platform
import socket
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from polarbear.numerics.threads import available_processors

MEMORY_SHARE = 0.8  # of the machine's memory that all runs together may use


@dataclass(frozen=True)
class Where:
    """The machine and process that executed a run, and the load at that time."""

    host: str
    cpu: str = ""
    load: float = 0.0  # average of the last minute
    worker: str = ""  # the name of the process in its pool or cluster


IMPORTED = Where("imported")


def here(worker: str = "") -> Where:
    """This machine at this moment."""
    return Where(socket.gethostname(), cpu_model(), os.getloadavg()[0], worker)


def free_cores() -> int:
    """The number of cores that were idle during the last minute."""
    return max(0, round(available_processors() - os.getloadavg()[0]))


def default_memory(workers: int) -> float:
    """Bytes that one of several workers may use without exhausting the machine."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return MEMORY_SHARE * total / workers


@cache
def cpu_model() -> str:
    """The model of the processor; seconds of different models are not comparable."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith(("model name", "Model")):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
