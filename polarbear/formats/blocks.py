"""Text files in which the points of many runs stand one after the other, a header before each."""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Callable, Iterator
from math import isfinite
from pathlib import Path, PurePosixPath

from polarbear.errors import ImportFailedError
from polarbear.formats.base import Complaint
from polarbear.wording import noun

Points = list[tuple[float, float]]
# What exports write at evaluation 1, which readers ask for, if nothing was found by then. Infinity
# would say it better, but cocopp hangs on it.
NOTHING_FOUND = sys.float_info.max


def read_blocks(
    path: Path,
    is_header: Callable[[str], bool],
    t_column: int,
    y_column: int,
    complaints: list[Complaint],
) -> list[Points]:
    """The points (t, y) of each run in the file; rows that make no sense are complained about."""
    try:
        if not path.is_file():  # a pipe would be waited for
            raise FileNotFoundError("there is no such file")
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise ImportFailedError(
            f"cannot read {path}, which its description names: {error}"
        ) from None
    bad: list[int] = []
    blocks = list(_blocks(lines, is_header, t_column, y_column, bad))
    if bad:
        reason = "the row is not a number of evaluations and a value"
        complaints.append(Complaint(len(bad), reason, f"{path}, line {bad[0]}"))
    return blocks


def _blocks(
    lines: list[str], is_header: Callable[[str], bool], t_column: int, y_column: int, bad: list[int]
) -> Iterator[Points]:
    block: Points | None = None
    for number, line in enumerate(lines, 1):
        if is_header(line):
            if block is not None:
                yield block
            block = []
        elif line.strip():
            point = _point(line.split(), t_column, y_column)
            if block is None or point is None:
                bad.append(number)
            elif abs(point[1]) == NOTHING_FOUND:
                continue
            else:
                block.append(point)
    if block is not None:
        yield block


def _point(words: list[str], t_column: int, y_column: int) -> tuple[float, float] | None:
    try:
        t, y = float(words[t_column]), float(words[y_column])
    except (ValueError, IndexError):
        return None
    return (t, y) if isfinite(t) and t >= 0 and isfinite(y) else None


def number_or_text(text: str) -> int | str:
    """What a description numbers, as a number; a name stays one."""
    return int(text) if text.isdecimal() and len(text) < 10 else text


def beside(description: Path, name: str) -> Path:
    """The data file that a description names, which lies in its folder or below it."""
    inside = PurePosixPath(posixpath.normpath(name.replace("\\", "/")))
    if inside.is_absolute() or ".." in inside.parts:
        raise ImportFailedError(
            f"{description} names '{name}', which is not in its folder; an import reads no other"
        )
    return description.parent / inside


def check_count(described: int, blocks: list[Points], path: Path, out: list[Complaint]) -> None:
    """Complain if a file does not hold as many runs as its description says."""
    if len(blocks) != described:
        runs = noun(described, "run is", "runs are")
        there = f"{len(blocks)} {noun(len(blocks), 'is', 'are')} there"
        reason = f"{described} {runs} described but {there}"
        out.append(Complaint(abs(described - len(blocks)), reason, str(path)))
