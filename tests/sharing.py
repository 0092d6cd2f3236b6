"""Folders that are expensive to fill, shared by all processes of a test session."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest


def filled_once(factory: pytest.TempPathFactory, name: str, fill: Callable[[Path], object]) -> Path:
    """A folder that the first process fills while others wait; tests only read it."""
    base = factory.getbasetemp()
    session = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = session / "shared" / name.replace(" ", "-")
    folder.parent.mkdir(exist_ok=True)
    full = folder.with_name(f"{folder.name}.full")
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not full.exists():
            folder.mkdir()  # This raises an error if an earlier attempt left an incomplete folder.
            fill(folder)
            full.touch()
    return folder
