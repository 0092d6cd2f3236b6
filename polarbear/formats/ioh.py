"""Folders of IOHprofiler, as ``ioh.logger.Analyzer`` writes them.

A JSON file for each function describes its runs; a .dat file for each dimension holds their points,
a header line before every run. The values are current ones, the last row is the last evaluation,
and ten decimals make ties where there are none: the best value is therefore taken from the JSON,
which has all its digits. Of BBOB and SBOX, raw values are distances to the optimum.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from polarbear.errors import ImportFailedError
from polarbear.formats.base import (
    AfterEnd,
    Complaint,
    Imported,
    Point,
    RunFolder,
    files_in,
    ignored,
    imported_points,
    named,
)
from polarbear.formats.bbob import BBOB_NAMES
from polarbear.formats.blocks import beside, check_count, number_or_text, read_blocks
from polarbear.formats.ioh_info import read_info
from polarbear.problems.specs import DIMENSION, FUNCTION, NUMBER, OPTIMUM
from polarbear.settings.options import spelled

USED = ("evaluations", "raw_y")
# How columns of a second objective are called, beside raw_y for the first: F2, y_2, raw_y2, obj 2.
OTHER_OBJECTIVE = re.compile(r"(f|y|raw_y|obj|objective)[ _]?([2-9]|[1-9]\d+)", re.IGNORECASE)
# The analyzer writes 'unknown_suite' unless it was attached to a suite: then names tell.
WITH_OPTIMUM_ZERO = ("bbob", "sbox")


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

    suite: str = ""
    function_id: str
    function_name: str = ""
    maximization: bool
    algorithm: Name
    attributes: list[str]
    experiment_attributes: list[dict[str, Any]] = []
    scenarios: list[Scenario]


class Ioh(RunFolder):
    """A folder that IOHprofiler's Analyzer wrote, of today's or of the older form."""

    def read(self, source: Path) -> Imported:
        return read_ioh(source, self.after_end)


def read_ioh(folder: Path, after_end: AfterEnd = "keeps") -> Imported:
    """All runs in a folder and the folders inside it; each may be another algorithm's."""
    descriptions = files_in(folder, "IOHprofiler_*.json")
    older = files_in(folder, "IOHprofiler_*.info")
    if not descriptions and not older:
        raise ImportFailedError(
            f"{folder} is not a folder of IOHprofiler: there is no IOHprofiler_*.json in it, and "
            "no IOHprofiler_*.info"
        )
    points: list[Point] = []
    complaints: list[Complaint] = []
    repeats: Counter[tuple[str, str]] = Counter()
    known: dict[str, dict[str, Any]] = {}
    directions, unused = set(), dict[str, None]()
    for path in descriptions:
        described = _described(path)
        directions.add(described.maximization)
        unused.update(dict.fromkeys(_unused(path, described)))
        points += _points(path, described, repeats, complaints, known)
    for path in older:
        found, told = read_info(path, repeats, complaints, known, unused)
        points += found
        directions |= told
    if len(directions) > 1:
        raise ImportFailedError(f"{folder} mixes functions to be minimised and to be maximised")
    rounded = "values have ten decimals in .dat files; each run's best value is taken from the JSON"
    notes = (*([rounded] if descriptions else []), *ignored(list(unused), "attribute"))
    maximise = directions.pop() if directions else False
    return imported_points(points, folder, maximise, after_end, complaints, notes, known)


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


def _unused(path: Path, described: Description) -> list[str]:
    """Attributes of points and of the experiment that play no part; objectives are refused."""
    columns = described.attributes
    others = [name for name in columns if OTHER_OBJECTIVE.fullmatch(name)]
    if others or columns.count("raw_y") > 1:
        which = ", ".join(("raw_y", *(others or ["raw_y"])))
        raise ImportFailedError(
            f"{path} has several objectives ({which}), which cannot be ranked as one"
        )
    constant = [name for one in described.experiment_attributes for name in one]
    return [name for name in columns if name not in USED] + constant


def _optimum(described: Description) -> dict[str, float]:
    suite, number = described.suite.lower(), number_or_text(described.function_id)
    named = (
        isinstance(number, int)
        and 1 <= number <= len(BBOB_NAMES)
        and described.function_name == BBOB_NAMES[number - 1]
    )
    told = suite in WITH_OPTIMUM_ZERO or (suite == "unknown_suite" and named)
    return {OPTIMUM: 0.0} if told and not described.maximization else {}


def _points(
    path: Path,
    described: Description,
    repeats: Counter[tuple[str, str]],
    complaints: list[Complaint],
    known: dict[str, dict[str, Any]],
) -> Iterator[Point]:
    algorithm, columns = described.algorithm.name, described.attributes
    if "evaluations" not in columns or "raw_y" not in columns:
        raise ImportFailedError(
            f"{path} has the attributes {named(columns) or 'of no name'}, but 'evaluations' and "
            "'raw_y' are needed"
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
            known[instance] = {
                FUNCTION: number_or_text(described.function_id),
                DIMENSION: number_or_text(scenario.dimension),
                NUMBER: number_or_text(run.instance),
                **_optimum(described),
            }
            for t, y in block:
                exact = run.best is not None and t == run.best.evals
                yield algorithm, instance, t, run.best.y if exact and run.best else y


def _is_header(line: str) -> bool:
    return line.startswith("evaluations")
