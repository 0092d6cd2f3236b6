"""Folders of COCO, as its observer writes them for suites with one objective.

An .info file for each function describes its runs; beside it, .dat files hold points at which
targets were hit, and .tdat files points at fixed numbers of evaluations. Together they are the
trajectory, as far as COCO keeps it. The third column is the best noise-free
value, less the optimum: what is imported are distances, whose optimum is 0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polarbear.errors import ImportFailedError
from polarbear.formats.base import (
    AfterEnd,
    Complaint,
    Imported,
    Point,
    RunFolder,
    files_in,
    imported_points,
)
from polarbear.formats.blocks import Points, beside, check_count, number_or_text, read_blocks
from polarbear.problems.specs import DIMENSION, FUNCTION, NUMBER, OPTIMUM

EVALUATIONS_COLUMN, BEST_COLUMN = 0, 2


@dataclass(frozen=True)
class Described:
    """The runs of one algorithm on one function in one dimension."""

    algorithm: str
    function: str
    dimension: str
    data: Path
    instances: list[str]


class Coco(RunFolder):
    """A folder that COCO's observer wrote."""

    def read(self, source: Path) -> Imported:
        return read_coco(source, self.after_end)


def read_coco(folder: Path, after_end: AfterEnd = "keeps") -> Imported:
    """All runs in a folder and the folders inside it; each may be another algorithm's."""
    descriptions = files_in(folder, "*.info")
    if not descriptions:
        raise ImportFailedError(f"{folder} is not a folder of COCO: there is no .info file in it")
    points: list[Point] = []
    complaints: list[Complaint] = []
    repeats: Counter[tuple[str, str]] = Counter()
    known: dict[str, dict[str, Any]] = {}
    for path in descriptions:
        for described in _described(path):
            points += _points(described, repeats, complaints, known)
    note = "between the points that COCO keeps, an improvement may have come earlier than it seems"
    distances = "values are distances to the optimum, which is 0"
    return imported_points(points, folder, False, after_end, complaints, (note, distances), known)


def _described(path: Path) -> Iterator[Described]:
    """Groups of three lines: settings, a comment, the data file with its instances."""
    try:
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise ImportFailedError(f"cannot read {path}: {error}") from None
    head = None
    for line in lines:
        if line.lstrip().startswith("%"):
            continue
        if "funcId" in line or "function =" in line:
            head = line
            continue
        found = head and _settings(head)
        if not found:
            raise ImportFailedError(f"{path} is not what COCO writes: {line[:80]!r}")
        if "biobj" in (head or ""):
            raise ImportFailedError(f"{path} has two objectives, which cannot be ranked as one")
        name, *runs = (part.strip() for part in line.split(","))
        yield Described(*found, beside(path, name), [run.partition(":")[0] for run in runs])


def _settings(head: str) -> tuple[str, str, str] | None:
    found = [
        re.search(pattern, head)
        for pattern in (r"algId = '([^']*)'", r"func(?:Id|tion) = '?(\w+)", r"DIM = (\d+)")
    ]
    if not all(found):
        return None
    algorithm, function, dimension = (match[1] for match in found if match)
    return algorithm, function, dimension


def _points(
    described: Described,
    repeats: Counter[tuple[str, str]],
    complaints: list[Complaint],
    known: dict[str, dict[str, Any]],
) -> Iterator[Point]:
    files = [described.data, described.data.with_name(f"{described.data.stem}.tdat")]
    for instance, runs in zip(
        described.instances,
        zip(*(_runs(path, described, complaints) for path in files if path.exists()), strict=False),
        strict=False,
    ):
        base = f"f{described.function}-d{described.dimension}-i{instance}"
        repeats[described.algorithm, base] += 1
        name = f"{base}#{repeats[described.algorithm, base]}"
        known[name] = {
            FUNCTION: number_or_text(described.function),
            DIMENSION: int(described.dimension),
            NUMBER: number_or_text(instance),
            OPTIMUM: 0.0,
        }
        for t, y in (point for run in runs for point in run):
            yield described.algorithm, name, t, y


def _runs(path: Path, described: Described, complaints: list[Complaint]) -> list[Points]:
    blocks = read_blocks(
        path, lambda line: line.startswith("%"), EVALUATIONS_COLUMN, BEST_COLUMN, complaints
    )
    check_count(len(described.instances), blocks, path, complaints)
    return blocks
