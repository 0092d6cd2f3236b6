"""The journal of a run: its trajectory on disk, for the pool if the worker process dies."""

import io
import struct
from pathlib import Path

import numpy as np

from polarbear.numerics.arrays import Floats

POINT = struct.Struct("=dd")


class Journal(io.FileIO):
    """The trajectory of the present run, in a file; `truncate` begins a new one."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "ab")

    def add(self, t: float, y: float) -> None:
        self.write(POINT.pack(t, y))


def read_journal(path: Path) -> tuple[Floats, Floats]:
    """Times and values in a journal, without a last point that is incomplete."""
    numbers = np.fromfile(path) if path.exists() else np.empty(0)
    points = numbers[: len(numbers) // 2 * 2].reshape(-1, 2)
    return points[:, 0].copy(), points[:, 1].copy()
