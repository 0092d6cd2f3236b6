"""Folders of IOHprofiler, as ``ioh.logger.Analyzer`` writes them.

A JSON file for each function describes its runs; a .dat file for each dimension has their points,
with a header line before every run. The values are current ones, and the last row is the last
evaluation. They have ten decimals, which creates ties: the best value is therefore taken from the
JSON, which has all digits. Raw values of BBOB and SBOX are distances to the optimum.

Older versions write an .info file instead, and the best value so far in a column of the .dat file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from polarbear import __version__
from polarbear.errors import ImportFailedError
from polarbear.formats.base import (
    AFTER_END,
    OPTIMUM_OPTION,
    AfterEnd,
    Export,
    Format,
    Imported,
    RunCollection,
    Written,
    files_in,
    ignored,
    named,
)
from polarbear.formats.numbered_functions import (
    BBOB_NAMES,
    Function,
    NumberedRun,
    NumberedRuns,
    numbered_runs,
)
from polarbear.formats.run_files import (
    NOTHING_FOUND,
    Block,
    DataLayout,
    data_file,
    instance_facts,
    problem_name,
    read_blocks,
    read_info,
    read_lines,
)
from polarbear.formats.store_export import file_name, file_names
from polarbear.problems.specs import OPTIMUM
from polarbear.settings.options import spelled
from polarbear.store import Store
from polarbear.wording import counted

TOOL = "IOHprofiler"
USED = ("evaluations", "raw_y")
# Names of columns of a second objective, next to raw_y for the first: F2, y_2, raw_y2, obj 2.
OTHER_OBJECTIVE = re.compile(r"(f|y|raw_y|obj|objective)[ _]?([2-9]|[1-9]\d+)", re.IGNORECASE)
SUITES_WITH_OPTIMUM_ZERO = ("bbob", "sbox")
NO_SUITE = "unknown_suite"  # of an analyzer that is not attached to a suite
SUITES = {"bbob": "BBOB", "sbox": "SBOX", "pbo": "PBO"}
OLD_HEADER = '"function evaluation"'
OLD_BEST = "best-so-far f(x)"


class _Part(BaseModel):
    """A part of a description; keys that are not used are ignored."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", allow_inf_nan=False, coerce_numbers_to_str=True
    )


class Best(_Part):
    """The best point of a run, with all digits."""

    evals: float
    y: float


class Run(_Part):
    """One run in a data file."""

    instance: str
    best: Best | None = None


class Scenario(_Part):
    """The runs in one dimension, and the file with their points."""

    dimension: str
    path: str
    runs: list[Run]


class AlgorithmName(_Part):
    name: str


class Description(_Part):
    """A file IOHprofiler_*.json."""

    suite: str = ""
    function_id: str
    function_name: str = ""
    maximization: bool
    algorithm: AlgorithmName
    attributes: list[str]
    experiment_attributes: list[dict[str, object]] = []
    scenarios: list[Scenario]

    @property
    def has_optimum_zero(self) -> bool:
        suite, number = self.suite.lower(), self.function_id
        is_bbob_name = (
            number in map(str, range(1, len(BBOB_NAMES) + 1))
            and self.function_name == BBOB_NAMES[int(number) - 1]
        )
        known = suite in SUITES_WITH_OPTIMUM_ZERO or (suite == NO_SUITE and is_bbob_name)
        return known and not self.maximization


class Ioh(Format):
    """A folder that IOHprofiler's Analyzer wrote, in the current or the older format."""

    after_end: AfterEnd = AFTER_END

    def read(self, source: Path) -> Imported:
        descriptions = files_in(source, "IOHprofiler_*.json")
        older = files_in(source, "IOHprofiler_*.info")
        if not descriptions and not older:
            raise ImportFailedError(
                f"{source} is not a folder of IOHprofiler: there is no IOHprofiler_*.json in it, "
                "and no IOHprofiler_*.info"
            )
        runs = RunCollection(source)
        directions: set[bool] = set()  # whether larger values are better
        unused: dict[str, None] = {}
        for path in descriptions:
            described = _description(path)
            directions.add(described.maximization)
            unused.update(dict.fromkeys(_unused(path, described)))
            _add_runs(path, described, runs)
        for path in older:
            directions.update(_add_older_runs(path, runs, unused))
        if len(directions) > 1:
            raise ImportFailedError(f"{source} mixes functions to be minimised and maximised")
        note = "values have ten decimals in .dat files; each run's best is taken from the JSON"
        notes = (*([note] if descriptions else []), *ignored(list(unused), "attribute"))
        return runs.imported(directions == {True}, self.after_end, notes)


def _description(path: Path) -> Description:
    try:
        return Description.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = spelled(first["loc"])
        reason = f"{place + ': ' if place else ''}{first['msg']}"
    except (OSError, ValueError, RecursionError) as error:
        reason = str(error)
    raise ImportFailedError(f"{path} is not written by {TOOL}: {reason}")


