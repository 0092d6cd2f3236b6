"""Folders of IOHprofiler, as ``ioh.logger.Analyzer`` writes them.

A JSON file for each function describes its runs; a .dat file for each dimension holds their points,
a header line before every run. The values are current ones, the last row is the last evaluation,
and ten decimals make ties where there are none: the best value is therefore taken from the JSON,
which has all its digits.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from polarbear.errors import ImportFailedError
from polarbear.formats.base import AfterEnd, Complaint, Imported, Point, RunFolder, imported_points
from polarbear.formats.blocks import beside, check_count, read_blocks
from polarbear.settings.options import spelled


class _Part(BaseModel):
    """A part of a description, of which only what is needed here is looked at."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", allow_inf_nan=False, coerce_numbers_to_str=True
    )


class Best(_Part):
    """The best of a run, with all its digits."""

    evals: float
    y: float


class Run(_Part):
    """One run of those whose points stand in a data file."""

    instance: str
    best: Best | None = None


class Scenario(_Part):
    """The runs of one dimension, and the file with their points."""

    dimension: str
    path: str
    runs: list[Run]


class Name(_Part):
    """What an algorithm is called."""

    name: str


class Description(_Part):
    """A file IOHprofiler_*.json."""

    function_id: str
    maximization: bool
    algorithm: Name
    attributes: list[str]
    scenarios: list[Scenario]


class Ioh(RunFolder):
    """A folder that IOHprofiler's Analyzer wrote."""

    def read(self, source: Path) -> Imported:
        return read_ioh(source, self.after_end)


def read_ioh(folder: Path, after_end: AfterEnd = "keeps") -> Imported:
    """All runs in a folder and the folders inside it; each may be another algorithm's."""
    descriptions = sorted(folder.rglob("IOHprofiler_*.json")) if folder.is_dir() else []
    if not descriptions:
        raise ImportFailedError(
            f"{folder} is not a folder of IOHprofiler: there is no IOHprofiler_*.json in it"
        )
    points: list[Point] = []
    complaints: list[Complaint] = []
    repeats: Counter[tuple[str, str]] = Counter()
    directions = set()
    for path in descriptions:
        described = _described(path)
        directions.add(described.maximization)
        points += _points(path, described, repeats, complaints)
    if len(directions) > 1:
        raise ImportFailedError(f"{folder} mixes functions to be minimised and to be maximised")
    rounded = "values have ten decimals in .dat files; each run's best value is taken from the JSON"
    return imported_points(points, folder, directions.pop(), after_end, complaints, (rounded,))


def _described(path: Path) -> Description:
    try:
        return Description.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = spelled(first["loc"])
        raise ImportFailedError(
            f"{path} is not what IOHprofiler writes: {place + ': ' if place else ''}{first['msg']}"
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise ImportFailedError(f"{path} is not what IOHprofiler writes: {error}") from None


def _points(
    path: Path,
    described: Description,
    repeats: Counter[tuple[str, str]],
    complaints: list[Complaint],
) -> Iterator[Point]:
    algorithm, columns = described.algorithm.name, described.attributes
    if "evaluations" not in columns or "raw_y" not in columns:
        raise ImportFailedError(
            f"{path} has the attributes {columns}, but 'evaluations' and 'raw_y' are needed"
        )
    at_t, at_y = columns.index("evaluations"), columns.index("raw_y")
    for scenario in described.scenarios:
        data, runs = beside(path, scenario.path), scenario.runs
        blocks = read_blocks(data, _is_header, at_t, at_y, complaints)
        check_count(len(runs), blocks, data, complaints)
        for run, block in zip(runs, blocks, strict=False):
            base = f"f{described.function_id}-d{scenario.dimension}-i{run.instance}"
            repeats[algorithm, base] += 1
            instance = f"{base}#{repeats[algorithm, base]}"
            for t, y in block:
                exact = run.best is not None and t == run.best.evals
                yield algorithm, instance, t, run.best.y if exact and run.best else y


def _is_header(line: str) -> bool:
    return line.startswith("evaluations")
