"""Scenarios of ASlib: runs that solve an instance or do not, with the features of instances.

A scenario is a folder with ``description.txt``, ``algorithm_runs.arff`` and perhaps
``feature_values.arff`` and ``feature_costs.arff``. Its runs have no trajectories. Where its measure
is a runtime, a run has the value 0 from the time on at which it solved the instance, and none
before: who is first has solved it earlier. Other measures are values at the end of a run.
"""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from polarbear.errors import ImportFailedError
from polarbear.execution.outcome import Status
from polarbear.formats import base, limits
from polarbear.formats.feature_columns import feature_table
from polarbear.problems.instance_features import GivenFeatures, given_features
from polarbear.problems.specs import PROBLEM
from polarbear.settings.enumerations import AfterEnd
from polarbear.settings.grid import EVALUATIONS, SECONDS

DESCRIPTION = "description.txt"
RUNS = "algorithm_runs.arff"
VALUES = "feature_values.arff"
COSTS = "feature_costs.arff"
INSTANCE = "instance_id"
REPETITION = "repetition"
ALGORITHM = "algorithm"
RUN_STATUS = "runstatus"
RUNTIME = "runtime"
SOLVED = 0.0  # the value of a run that has solved its instance
SHORTEST_SECONDS = 1e-3  # a time of the grid is above 0, and some runtimes are not
MISSING = "?"
MAX_DESCRIPTION_BYTES = 2**22
# How runs end that did not solve their instance. They keep the last place.
STATUS_OF = {"crash": Status.CRASHED, "memout": Status.CRASHED}

ArffRow = dict[str, str | None]


@dataclass(frozen=True)
class Description:
    """What the description of a scenario says: its first measure, and the steps of features."""

    measure: str
    is_runtime: bool
    maximise: bool
    cutoff: float | None
    features_of_step: Mapping[str, tuple[str, ...]]


class Aslib(base.Format):
    """A scenario of ASlib: a folder of runs with features of instances and their costs."""

    def read(self, source: Path) -> base.Imported:
        paths = base.files_in(source, "ASlib", DESCRIPTION)
        folder = paths[0].parent
        names = (RUNS, VALUES, COSTS)
        files = {name: folder / name for name in names if (folder / name).is_file()}
        if RUNS not in files:
            raise ImportFailedError(f"{folder} is not a scenario of ASlib: it lacks {RUNS}")
        limits.check_text_files([paths[0], *files.values()], source)
        try:
            description = _description(paths[0])
            imported = _runs(files[RUNS], description)
            features = _features(files, description, imported)
        except (csv.Error, *base.INVALID) as error:
            reason = str(error).partition("\n")[0][:200]
            raise ImportFailedError(f"{folder} is not a valid scenario: {reason}") from None
        return replace(imported, features=features)


def _description(path: Path) -> Description:
    """The content of a description, which is YAML."""
    limits.check(path.stat().st_size, MAX_DESCRIPTION_BYTES, "bytes", path, "is it ASlib's?")
    try:
        facts = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError:
        raise ImportFailedError(f"{path} is not YAML, as ASlib's descriptions are") from None
    if not isinstance(facts, Mapping) or "performance_measures" not in facts:
        raise ImportFailedError(f"{path} has no 'performance_measures'")
    cutoff = facts.get("algorithm_cutoff_time")
    steps = facts.get("feature_steps") or {}
    return Description(
        measure=str(_first(facts["performance_measures"])),
        is_runtime=_first(facts.get("performance_type")) == RUNTIME,
        maximise=str(_first(facts.get("maximize"))).lower() == "true",
        cutoff=None if cutoff in (None, MISSING) else float(cutoff),
        features_of_step={
            str(step): tuple(map(str, (entry or {}).get("provides") or ()))
            for step, entry in steps.items()
        },
    )


def _first(value: Any) -> Any:
    """The first of a list, or the value itself."""
    return value[0] if isinstance(value, list) else value


