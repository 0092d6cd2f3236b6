"""The conditions under which worker processes are started."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType

from polarbear.execution.worker import INTERRUPTS


@contextmanager
def blocked_interrupts() -> Iterator[None]:
    """Block interrupts, which reach the whole process group, while a worker starts.

    They are blocked, not ignored: this process receives them afterwards, and the worker unblocks
    them once its handler is set.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def hidden_script() -> Iterator[None]:
    """Hide the user's script from multiprocessing, which would run it again in every worker."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables while a process is started."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
