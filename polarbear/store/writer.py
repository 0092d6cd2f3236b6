"""The process that writes a store: its lock, and the progress of its race.

The system releases the lock when its holder dies. The file ``progress`` exists while a race runs,
and is written about once a second. It is neither synced nor listed: a race that was killed leaves
it behind, which the free lock reveals.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from polarbear.errors import StoreDamagedError, StoreLockedError, StoreReadOnlyError
from polarbear.store.file_io import (
    ASIDE,
    NO_LINKS_OR_PIPES,
    NO_LOCKS,
    JsonObject,
    explained,
    parsed,
    record,
)
from polarbear.wording import visible

PROGRESS = "progress"
MAX_LOCK_BYTES = 4096  # of the lock's file that are read


class Holder(NamedTuple):
    """The process that holds the lock; its id is 0 if it is not PolarBear.

    ``nonce`` is drawn anew for each time that the lock is taken.
    """

    pid: int
    host: str
    since: str
    command: str
    nonce: str = ""

    @property
    def words(self) -> str:
        if not self.pid:
            return "another process"
        return visible(f"process {self.pid} on {self.host} since {self.since} ({self.command})")


@dataclass(frozen=True)
class WriteLock:
    """A lock that this process holds, by the file that it has open and what it wrote into it."""

    path: Path
    handle: int
    content: bytes

    def check(self) -> None:
        """Raise an error if another process may write as well.

        A file system may grant a lock twice, and a lock's file may be removed: then its next holder
        has another file, or has written itself into this one.
        """
        try:
            handle = os.open(self.path, os.O_RDONLY | NO_LINKS_OR_PIPES)
        except OSError:
            raise self._lost("was removed") from None
        try:
            is_same_file = os.path.samestat(os.fstat(handle), os.fstat(self.handle))
            if not is_same_file or os.read(handle, MAX_LOCK_BYTES) != self.content:
                raise self._lost(f"was taken by {_holder(self.path, handle).words}")
        finally:
            os.close(handle)

    def _lost(self, change: str) -> StoreLockedError:
        store = self.path.parent
        return StoreLockedError(
            f"the lock of {store} {change} while this process was writing, so it stops; when no "
            f"other process writes, `polarbear repair {store}` adds the runs that it could not list"
        )


@contextmanager
def locked(path: Path) -> Iterator[WriteLock]:
    """Hold the lock, or raise an error that names its holder."""
    with explained(path):
        handle = _open_and_acquire(path)
        try:
            command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
            since = time.strftime("%Y-%m-%d %H:%M:%S")
            nonce = secrets.token_hex(8)
            me = Holder(os.getpid(), socket.gethostname(), since, command, nonce)
            content = json.dumps(me._asdict()).encode()
            os.ftruncate(handle, 0)
            os.write(handle, content)
        except BaseException:
            os.close(handle)  # otherwise the lock would stay held until this process ends
            raise
    try:
        yield WriteLock(path, handle, content[:MAX_LOCK_BYTES])
    finally:
        os.close(handle)


def _open_and_acquire(path: Path) -> int:
    """Open the lock's file and acquire the lock; the file may be replaced in between."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | NO_LINKS_OR_PIPES, 0o644)
        try:
            if not _acquire(handle):
                owner = _holder(path, handle).words
                raise StoreLockedError(
                    f"{path.parent} is being written by {owner}; wait for it, or end it"
                )
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(handle), path.stat(follow_symlinks=False)):
                    return handle
        except OSError as error:
            os.close(handle)
            if error.errno in NO_LOCKS:
                raise StoreReadOnlyError(
                    f"the file system of {path.parent} has no locks ({error.strerror}), without "
                    "which two processes could write at once: name a folder on another file "
                    "system, for example a local disk, with --store"
                ) from error
            raise
        except BaseException:
            os.close(handle)
            raise
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
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
    finally:
        os.close(handle)
    return None


def _holder(path: Path, handle: int) -> Holder:
    with suppress(StoreDamagedError):
        return record(path, Holder, parsed(path, os.pread(handle, MAX_LOCK_BYTES, 0)))
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
