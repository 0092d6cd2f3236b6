"""The file system operations of a store, one function each, so that tests can let them fail."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import BinaryIO

CANNOT_SYNC = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)  # the file system has no `fsync`


def read(path: Path) -> bytes:
    return path.read_bytes()


def create(path: Path) -> BinaryIO:
    """Open a new, empty file for writing."""
    return path.open("xb", buffering=0)


def put(file: BinaryIO, data: bytes | memoryview) -> None:
    rest = memoryview(data)
    while len(rest):
        rest = rest[file.write(rest) :]


def sync(file: BinaryIO) -> None:
    """Make the contents of a file survive a power cut."""
    _sync(file.fileno())


def rename(old: Path, new: Path) -> None:
    """Rename a file; a file that has the new name is replaced."""
    old.replace(new)


def remove(path: Path) -> None:
    path.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    path.mkdir(exist_ok=True)


def sync_folder(path: Path) -> None:
    """Make names added to and removed from a folder survive a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        _sync(handle)
    finally:
        os.close(handle)


def _sync(handle: int) -> None:
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in CANNOT_SYNC:
            raise
