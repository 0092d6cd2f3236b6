"""The process that writes a store: its lock, and the progress of its race.

The system releases the lock when its holder dies. The file ``progress`` exists while a race runs,
and is written about once a second. It is neither synced nor listed: a race that was killed leaves
it behind, which the free lock reveals.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from polarbear.errors import StoreDamagedError, StoreLockedError
from polarbear.store.file_io import (
    ASIDE,
    NO_LINKS_OR_PIPES,
    JsonObject,
    explained,
    parsed,
    record,
)
from polarbear.wording import visible

PROGRESS = "progress"


class Holder(NamedTuple):
    """The process that holds the lock; its id is 0 if it is not PolarBear."""

    pid: int
    host: str
    since: str
    command: str

    @property
    def words(self) -> str:
        if not self.pid:
            return "another process"
        return visible(f"process {self.pid} on {self.host} since {self.since} ({self.command})")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock, or raise an error that names its holder."""
    with explained(path):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | NO_LINKS_OR_PIPES, 0o644)
        try:
            if not _acquire(handle):
                owner = _holder(path, handle).words
                raise StoreLockedError(
                    f"{path.parent} is being written by {owner}; wait for it, or end it"
                )
            command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
            since = time.strftime("%Y-%m-%d %H:%M:%S")
            me = Holder(os.getpid(), socket.gethostname(), since, command)
            os.ftruncate(handle, 0)
            os.write(handle, json.dumps(me._asdict()).encode())
        except BaseException:
            os.close(handle)  # otherwise the lock would stay held until this process ends
            raise
    try:
        yield
    finally:
        os.close(handle)


def _acquire(handle: int) -> bool:
    for _ in range(5):  # `holder` tests the lock by holding it for a moment
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            time.sleep(0.05)
    return False


def holder(path: Path) -> Holder | None:
    """The process that holds the lock; None if it is free."""
    try:
        handle = os.open(path, os.O_RDONLY | NO_LINKS_OR_PIPES)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _holder(path, handle)
    finally:
        os.close(handle)
    return None


def _holder(path: Path, handle: int) -> Holder:
    with suppress(StoreDamagedError):
        return record(path, Holder, parsed(path, os.read(handle, 4096)))
    return Holder(0, "", "", "")


# --- progress --------------------------------------------------------------------------------


def write_progress(store: Path, facts: JsonObject) -> None:
    """Write the progress; errors are ignored, since a race must not end because of them."""
    aside = store / f"{ASIDE}{PROGRESS}"
    me = {"pid": os.getpid(), "host": socket.gethostname()}
    with suppress(OSError):
        aside.write_text(json.dumps({**me, **facts}))
        aside.replace(store / PROGRESS)


def read_progress(store: Path, kind: type) -> tuple[bool, JsonObject] | None:
    """Whether the last race is under way, and its progress; None if it ended normally.

    ``kind`` is the class of its record; a file that does not fit it is ignored.
    """
    path = store / PROGRESS
    with suppress(OSError, StoreDamagedError, KeyError):
        facts = parsed(path, path.read_bytes())
        facts |= asdict(record(path, kind, facts))
        writer = (facts["pid"], facts["host"])
        lock_holder = holder(store / "lock")
        is_under_way = lock_holder is not None and (lock_holder.pid, lock_holder.host) == writer
        return is_under_way, facts
    return None


def clear_progress(store: Path) -> None:
    """Remove the file; only the holder of the lock does that."""
    with suppress(OSError):
        (store / PROGRESS).unlink(missing_ok=True)
