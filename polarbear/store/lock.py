"""One writer at a time: a lock that the system releases when its holder dies."""

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

from polarbear.errors import StoreLockedError
from polarbear.store.file_io import JsonObject, explained
from polarbear.wording import visible

NO_LINKS_OR_PIPES = os.O_NOFOLLOW | os.O_NONBLOCK  # a hostile store may have one as its lock


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock, or raise an error that names its holder."""
    with explained(path):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | NO_LINKS_OR_PIPES, 0o644)
        if not _acquire(handle):
            owner = _parsed(os.read(handle, 4096))
            os.close(handle)
            raise StoreLockedError(
                f"{path.parent} is being written by {_described(owner)}; wait for it, or end it"
            )
        me = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "since": time.strftime("%Y-%m-%d %H:%M:%S"),
            "command": " ".join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        }
        try:
            os.ftruncate(handle, 0)
            os.write(handle, json.dumps(me).encode())
        except OSError:
            os.close(handle)  # otherwise the lock would stay held until this process ends
            raise
    try:
        yield
    finally:
        os.close(handle)


def _acquire(handle: int) -> bool:
    for _ in range(5):  # `holder_facts` tests the lock by holding it for a moment
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            time.sleep(0.05)
    return False


def holder(path: Path) -> str | None:
    """The process that holds the lock, in words; None if it is free."""
    facts = holder_facts(path)
    return None if facts is None else _described(facts)


def holder_facts(path: Path) -> JsonObject | None:
    """The process that holds the lock: pid, host, since and command as far as they are readable."""
    try:
        handle = os.open(path, os.O_RDONLY | NO_LINKS_OR_PIPES)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _parsed(os.read(handle, 4096))
    finally:
        os.close(handle)
    return None


def _parsed(content: bytes) -> JsonObject:
    try:
        facts = json.loads(content)
    except ValueError:
        return {}
    return facts if isinstance(facts, dict) else {}


def _described(facts: JsonObject) -> str:
    try:
        return visible("process {pid} on {host} since {since} ({command})".format(**facts))
    except KeyError:  # held by a program that is not PolarBear
        return "another process"
