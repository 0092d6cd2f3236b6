"""Text files of IOHprofiler and COCO: blocks of points in .dat files, descriptions in .info files.

A .dat file has the points of many runs, with a header line before each. An .info file has a line
of settings for each function and dimension, a comment, and the data file with its instances:

    suite = 'PBO', funcId = 10, DIM = 100, algId = '(1+1) fGA'
    %
    data_f10/IOHprofiler_f10_DIM100.dat, 1:1953125|5.59000e+02, 1:1953125|5.49000e+02
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from polarbear.errors import ImportFailedError
from polarbear.formats.base import Facts, Rejection
from polarbear.problems.specs import DIMENSION, FUNCTION, NUMBER
from polarbear.wording import noun

Block = list[tuple[float, float]]  # the points (t, y) of a run
# The value that exports write at evaluation 1, which readers need, if nothing was found by then.
# It is not infinity because cocopp does not terminate on that.
NOTHING_FOUND = sys.float_info.max
SETTING = re.compile(r"""(\w+)\s*=\s*(?:'([^']*)'|"([^"]*)"|([^,\s]+))""")
RUN = re.compile(r"\d+\s*:")


@dataclass(frozen=True)
class RunGroup:
    """The runs of one algorithm on one function in one dimension, as an .info file has them."""

    settings: dict[str, str]
    data: Path
    instances: list[str]

    @property
    def algorithm(self) -> str:
        return self.settings["algId"]

    def facts(self, instance: str) -> Facts:
        function = self.settings.get("funcId") or self.settings["function"]
        return instance_facts(function, self.settings["DIM"], instance)


def instance_facts(function: str, dimension: str, instance: str) -> Facts:
    """The entries of an instance's spec by which IOHprofiler and COCO know it."""
    values = zip((FUNCTION, DIMENSION, NUMBER), (function, dimension, instance), strict=True)
    return {key: int(v) if v.isdecimal() and len(v) < 10 else v for key, v in values}


def problem_name(facts: Facts) -> str:
    return f"f{facts[FUNCTION]}-d{facts[DIMENSION]}-i{facts[NUMBER]}"


def read_info(path: Path, tool: str) -> Iterator[RunGroup]:
    """The groups of runs in an .info file; a list of runs may continue on further lines."""
    settings: dict[str, str] = {}
    name, runs = "", list[str]()
    for line in [*read_lines(path), "function ="]:  # the last one ends the group before it
        is_settings = re.search(r"\bfunc(Id|tion)\s*=", line) is not None
        if line.startswith("%") or not line:
            continue
        if name and not is_settings and RUN.match(line):
            runs += line.split(",")
            continue
        if name:
            numbers = [run.partition(":")[0].strip() for run in runs if run.strip()]
            yield RunGroup(settings, data_file(path, name), numbers)
        elif is_settings and settings:
            raise ImportFailedError(f"{path} is not written by {tool}: it lacks a data file")
        name, runs = "", []
        if is_settings:
            settings = {key: a or b or c for key, a, b, c in SETTING.findall(line)}
        else:
            name, *runs = (part.strip() for part in line.split(","))
            if not _is_complete(settings):
                raise ImportFailedError(f"{path} is not written by {tool}: {line[:80]!r}")


def _is_complete(settings: dict[str, str]) -> bool:
    has_function = bool(settings.get("funcId") or settings.get("function"))
    return has_function and bool(settings.get("algId")) and settings.get("DIM", "").isdecimal()


def read_lines(path: Path) -> list[str]:
    """The lines of a text file, without blanks around them."""
    try:
        if not path.is_file():  # opening a pipe would wait for a writer
            raise FileNotFoundError("there is no such file")
        return [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError) as error:
        raise ImportFailedError(f"cannot read {path}: {error}") from None


class DataLayout(NamedTuple):
    """The begin of header lines, and the columns of the points."""

    header: str
    t_column: int
    y_column: int


def read_blocks(
    path: Path, layout: DataLayout, runs: int, rejected: list[Rejection]
) -> list[Block]:
    """The points of each run in a data file, of which the description announces ``runs``."""
    blocks: list[Block] = []
    invalid: list[int] = []
    for number, line in enumerate(read_lines(path), 1):
        if line.startswith(layout.header):
            blocks.append([])
        elif line:
            point = _point(line.split(), layout)
            if point is None or not blocks:
                invalid.append(number)
            elif abs(point[1]) != NOTHING_FOUND:
                blocks[-1].append(point)
    if invalid:
        reason = "the row is not a number of evaluations and a value"
        rejected.append(Rejection(len(invalid), reason, f"{path}, line {invalid[0]}"))
    if len(blocks) != runs:
        described = f"{runs} {noun(runs, 'run is', 'runs are')} described"
        reason = f"{described} but {len(blocks)} {noun(len(blocks), 'is', 'are')} there"
        rejected.append(Rejection(abs(runs - len(blocks)), reason, str(path)))
    return blocks


def _point(words: list[str], layout: DataLayout) -> tuple[float, float] | None:
    try:
        t, y = float(words[layout.t_column]), float(words[layout.y_column])
    except (ValueError, IndexError):
        return None
    return (t, y) if isfinite(t) and t >= 0 and isfinite(y) else None


def data_file(description: Path, name: str) -> Path:
    """The data file that a description names, which has to be in its folder or below it."""
    inside = PurePosixPath(posixpath.normpath(name.replace("\\", "/")))
    if inside.is_absolute() or ".." in inside.parts:
        raise ImportFailedError(
            f"{description} names '{name}', which is not in its folder; only files there are read"
        )
    return description.parent / inside