def _unused(path: Path, described: Description) -> list[str]:
    """Attributes that are not used; several objectives are refused."""
    columns = described.attributes
    others = [name for name in columns if OTHER_OBJECTIVE.fullmatch(name)]
    if others or columns.count("raw_y") > 1:
        which = ", ".join(("raw_y", *(others or ["raw_y"])))
        raise ImportFailedError(
            f"{path} has several objectives ({which}); only single-objective runs can be ranked"
        )
    constant = [name for one in described.experiment_attributes for name in one]
    return [name for name in columns if name not in USED] + constant


def _add_runs(path: Path, described: Description, runs: RunCollection) -> None:
    columns = described.attributes
    if not set(USED) <= set(columns):
        raise ImportFailedError(
            f"{path} has the attributes {named(columns) or '(none)'}, but 'evaluations' and "
            "'raw_y' are needed"
        )
    layout = DataLayout("evaluations", *(columns.index(name) for name in USED))
    optimum = {OPTIMUM: 0.0} if described.has_optimum_zero else {}
    for scenario in described.scenarios:
        data, number = data_file(path, scenario.path), len(scenario.runs)
        blocks = read_blocks(data, layout, number, runs.rejected)
        for run, block in zip(scenario.runs, blocks, strict=False):
            facts = instance_facts(described.function_id, scenario.dimension, run.instance)
            points = _with_exact_best(block, run.best)
            runs.add(described.algorithm.name, problem_name(facts), points, {**facts, **optimum})


def _with_exact_best(block: Block, best: Best | None) -> Block:
    return [(t, best.y if best is not None and t == best.evals else y) for t, y in block]


def _add_older_runs(path: Path, runs: RunCollection, unused: dict[str, None]) -> Iterator[bool]:
    """Add the runs of an .info file; yields whether larger values are better, where known."""
    for group in read_info(path, TOOL):
        header = next(iter(read_lines(group.data)), "")
        columns = re.findall(r'"([^"]*)"', header)
        if not header.startswith(OLD_HEADER) or OLD_BEST not in columns:
            raise ImportFailedError(
                f"{group.data} has the columns {named(columns) or '(none)'}, but "
                f"'function evaluation' and '{OLD_BEST}' are needed"
            )
        unused.update(dict.fromkeys(name for name in columns[1:] if name != OLD_BEST))
        layout = DataLayout(OLD_HEADER, 0, columns.index(OLD_BEST))
        blocks = read_blocks(group.data, layout, len(group.instances), runs.rejected)
        stated = group.settings.get("maximization")
        # Where the direction is not stated, the sign of the improvements shows it.
        ends = [(block[0][1], block[-1][1]) for block in blocks if block]
        signs = {last > first for first, last in ends if last != first}
        if stated is not None:
            yield stated.upper().startswith("T")
        elif len(signs) == 1:
            yield signs.pop()
        for instance, block in zip(group.instances, blocks, strict=False):
            facts = group.facts(instance)
            runs.add(group.algorithm, problem_name(facts), block, facts)


class IohExport(Export):
    """A folder for IOHanalyzer and iohinspector, with all digits."""

    optimum: float | None = OPTIMUM_OPTION

    def write(self, store: Store, algorithms: tuple[str, ...], place: Path) -> Written:
        found = numbered_runs(store, algorithms, TOOL, self.optimum)
        suite = SUITES.get(store.config["instances"]["suite"], NO_SUITE)
        for algorithm, folder in file_names(algorithms).items():
            for parts in found.by_function(algorithm):
                _write_function(place / folder, algorithm, suite, parts, found)
        return Written(counted(len(found.runs), "run"), found.notes)


def _write_function(
    folder: Path,
    algorithm: str,
    suite: str,
    parts: dict[Function, list[NumberedRun]],
    found: NumberedRuns,
) -> None:
    first = next(iter(parts))
    label = f"f{first.number}_{file_name(first.name)}"
    (folder / f"data_{label}").mkdir(parents=True, exist_ok=True)
    scenarios = []
    for function, runs in parts.items():
        path = f"data_{label}/IOHprofiler_f{function.number}_DIM{function.dimension}.dat"
        nothing = -NOTHING_FOUND if found.maximise else NOTHING_FOUND
        lines = [line for run in runs for line in ("evaluations raw_y", *_rows(run, nothing))]
        (folder / path).write_text("\n".join([*lines, ""]), encoding="utf-8")
        described = [
            {
                "instance": run.instance,
                "evals": run.reached,
                "best": {"evals": int(run.t[-1]), "y": float(run.y[-1]), "x": []},
            }
            for run in runs
        ]
        scenarios.append({"dimension": function.dimension, "path": path, "runs": described})
    facts = {
        "version": f"polarbear {__version__}",
        "suite": suite,
        "function_id": first.number,
        "function_name": first.name,
        "maximization": found.maximise,
        "algorithm": {"name": algorithm, "info": ""},
        "attributes": list(USED),
        "scenarios": scenarios,
    }
    text = json.dumps(facts, indent=1, ensure_ascii=False)
    (folder / f"IOHprofiler_{label}.json").write_text(text + "\n", encoding="utf-8")


def _rows(run: NumberedRun, nothing: float) -> Iterator[str]:
    return (f"{t:.0f} {y!r}" for t, y in run.points(nothing))
