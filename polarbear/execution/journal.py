"""The journal of a run: its trajectory on disk, for the pool if the worker process dies."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import numpy as np

from polarbear.numerics.arrays import Floats

POINT = struct.Struct("=dd")


class Journal:
    """The trajectory of the present run on disk, which survives the process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)

    def restart(self) -> None:
        os.ftruncate(self._file, 0)

    def write(self, t: float, y: float) -> None:
        os.write(self._file, POINT.pack(t, y))

    def close(self) -> None:
        os.close(self._file)

    @staticmethod
    def read(path: Path) -> tuple[Floats, Floats]:
        """Times and values in a journal, without a last point that is incomplete."""
        try:
            data = path.read_bytes()
        except OSError:
            return np.empty(0), np.empty(0)
        points = np.frombuffer(data[: len(data) // POINT.size * POINT.size]).reshape(-1, 2)
        return points[:, 0].copy(), points[:, 1].copy()
