"""The machine runs are executed on: what of it belongs to a measurement of seconds."""

from __future__ import annotations

import os
import platform
import socket
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class Host:
    """Where seconds were measured; two hosts' seconds are not comparable."""

    name: str
    cpu: str


@cache
def this_host() -> Host:
    return Host(socket.gethostname(), _cpu_model())


@dataclass(frozen=True)
class Where:
    """Where a run was executed, and how busy it was there, as noted beside the run."""

    host: str
    cpu: str = ""
    load: float = 0.0
    worker: str = ""  # the process that executed it, as its pool or its cluster calls it


IMPORTED = Where("imported")


def here(worker: str = "") -> Where:
    """This machine, as it is at this moment."""
    host = this_host()
    return Where(host.name, host.cpu, load(), worker)


def cores() -> int:
    """Cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1


def load() -> float:
    """Processes that wanted a core over the last minute, as the system averages it."""
    try:
        return os.getloadavg()[0]
    except AttributeError:  # not on Windows
        import psutil

        return psutil.getloadavg()[0]


def free_cores() -> int:
    """Cores that nobody else was using lately."""
    return max(0, round(cores() - load()))


def default_memory(workers: int) -> float:
    """Bytes one of so many workers may use without bringing the machine down."""
    import psutil

    return 0.8 * psutil.virtual_memory().total / workers


def _cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith(("model name", "Model")):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
