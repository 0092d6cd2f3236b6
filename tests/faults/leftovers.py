"""Algorithms that leave something behind in their process, and one that would notice all of it."""

import atexit
import builtins
import contextlib
import decimal
import faulthandler
import gc
import hashlib
import json
import locale
import logging
import math
import os
import pickle
import random
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np

KEPT = []  # by every run of this module
HELD = threading.Lock()


def observed():
    """Everything about this process that another algorithm could have changed, as one text."""
    seen = {
        "folder": str(Path.cwd()),
        "environment": sorted(
            (name, value) for name, value in os.environ.items() if name != "POLARBEAR_RUN"
        ),
        "limits": [resource.getrlimit(limit) for limit in range(10)],
        "priority": os.getpriority(os.PRIO_PROCESS, 0),
        "processors": sorted(os.sched_getaffinity(0)),
        "handlers": [
            str(signal.getsignal(number)).partition(" at ")[0] for number in (2, 10, 12, 14, 15, 17)
        ],
        "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        "timer": signal.getitimer(signal.ITIMER_REAL)[1],
        "filters": str(warnings.filters[:3]),
        "numpy": [np.geterr(), np.get_printoptions(), np.getbufsize()],
        "decimal": str(decimal.getcontext()),
        "locale": locale.setlocale(locale.LC_ALL),
        "timeout": socket.getdefaulttimeout(),
        "collector": [gc.isenabled(), gc.get_threshold()],
        "recursion": sys.getrecursionlimit(),
        "digits": sys.get_int_max_str_digits(),
        "interval": sys.getswitchinterval(),
        "traced": [str(sys.gettrace()), str(sys.getprofile())],
        "hook": str(sys.excepthook).partition(" at ")[0],
        "path": sys.path,
        "threads": threading.active_count(),
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "children": Path(f"/proc/self/task/{os.getpid()}/children").read_text(),
        "logging": [logging.root.level, len(logging.root.handlers), logging.root.manager.disable],
        "kept": len(KEPT),
        "lock": HELD.locked(),
        "clock": type(time.perf_counter()).__name__,
        "functions": [math.sqrt(4.0), abs(-1), sum([1, 2]), json.dumps({}), pickle.dumps(1).hex()],
        "temporary": tempfile.gettempprefix(),
        "scipy": sys.modules.get("scipy", "absent") is None,
        "fault handler": faulthandler.is_enabled(),
    }
    umask = os.umask(0)
    os.umask(umask)
    seen["umask"] = umask
    return str(seen)


def notices(problem, seed):
    """Its points depend on its seed and on all it can observe."""
    digest = hashlib.sha256(observed().encode()).digest()
    rng = np.random.default_rng([seed, *digest[:8]])
    shift = random.random() + np.random.rand()  # noqa: NPY002 - replaced by some
    for _ in range(20):
        share = (rng.uniform(size=len(problem.lower)) + shift) % 1.0
        problem(problem.lower + share * (problem.upper - problem.lower))
        np.log(np.zeros(1))  # warns, unless it raises
        warnings.warn("a word", stacklevel=1)


def leftover(leave):
    """An algorithm that evaluates a point and leaves something behind."""

    def solve(problem, seed):
        problem(problem.lower)
        leave()

    return solve


def _spin():
    while True:
        pass


def _threads():
    for _ in range(4):
        threading.Thread(target=_spin, daemon=True).start()


def _open_files():
    KEPT.extend(os.open(os.devnull, os.O_RDONLY) for _ in range(200))


def _orphan():
    subprocess.run(["sh", "-c", "(setsid sleep 1000 &)"], check=True)


def _fork():
    if os.fork() == 0:
        time.sleep(1000)
        os._exit(0)


def _replace(module, name, value):
    return leftover(lambda: setattr(module, name, value))


def _lower_limit(limit, value):
    return leftover(lambda: resource.setrlimit(limit, (value, resource.getrlimit(limit)[1])))


def _other_core_limit():
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard) if soft else (4096, hard))


def _other_locale():
    for name in ("C", "C.UTF-8", "POSIX"):
        if locale.setlocale(locale.LC_ALL) != name:
            with contextlib.suppress(locale.Error):
                locale.setlocale(locale.LC_ALL, name)
                return


