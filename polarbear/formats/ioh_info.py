"""IOHprofiler's older folders: an .info file for each function, quoted headers in .dat files.

    suite = 'PBO', funcId = 10, DIM = 100, algId = '(1+1) fGA'
    %
    data_f10/IOHprofiler_f10_DIM100.dat, 1:1953125|5.59000e+02, 1:1953125|5.49000e+02

The best value so far is in a column of its own. Whether it grows or falls tells which is better.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polarbear.errors import ImportFailedError
from polarbear.formats.base import Complaint, Point, named
from polarbear.formats.blocks import Points, beside, check_count, number_or_text, read_blocks
from polarbear.problems.specs import DIMENSION, FUNCTION, NUMBER

BEGIN = '"function evaluation"'
BEST = "best-so-far f(x)"
SETTING = re.compile(r"""(\w+)\s*=\s*(?:'([^']*)'|"([^"]*)"|([^,\s]+))""")


@dataclass(frozen=True)
class Described:
    """The runs of one algorithm on one function in one dimension."""

    algorithm: str
    function: int | str
    dimension: int
    data: Path
    instances: list[int | str]
    maximise: bool | None


def read_info(
    path: Path,
    repeats: Counter[tuple[str, str]],
    complaints: list[Complaint],
    known: dict[str, dict[str, Any]],
    unused: dict[str, None],
) -> tuple[list[Point], set[bool]]:
    """The points of an .info file's runs, and whether larger or smaller is better there."""
    points: list[Point] = []
    directions: set[bool] = set()
    for described in _described(path):
        columns = _columns(described.data)
        at = columns.index(BEST)
        unused.update(dict.fromkeys(name for name in columns[1:] if name != BEST))
        blocks = read_blocks(described.data, lambda line: line.startswith(BEGIN), 0, at, complaints)
        check_count(len(described.instances), blocks, described.data, complaints)
        direction = described.maximise if described.maximise is not None else _grows(blocks)
        if direction is not None:
            directions.add(direction)
        for instance, block in zip(described.instances, blocks, strict=False):
            base = f"f{described.function}-d{described.dimension}-i{instance}"
            repeats[described.algorithm, base] += 1
            name = f"{base}#{repeats[described.algorithm, base]}"
            known[name] = {
                FUNCTION: described.function,
                DIMENSION: described.dimension,
                NUMBER: instance,
            }
            points += [(described.algorithm, name, t, y) for t, y in block]
    return points, directions


def _described(path: Path) -> Iterator[Described]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ImportFailedError(f"cannot read {path}: {error}") from None
    head, rest = "", ""
    for line in [*(one.strip() for one in lines), "funcId ="]:  # the last ends the one before
        if not line or line.startswith("%"):
            continue
        if "funcId" in line and "=" in line:
            if head:
                yield _one(path, head, rest)
            head, rest = line, ""
        elif head:
            rest += f" {line}"  # a long list of runs may go on in further lines
        else:
            raise ImportFailedError(f"{path} is not what IOHprofiler writes: {line[:80]!r}")


def _one(path: Path, head: str, rest: str) -> Described:
    settings = {key: a or b or c for key, a, b, c in SETTING.findall(head)}
    name, *runs = [part.strip() for part in rest.split(",") if part.strip()] or [""]
    missing = [key for key in ("funcId", "DIM", "algId") if not settings.get(key)]
    if missing or not name or not settings["DIM"].isdecimal():
        raise ImportFailedError(f"{path} is not what IOHprofiler writes: {head[:80]!r}")
    told = settings.get("maximization")
    return Described(
        settings["algId"],
        number_or_text(settings["funcId"]),
        int(settings["DIM"]),
        beside(path, name),
        [number_or_text(run.partition(":")[0].strip()) for run in runs],
        None if told is None else told.upper().startswith("T"),
    )


def _columns(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8") as file:
            header = file.readline()
    except (OSError, UnicodeDecodeError) as error:
        raise ImportFailedError(
            f"cannot read {path}, which its description names: {error}"
        ) from None
    columns = re.findall(r'"([^"]*)"', header)
    if not header.startswith(BEGIN) or BEST not in columns:
        raise ImportFailedError(
            f"{path} has the columns {named(columns) or 'of no name'}, but "
            f"'function evaluation' and '{BEST}' are needed"
        )
    return columns


def _grows(blocks: list[Points]) -> bool | None:
    """Whether best values get larger; None where no run improves."""
    signs = {
        block[-1][1] > block[0][1] for block in blocks if block and block[-1][1] != block[0][1]
    }
    return signs.pop() if len(signs) == 1 else None
