"""Folders of IOHprofiler, as ``ioh.logger.Analyzer`` writes them.

A JSON file for each function describes its runs; a .dat file for each dimension has their points,
with a header line before every run. The values are current ones, and the last row is the last
evaluation. They have ten decimals, which creates ties: the best value is therefore taken from the
JSON, which has all digits. Raw values of BBOB and SBOX are distances to the optimum.
"""

import json
import re
from math import isfinite
from pathlib import Path
from typing import ClassVar

from polarbear import __version__
from polarbear.errors import ImportFailedError
from polarbear.formats import base, limits
from polarbear.formats.numbered_runs import (
    BBOB_NAMES,
    NOTHING_FOUND,
    STOPPED_ON_PURPOSE,
    Block,
    NumberedRun,
    NumberedRuns,
    add_run,
    data_file,
    numbered_runs,
    read_blocks,
)
from polarbear.formats.transfer import file_name, file_names
from polarbear.settings.enumerations import AfterEnd
from polarbear.store import StoreOnDisk
from polarbear.store.file_io import JsonObject
from polarbear.wording import counted

TOOL = "IOHprofiler"
USED = ("evaluations", "raw_y")
# Names of columns of a second objective, next to raw_y for the first: F2, y_2, raw_y2, obj 2.
OTHER_OBJECTIVE = re.compile(r"(f|y|raw_y|obj|objective)[ _]?([2-9]|[1-9]\d+)", re.IGNORECASE)
SUITES_WITH_OPTIMUM_ZERO = ("bbob", "sbox")
NO_SUITE = "unknown_suite"  # the suite's name if the analyzer is not attached to one
BBOB_FUNCTIONS = {(str(number), name) for number, name in enumerate(BBOB_NAMES, 1)}
SUITES = {"bbob": "BBOB", "sbox": "SBOX", "pbo": "PBO"}


class Ioh(base.Format):
    """A folder that IOHprofiler's Analyzer wrote."""

    after_end: AfterEnd = base.AFTER_END

    def read(self, source: Path) -> base.Imported:
        paths = base.files_in(source, TOOL, "IOHprofiler_*.json")
        data_files = sorted(path for path in source.rglob("*.dat") if path.is_file())
        limits.check_text_files(data_files, source)
        runs = base.RunCollection(source)
        directions: set[bool] = set()  # whether larger values are better
        unused: dict[str, None] = {}
        notes_of_files: dict[str, None] = {}
        for path in paths:
            try:
                described = limits.read_json(path)
                directions.add(described["maximization"])
                unused.update(dict.fromkeys(_unused(path, described)))
                _add_runs(path, described, runs)
                info = described["algorithm"].get("info")
                if isinstance(info, str) and info.endswith(STOPPED_ON_PURPOSE):
                    notes_of_files[info] = None
            except base.INVALID as error:
                reason = f"{type(error).__name__}: {error}"
                raise ImportFailedError(f"{path} is not written by {TOOL}: {reason}") from None
        if len(directions) > 1:
            raise ImportFailedError(f"{source} mixes functions to be minimised and maximised")
        note = "values have ten decimals in .dat files; each run's best is taken from the JSON"
        notes = (note, *notes_of_files, *base.ignored(list(unused), "attribute"))
        return runs.imported(directions == {True}, self.after_end, notes)


def _unused(path: Path, described: JsonObject) -> list[str]:
    """Attributes that are not used; several objectives are refused."""
    columns = list(map(str, described["attributes"]))
    others = [name for name in columns if OTHER_OBJECTIVE.fullmatch(name)]
    if others or columns.count("raw_y") > 1:
        objectives = ", ".join(("raw_y", *(others or ["raw_y"])))
        raise ImportFailedError(
            f"{path} has several objectives ({objectives}); only single-objective runs can be "
            "ranked"
        )
    if not set(USED) <= set(columns):
        raise ImportFailedError(
            f"{path} has the attributes {base.shown_names(columns) or '(none)'}, but 'evaluations' "
            "and 'raw_y' are needed"
        )
    constants = described.get("experiment_attributes", [])
    names_of_constants = [name for constant in constants for name in constant]
    return [name for name in columns if name not in USED] + names_of_constants


