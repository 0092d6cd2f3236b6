"""What a worker process is started with, and what it must not inherit."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType

from polarbear.execution.worker import INTERRUPTS


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C reaches the whole process group; a worker that is coming up must not mind it.

    Blocked, not ignored: this process gets what came meanwhile, and the worker opens its ears once
    it has decided what an interrupt means.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def without_the_script() -> Iterator[None]:
    """A worker needs nothing of the script that was called; without this it would run it again."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


@contextmanager
def environment(variables: Mapping[str, str | None]) -> Iterator[None]:
    """Environment variables set, or unset, for as long as a process is being started."""
    before = {name: os.environ.get(name) for name in variables}
    _set(variables)
    try:
        yield
    finally:
        _set(before)


def _set(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
