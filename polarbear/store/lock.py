"""One writer at a time: a lock that the system takes back when its owner dies."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from polarbear.errors import StoreLockedError
from polarbear.store.files import explained
from polarbear.wording import visible

# What somebody else has put in the place of a lock is neither written through nor waited for.
UNTRICKED = os.O_NOFOLLOW | os.O_NONBLOCK


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock; whoever comes second is told who holds it."""
    with explained(path):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | UNTRICKED, 0o644)
        if not _taken(handle):
            owner = os.read(handle, 4096).decode(errors="replace")
            os.close(handle)
            raise StoreLockedError(
                f"{path.parent} is being written by {_described(owner)}; wait for it, or end it"
            )
        try:
            os.ftruncate(handle, 0)
            os.write(handle, _myself().encode())
        except OSError:
            os.close(handle)  # or nobody else could write until this process ends
            raise
    try:
        yield
    finally:
        os.close(handle)


def _taken(handle: int) -> bool:
    for _ in range(5):  # `holder` looks by taking it for an instant; that is not a writer
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            time.sleep(0.05)
    return False


def holder(path: Path) -> str | None:
    """Who is writing at this moment, in words; None if nobody is."""
    owner = _holder(path)
    return None if owner is None else _described(owner)


def holder_facts(path: Path) -> dict[str, Any] | None:
    """The same as its facts: pid, host, since and command, as far as they can be read."""
    owner = _holder(path)
    if owner is None:
        return None
    try:
        facts = json.loads(owner)
    except ValueError:
        return {}
    return facts if isinstance(facts, dict) else {}


def _holder(path: Path) -> str | None:
    """What the one who is writing has put into the lock."""
    try:
        handle = os.open(path, os.O_RDONLY | UNTRICKED)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return os.read(handle, 4096).decode(errors="replace")
    finally:
        os.close(handle)
    return None


def _myself() -> str:
    return json.dumps(
        {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "since": time.strftime("%Y-%m-%d %H:%M:%S"),
            "command": " ".join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        }
    )


def _described(owner: str) -> str:
    try:
        facts = json.loads(owner)
        return visible("process {pid} on {host} since {since} ({command})".format(**facts))
    except (ValueError, KeyError, TypeError):  # somebody else may hold it, with other words
        return "another process"