def _add_runs(path: Path, described: JsonObject, runs: base.RunCollection) -> None:
    algorithm = described["algorithm"]["name"]
    function = str(described["function_id"])
    suite = described.get("suite", "").lower()
    is_bbob = (function, described.get("function_name")) in BBOB_FUNCTIONS
    has_distances = suite in SUITES_WITH_OPTIMUM_ZERO or (suite == NO_SUITE and is_bbob)
    has_optimum_zero = has_distances and not described["maximization"]
    evaluations, raw_y = map(described["attributes"].index, USED)
    for scenario in described["scenarios"]:
        data = data_file(path, scenario["path"])
        n_runs = len(scenario["runs"])
        blocks = read_blocks(data, "evaluations", (evaluations, raw_y), n_runs, runs)
        for run, block in zip(scenario["runs"], blocks, strict=False):
            numbers = (function, str(scenario["dimension"]), str(run["instance"]))
            points = _with_exact_best(block, run.get("best"))
            add_run(runs, str(algorithm), numbers, points, has_optimum_zero)


def _with_exact_best(block: Block, best: JsonObject | None) -> Block:
    """The points of a run, in which the best value has all digits if the JSON states it."""
    if not best:
        return block
    exact = float(best["y"])
    if not isfinite(exact):
        return block
    return [(t, exact if t == best["evals"] else y) for t, y in block]


class IohExport(base.Export):
    """A folder for IOHanalyzer and iohinspector, with all digits."""

    read_by: ClassVar[str] = "IOHanalyzer, iohinspector; `import --format ioh`"

    optimum: float | None = base.OPTIMUM_OPTION

    def write(self, store: StoreOnDisk, algorithms: tuple[str, ...], path: Path) -> base.Written:
        exported = numbered_runs(store, algorithms, TOOL, self.optimum)
        suite = SUITES.get(store.settings.instances.suite, NO_SUITE)
        for algorithm, folder in file_names(algorithms).items():
            for runs_by_dimension in exported.by_function(algorithm):
                _write_function(path / folder, algorithm, suite, runs_by_dimension, exported)
        return base.Written(counted(len(exported.runs), "run"), exported.notes)


def _write_function(
    folder: Path,
    algorithm: str,
    suite: str,
    runs_by_dimension: dict[int, list[NumberedRun]],
    exported: NumberedRuns,
) -> None:
    maximise = exported.maximise
    first = next(iter(runs_by_dimension.values()))[0]
    label = f"f{first.function}_{file_name(first.name)}"
    (folder / f"data_{label}").mkdir(parents=True, exist_ok=True)
    value_before_first = -NOTHING_FOUND if maximise else NOTHING_FOUND
    scenarios = []
    for dimension, runs in runs_by_dimension.items():
        path = f"data_{label}/IOHprofiler_f{first.function}_DIM{dimension}.dat"
        lines = []
        for run in runs:
            lines.append("evaluations raw_y")
            lines += [f"{t:.0f} {y!r}" for t, y in run.points(value_before_first)]
        (folder / path).write_text("\n".join([*lines, ""]), encoding="utf-8")
        described = [
            {
                "instance": run.instance,
                "evals": run.reached,
                "best": {"evals": int(run.t[-1]), "y": float(run.y[-1]), "x": []},
            }
            for run in runs
        ]
        scenarios.append({"dimension": dimension, "path": path, "runs": described})
    facts = {
        "version": f"polarbear {__version__}",
        "suite": suite,
        "function_id": first.function,
        "function_name": first.name,
        "maximization": maximise,
        "algorithm": {"name": algorithm, "info": exported.stopped},
        "attributes": list(USED),
        "scenarios": scenarios,
    }
    text = json.dumps(facts, indent=1, ensure_ascii=False)
    (folder / f"IOHprofiler_{label}.json").write_text(text + "\n", encoding="utf-8")
