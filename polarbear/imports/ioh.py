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
from typing import Any

import polars as pl

from polarbear.errors import ImportFailedError
from polarbear.imports.base import AfterEnd, Complaint, Imported, runs_from_points

Point = tuple[str, str, float, float]


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
        facts = _described(path)
        directions.add(bool(facts["maximization"]))
        points += _points(path, facts, repeats, complaints)
    if len(directions) > 1:
        raise ImportFailedError(f"{folder} mixes functions to be minimised and to be maximised")
    if not points:
        raise ImportFailedError(f"no run in {folder} has a row that makes sense")
    names = ["algorithm", "instance", "t", "y"]
    frame = pl.DataFrame(points, schema=names, orient="row")
    order = frame["instance"].unique(maintain_order=True).to_list()
    outcomes, instances = runs_from_points(frame, directions.pop(), after_end, order)
    rounded = "values have ten decimals in .dat files; each run's best value is taken from the JSON"
    return Imported(
        tuple(frame["algorithm"].unique(maintain_order=True)),
        instances,
        (float(frame["t"].min()), float(frame["t"].max())),  # type: ignore[arg-type]
        outcomes,
        complaints=tuple(complaints),
        notes=(rounded,),
    )


def _described(path: Path) -> dict[str, Any]:
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        for key in ("function_id", "maximization", "algorithm", "attributes", "scenarios"):
            facts[key]
        return facts  # type: ignore[no-any-return]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ImportFailedError(f"{path} is not what IOHprofiler writes: {error}") from None


def _points(
    path: Path,
    facts: dict[str, Any],
    repeats: Counter[tuple[str, str]],
    complaints: list[Complaint],
) -> Iterator[Point]:
    algorithm = str(facts["algorithm"]["name"])
    columns = facts["attributes"]
    if "evaluations" not in columns or "raw_y" not in columns:
        raise ImportFailedError(
            f"{path} has the attributes {columns}, but 'evaluations' and 'raw_y' are needed"
        )
    for scenario in facts["scenarios"]:
        data = path.parent / scenario["path"]
        blocks = list(_blocks(data, columns, complaints))
        runs = scenario["runs"]
        if len(blocks) != len(runs):
            reason = f"{len(runs)} runs are described but {len(blocks)} are there"
            complaints.append(Complaint(abs(len(runs) - len(blocks)), reason, str(data)))
        for run, block in zip(runs, blocks, strict=False):
            base = f"f{facts['function_id']}-d{scenario['dimension']}-i{run['instance']}"
            repeats[algorithm, base] += 1
            instance = f"{base}#{repeats[algorithm, base]}"
            best = run.get("best", {})
            for t, y in block:
                exact = t == best.get("evals")
                yield algorithm, instance, t, float(best["y"]) if exact else y


def _blocks(
    path: Path, columns: list[str], complaints: list[Complaint]
) -> Iterator[list[tuple[float, float]]]:
    """The points of each run of a .dat file."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ImportFailedError(
            f"cannot read {path}, which the JSON beside it names: {error}"
        ) from None
    at_t, at_y = columns.index("evaluations"), columns.index("raw_y")
    block: list[tuple[float, float]] | None = None
    bad: list[int] = []
    for number, line in enumerate(lines, 1):
        words = line.split()
        if words[:1] == ["evaluations"]:
            if block is not None:
                yield block
            block = []
            continue
        try:
            point = float(words[at_t]), float(words[at_y])
        except (ValueError, IndexError):
            if words:
                bad.append(number)
            continue
        if block is None or point[0] != point[0] or point[1] != point[1]:
            bad.append(number)
        else:
            block.append(point)
    if block is not None:
        yield block
    if bad:
        first = f"{path}, line {bad[0]}"
        complaints.append(
            Complaint(len(bad), "the row is not a number of evaluations and a value", first)
        )
