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

from polarbear.errors import ImportFailedError
from polarbear.formats.base import (
    AfterEnd,
    Complaint,
    Imported,
    Point,
    RunFolder,
    ignored,
    imported_points,
)
from polarbear.formats.bbob import BBOB_NAMES
from polarbear.formats.blocks import check_count, read_blocks
from polarbear.formats.ioh_info import read_info
from polarbear.problems.base import DIMENSION, FUNCTION, NUMBER, OPTIMUM

USED = ("evaluations", "raw_y")
# How columns of a second objective are called, beside raw_y for the first: F2, y_2, raw_y2, obj 2.
OTHER_OBJECTIVE = re.compile(r"(f|y|raw_y|obj|objective)[ _]?([2-9]|[1-9]\d+)", re.IGNORECASE)
# The analyzer writes 'unknown_suite' unless it was attached to a suite: then names tell.
WITH_OPTIMUM_ZERO = ("bbob", "sbox")


class Ioh(RunFolder):
    """A folder that IOHprofiler's Analyzer wrote, of today's or of the older form."""

    def read(self, source: Path) -> Imported:
        return read_ioh(source, self.after_end)


def read_ioh(folder: Path, after_end: AfterEnd = "keeps") -> Imported:
    """All runs in a folder and the folders inside it; each may be another algorithm's."""
    descriptions = sorted(folder.rglob("IOHprofiler_*.json")) if folder.is_dir() else []
    older = sorted(folder.rglob("IOHprofiler_*.info")) if folder.is_dir() else []
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
        facts = _described(path)
        try:
            directions.add(bool(facts["maximization"]))
            unused.update(dict.fromkeys(_unused(path, facts)))
            points += _points(path, facts, repeats, complaints, known)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ImportFailedError(f"{path} is not what IOHprofiler writes: {error}") from None
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


def _described(path: Path) -> dict[str, Any]:
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        for key in ("function_id", "maximization", "algorithm", "attributes", "scenarios"):
            facts[key]
        return facts  # type: ignore[no-any-return]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ImportFailedError(f"{path} is not what IOHprofiler writes: {error}") from None


def _unused(path: Path, facts: dict[str, Any]) -> list[str]:
    """Attributes of points and of the experiment that play no part; objectives are refused."""
    columns = [str(column) for column in facts["attributes"]]
    others = [name for name in columns if OTHER_OBJECTIVE.fullmatch(name)]
    if others or columns.count("raw_y") > 1:
        which = ", ".join(("raw_y", *(others or ["raw_y"])))
        raise ImportFailedError(
            f"{path} has several objectives ({which}), which cannot be ranked as one"
        )
    constant = [name for one in facts.get("experiment_attributes") or () for name in one]
    return [name for name in columns if name not in USED] + constant


def _optimum(facts: dict[str, Any]) -> dict[str, float]:
    suite, number = str(facts.get("suite", "")).lower(), facts["function_id"]
    named = (
        isinstance(number, int)
        and 1 <= number <= len(BBOB_NAMES)
        and facts.get("function_name") == BBOB_NAMES[number - 1]
    )
    told = suite in WITH_OPTIMUM_ZERO or (suite == "unknown_suite" and named)
    return {OPTIMUM: 0.0} if told and not facts["maximization"] else {}


def _points(
    path: Path,
    facts: dict[str, Any],
    repeats: Counter[tuple[str, str]],
    complaints: list[Complaint],
    known: dict[str, dict[str, Any]],
) -> Iterator[Point]:
    algorithm = str(facts["algorithm"]["name"])
    columns = facts["attributes"]
    if "evaluations" not in columns or "raw_y" not in columns:
        raise ImportFailedError(
            f"{path} has the attributes {columns}, but 'evaluations' and 'raw_y' are needed"
        )
    at_t, at_y = columns.index("evaluations"), columns.index("raw_y")
    for scenario in facts["scenarios"]:
        data, runs = path.parent / scenario["path"], scenario["runs"]
        blocks = read_blocks(data, _is_header, at_t, at_y, complaints)
        check_count(len(runs), blocks, data, complaints)
        for run, block in zip(runs, blocks, strict=False):
            base = f"f{facts['function_id']}-d{scenario['dimension']}-i{run['instance']}"
            repeats[algorithm, base] += 1
            instance = f"{base}#{repeats[algorithm, base]}"
            known[instance] = {
                FUNCTION: facts["function_id"],
                DIMENSION: scenario["dimension"],
                NUMBER: run["instance"],
                **_optimum(facts),
            }
            best = run.get("best", {})
            for t, y in block:
                exact = t == best.get("evals")
                yield algorithm, instance, t, float(best["y"]) if exact else y


def _is_header(line: str) -> bool:
    return line.startswith("evaluations")
