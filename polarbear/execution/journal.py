"""The journal of a run: its trajectory on disk, for the pool if the process of the run dies."""

import fcntl
import os
import struct
import zlib
from pathlib import Path

import numpy as np

from polarbear.rankings.outcomes import Improvements, or_none

CHECK = struct.Struct("=I")  # of a point, as code may write bytes into any open file


def _point(n_objectives: int) -> struct.Struct:
    """A point: its time, the value of each objective, and its violation."""
    return struct.Struct(f"={n_objectives + 2}d")


POINT = _point(1)
POINT_BYTES = POINT.size + CHECK.size


class Journal:
    """The trajectory of the present run, in a file that is emptied between runs.

    The file is open under a number from ``first_descriptor`` on.
    """

    def __init__(self, path: Path, first_descriptor: int = 0) -> None:
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._file = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, first_descriptor)
        os.close(file)

    def add(self, t: float, y: float | tuple[float, ...], violation: float) -> None:
        """Add a point, whose ``y`` has a value for each objective if there are several."""
        if isinstance(y, tuple):
            point = _point(len(y)).pack(t, *y, violation)
        else:
            point = POINT.pack(t, y, violation)
        os.write(self._file, point + CHECK.pack(zlib.crc32(point)))

    def detach_file(self) -> None:
        """Write nowhere from now on: this is a child of the process that has the journal."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._file, inheritable=False)
        os.close(nowhere)

    def close(self) -> None:
        os.close(self._file)


def read_journal(path: Path, n_objectives: int = 1) -> Improvements:
    """The trajectory in a journal, up to the first point that is incomplete or damaged."""
    data = path.read_bytes() if path.exists() else b""
    form = _point(n_objectives)
    point_bytes = form.size + CHECK.size
    points: list[tuple[float, ...]] = []
    for start in range(0, len(data) - point_bytes + 1, point_bytes):
        point = data[start : start + form.size]
        if data[start + form.size : start + point_bytes] != CHECK.pack(zlib.crc32(point)):
            break
        points.append(form.unpack(point))
    columns = np.array(points, dtype=np.float64).reshape(-1, n_objectives + 2).T.copy()
    values = columns[1] if n_objectives == 1 else columns[1:-1].T.copy()
    return Improvements(columns[0], values, or_none(columns[-1]))