def _runs(path: Path, description: Description) -> base.Imported:
    """The runs of a scenario; rows without a result are rejected."""
    rejected: list[base.Rejection] = []
    records = []
    repetitions: dict[str, set[str]] = {}
    for line, row in enumerate(_rows(path), 1):
        instance = row[INSTANCE]
        repetition = row.get(REPETITION) or "1"
        if instance is None:
            raise ValueError(f"row {line} of {path.name} has no {INSTANCE}")
        repetitions.setdefault(instance, set()).add(repetition)
        record = _record(row, description)
        records.append({"line": str(line), "of": instance, REPETITION: repetition, **record})
    is_repeated = any(len(numbers) > 1 for numbers in repetitions.values())
    for record in records:
        name = record["of"]
        record["instance"] = f"{name}#{record[REPETITION]}" if is_repeated else name
    schema = {
        "line": pl.String,
        "of": pl.String,
        "algorithm": pl.String,
        "instance": pl.String,
        "t": pl.Float64,
        "y": pl.Float64,
        "status": pl.String,
    }
    frame = pl.DataFrame(records, schema=schema, orient="row")
    frame = base.reject_names(frame, rejected)
    frame = base.reject(frame, pl.col("t").is_null(), "there is no result", rejected)
    if frame.is_empty():
        raise ImportFailedError(f"no run in {path} has a result")
    facts: dict[str, base.SpecEntries] = {}
    for name, instance in frame.select("of", "instance").unique().rows():
        if name != instance:
            facts[instance] = {PROBLEM: name}
    imported = base.imported_frame(frame, facts, description.maximise, AfterEnd.KEEPS, "best")
    return replace(
        imported,
        rejected=tuple(rejected),
        axis=SECONDS if description.is_runtime else EVALUATIONS,
    )


def _record(row: ArffRow, description: Description) -> dict[str, Any]:
    """The algorithm of a run, its last time, its value, and how it ended."""
    measured = row.get(description.measure)
    number = None if measured is None else float(measured)
    if number is not None and not isfinite(number):
        number = None
    run_status = (row.get(RUN_STATUS) or "ok").lower()
    is_solved = run_status == "ok" and number is not None
    t: float | None = 1.0
    value = number
    if description.is_runtime:
        value = SOLVED if is_solved else None
        t = number if is_solved or description.cutoff is None else description.cutoff
        t = None if t is None else max(t, SHORTEST_SECONDS)
    elif number is None:
        t = None
    status = Status.ENDED if is_solved else STATUS_OF.get(run_status, Status.ENDED)
    return {"algorithm": row[ALGORITHM], "t": t, "y": value, "status": status.value}


def _features(
    files: Mapping[str, Path], description: Description, imported: base.Imported
) -> pl.DataFrame | None:
    """The features of the imported instances; of several repetitions the first one counts."""
    if VALUES not in files:
        return None
    costs = _costs(files.get(COSTS), description)
    features_by_instance: dict[str, GivenFeatures] = {}
    for row in _rows(files[VALUES]):
        name = row.pop(INSTANCE)
        row.pop(REPETITION, None)
        if name is not None and name not in features_by_instance:
            values = {feature: _number_or_text(text) for feature, text in row.items()}
            features_by_instance[name] = given_features(values, costs.get(name, 0.0))
    return feature_table(features_by_instance, imported.instances)


def _costs(path: Path | None, description: Description) -> dict[str, float]:
    """The cost of all features of each instance, which is known where runtimes are measured."""
    if path is None or not description.is_runtime:
        return {}
    costs: dict[str, float] = {}
    for row in _rows(path):
        name = row.pop(INSTANCE)
        row.pop(REPETITION, None)
        if name is not None and name not in costs:
            costs[name] = sum(float(text) for text in row.values() if text is not None)
    return costs


def _number_or_text(text: str | None) -> float | str | None:
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return text


def _rows(path: Path) -> Iterator[ArffRow]:
    """The rows of an ARFF file by the names of its attributes; a question mark is None."""
    names: list[str] = []
    lines = base.read_lines(path)
    for line in lines:
        word, _, rest = line.partition(" ")
        if word.lower() == "@attribute":
            names.append(_attribute(rest.strip()))
        elif word.lower() == "@data":
            break
    limits.check(len(names), limits.MAX_COLUMNS, "attributes", path, "is it ASlib's?")
    rows = (line for line in lines if line and not line.startswith("%"))
    for row in csv.reader(rows, quotechar="'", skipinitialspace=True):
        if len(row) != len(names):
            raise ValueError(f"{path.name} has {len(names)} attributes, but a row of {len(row)}")
        texts = (text.strip().strip('"') for text in row)
        yield {
            name: None if text in ("", MISSING) else text
            for name, text in zip(names, texts, strict=True)
        }


def _attribute(declaration: str) -> str:
    """The name in a declaration, perhaps in quotes, before its type."""
    quote = declaration[:1]
    if quote in ("'", '"'):
        return declaration[1:].partition(quote)[0]
    return declaration.split(maxsplit=1)[0]
