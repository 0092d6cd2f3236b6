"""The journal of a run: its trajectory on disk, for the pool if the process of the run dies."""

import fcntl
import os
import struct
import zlib
from pathlib import Path

import numpy as np

from polarbear.rankings.outcomes import Improvements, or_none

POINT = struct.Struct("=ddd")
CHECK = struct.Struct("=I")  # of a point, as code may write bytes into any open file
POINT_BYTES = POINT.size + CHECK.size


class Journal:
    """The trajectory of the present run, in a file that is emptied between runs.

    The file is open under a number from ``first_descriptor`` on.
    """

    def __init__(self, path: Path, first_descriptor: int = 0) -> None:
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._file = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, first_descriptor)
        os.close(file)

    def add(self, t: float, y: float, violation: float) -> None:
        point = POINT.pack(t, y, violation)
        os.write(self._file, point + CHECK.pack(zlib.crc32(point)))

    def detach_file(self) -> None:
        """Write nowhere from now on: this is a child of the process that has the journal."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._file, inheritable=False)
        os.close(nowhere)

    def close(self) -> None:
        os.close(self._file)


def read_journal(path: Path) -> Improvements:
    """The trajectory in a journal, up to the first point that is incomplete or damaged."""
    data = path.read_bytes() if path.exists() else b""
    points: list[tuple[float, float, float]] = []
    for start in range(0, len(data) - POINT_BYTES + 1, POINT_BYTES):
        point = data[start : start + POINT.size]
        if data[start + POINT.size : start + POINT_BYTES] != CHECK.pack(zlib.crc32(point)):
            break
        points.append(POINT.unpack(point))
    times, values, violations = np.array(points, dtype=np.float64).reshape(-1, 3).T.copy()
    return Improvements(times, values, or_none(violations))
