"""The few things a store asks of a disk, one function each, so that tests can have them fail."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO


def read(path: Path) -> bytearray:
    """All of a file; what came with it (its checksum) may be blanked out in place."""
    with path.open("rb", buffering=0) as file:
        data = bytearray(os.fstat(file.fileno()).st_size)
        view, filled = memoryview(data), 0
        while filled < len(data):
            got = file.readinto(view[filled:])
            if not got:
                break
            filled += got
    view.release()
    del data[filled:]
    return data


def create(path: Path) -> BinaryIO:
    """A new file, still empty."""
    return path.open("xb", buffering=0)


def put(file: BinaryIO, data: bytes | bytearray | memoryview) -> None:
    rest = memoryview(data)
    while len(rest):
        rest = rest[file.write(rest) :]


def sync(file: BinaryIO) -> None:
    """What was put into a file outlives a power cut from now on."""
    os.fsync(file.fileno())


def rename(old: Path, new: Path) -> None:
    """Give a file its name, in the place of whatever had it."""
    old.replace(new)


def remove(path: Path) -> None:
    path.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    path.mkdir(exist_ok=True)


def sync_folder(path: Path) -> None:
    """Names that were given and taken in a folder outlive a power cut from now on."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