def _poison_recorder():
    from polarbear.execution.recorder import Recorder

    Recorder._observe = lambda self, t, value, x: 0.0


def _poison_victim():
    globals()["observed"] = lambda: "nothing"


def _new_threads_of_numba():
    import numba

    numba.set_num_threads(1)


error_state = leftover(lambda: np.seterr(all="raise"))
error_callback = leftover(lambda: np.seterrcall(print))
buffer_size = leftover(lambda: np.setbufsize(16 * 1024))
print_options = leftover(lambda: np.set_printoptions(precision=1))
warnings_as_errors = leftover(lambda: warnings.simplefilter("error"))
working_folder = leftover(lambda: os.chdir("/"))
open_files_limit = _lower_limit(resource.RLIMIT_NOFILE, 200)
memory_limit = _lower_limit(resource.RLIMIT_AS, 8 * 2**30)
core_limit = leftover(_other_core_limit)
stack_limit = _lower_limit(resource.RLIMIT_STACK, 2**20)
processor_limit = _lower_limit(resource.RLIMIT_CPU, 3600)
default_generator = _replace(np.random, "default_rng", lambda *_: np.random.RandomState(1))
numpy_seed = _replace(np.random, "seed", lambda *_: None)
random_seed = _replace(random, "seed", lambda *_: None)
random_function = _replace(random, "random", lambda: 0.5)
linear_algebra = _replace(np.linalg, "solve", None)
square_root = _replace(math, "sqrt", lambda x: x)
absolute_value = _replace(builtins, "abs", lambda x: 7)
sum_function = _replace(builtins, "sum", lambda x: 7)
clock = _replace(time, "perf_counter", lambda: 7)
encoder = _replace(json, "dumps", lambda x: "7")
pickler = _replace(pickle, "dumps", lambda *_: b"7")
variable = leftover(lambda: os.environ.update(LEFTOVER="1"))
no_environment = leftover(os.environ.clear)
thread_variable = leftover(lambda: os.environ.update(OMP_NUM_THREADS="64"))
alarm_handler = leftover(lambda: signal.signal(signal.SIGALRM, lambda *_: None))
ignored_signal = leftover(lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN))
child_handler = leftover(lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
blocked_signal = leftover(lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1]))
timer = leftover(lambda: signal.setitimer(signal.ITIMER_REAL, 1000.0, 1000.0))
alarm_soon = leftover(lambda: signal.setitimer(signal.ITIMER_REAL, 0.001))
other_locale = leftover(_other_locale)
decimal_precision = leftover(lambda: setattr(decimal.getcontext(), "prec", 3))
recursion_limit = leftover(lambda: sys.setrecursionlimit(100_000))
digits_limit = leftover(lambda: sys.set_int_max_str_digits(1000))
switch_interval = leftover(lambda: sys.setswitchinterval(1.0))
collector_off = leftover(gc.disable)
trace = leftover(lambda: sys.settrace(lambda *_: None))
profile = leftover(lambda: sys.setprofile(lambda *_: None))
excepthook = _replace(sys, "excepthook", print)
umask = leftover(lambda: os.umask(0o777))
priority = leftover(lambda: os.nice(5))
processors = leftover(lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}))
import_path = leftover(sys.path.clear)
absent_module = leftover(lambda: sys.modules.update(scipy=None))
standard_output = _replace(sys, "stdout", None)
closed_output = leftover(lambda: os.closerange(0, 3))
open_files = leftover(_open_files)
threads = leftover(_threads)
lock = leftover(HELD.acquire)
module_global = leftover(lambda: KEPT.append(1))
forked_child = leftover(_fork)
orphan = leftover(_orphan)
socket_timeout = leftover(lambda: socket.setdefaulttimeout(1.0))
at_exit = leftover(lambda: atexit.register(_spin))
temporary_prefix = _replace(tempfile, "gettempprefix", lambda: "other")
logging_off = leftover(lambda: logging.disable(logging.CRITICAL))
fault_handler = leftover(faulthandler.disable)
recorder = leftover(_poison_recorder)
victim = leftover(_poison_victim)
numba_threads = leftover(_new_threads_of_numba)

LEFTOVERS = [
    name for name, value in list(globals().items()) if getattr(value, "__name__", "") == "solve"
]
