"""The state of a process that one run can change and another one would meet.

Modules of the user and their caches are not part of it: no other algorithm has them in its process.
"""

import builtins
import decimal
import gc
import locale
import math
import operator
import os
import random
import re
import resource
import signal
import socket
import sys
import threading
import time
import types
import warnings
from collections.abc import Mapping

import numpy as np

from polarbear.execution import process_tree
from polarbear.numerics.system_files import system_file

# What the system reports of a process: masks of signals, the umask, processors, threads.
STATUS_KEYS = (
    "Umask",
    "Uid",
    "Gid",
    "Threads",
    "SigBlk",
    "SigIgn",
    "SigCgt",
    "NoNewPrivs",
    "Seccomp",
    "Cpus_allowed",
)
STATUS_FILE = "/proc/self/status"
STATUS_LINE = re.compile(rb"^(" + "|".join(STATUS_KEYS).encode() + rb"):\s*(.*)$", re.MULTILINE)
DESCRIPTORS = "/proc/self/fd"
TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)
LIMITS = tuple(getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_"))
# Signals whose handlers are compared; of others, the masks in the status say if they have one.
SIGNALS = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGALRM,
    signal.SIGCHLD,
    signal.SIGPIPE,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGVTALRM,
    signal.SIGPROF,
    signal.SIGXCPU,
)
# Functions of these modules are replaced by careless code, for instance by mocks.
MODULES: tuple[types.ModuleType, ...] = (
    builtins,
    math,
    random,
    time,
    np,
    np.random,
    np.linalg,
    threading,
)
MAX_ENDING_SECONDS = 0.05  # a joined thread takes a moment to leave the list of the system

State = Mapping[str, object]


class ModuleContent:
    """The content of a module; a later one is equal if nothing was replaced or removed.

    It may have more: libraries import submodules when they first need them, and those come last.
    """

    def __init__(self, module: types.ModuleType) -> None:
        self._values = list(vars(module).values())

    def __eq__(self, later: object) -> bool:
        if not isinstance(later, ModuleContent) or len(later._values) < len(self._values):
            return False
        return all(map(operator.is_, self._values, later._values))

    __hash__ = None  # type: ignore[assignment]


def process_state() -> State:
    """The present state, by name; two states are compared by `changes`."""
    state: dict[str, object] = {
        "working directory": _working_directory(),
        "environment": dict(os.environ),
        "limits": [resource.getrlimit(limit) for limit in LIMITS],
        "priority": os.getpriority(os.PRIO_PROCESS, 0),
        "signal handlers": [signal.getsignal(number) for number in SIGNALS],
        "timers": [signal.getitimer(timer) != (0.0, 0.0) for timer in TIMERS],
        "warnings filters": (list(warnings.filters), warnings.showwarning, warnings.formatwarning),
        "NumPy's error state": (np.geterr(), np.geterrcall(), np.getbufsize()),
        "NumPy's print options": str(np.get_printoptions()),
        "NumPy's global generator": np.random.get_bit_generator(),  # type: ignore[attr-defined]
        "decimal context": repr(decimal.getcontext()),
        "locale": locale.setlocale(locale.LC_ALL),
        "socket timeout": socket.getdefaulttimeout(),
        "garbage collector": (gc.isenabled(), gc.get_threshold(), list(gc.callbacks)),
        "interpreter": (
            sys.getrecursionlimit(),
            sys.get_int_max_str_digits(),
            sys.getswitchinterval(),
            sys.gettrace(),
            sys.getprofile(),
            sys.excepthook,
            sys.stdout,
            sys.stderr,
        ),
        "import system": (list(sys.path), list(sys.meta_path), list(sys.path_hooks)),
        "Python threads": threading.active_count(),
        "children": process_tree.has_children(),
        "descriptors": _descriptors(),
    }
    for key, value in _status().items():
        state[key.decode()] = value
    for module in MODULES:
        state[f"module {module.__name__}"] = ModuleContent(module)
    return state


def changes(before: State) -> list[str]:
    """The names of what differs now from an earlier state of this process."""
    deadline = time.monotonic() + MAX_ENDING_SECONDS
    while True:
        after = process_state()
        names = [name for name in after if not _is_equal(before.get(name), after[name])]
        if names not in (["Threads"], ["Python threads", "Threads"]):
            return names
        if time.monotonic() > deadline:
            return names
        time.sleep(0.001)


def _is_equal(before: object, after: object) -> bool:
    try:
        return bool(before == after)
    except Exception:  # a replaced object may not be comparable
        return False


def _working_directory() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - a text is enough
    except OSError:  # the folder was removed
        return ""


def _descriptors() -> list[str]:
    try:
        return os.listdir(DESCRIPTORS)  # noqa: PTH208 - names are enough
    except OSError:
        return []


def _status() -> dict[bytes, bytes]:
    """What the system reports of this process; empty where it does not."""
    try:
        return dict(STATUS_LINE.findall(system_file(STATUS_FILE)))
    except OSError:
        return {}
