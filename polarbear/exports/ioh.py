"""Folders as IOHprofiler's Analyzer writes them, one for each algorithm."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import Field

from polarbear import __version__
from polarbear.exports.base import Export, Written, file_name, file_names
from polarbear.exports.numbered import Function, Numbered, NumberedRun, numbered_runs
from polarbear.formats.blocks import NOTHING_FOUND
from polarbear.store import Store
from polarbear.wording import counted

SUITES = {"bbob": "BBOB", "sbox": "SBOX", "pbo": "PBO"}


class Ioh(Export):
    """A folder for IOHanalyzer and iohinspector, with all digits."""

    optimum: float | None = Field(
        None, description="the best possible value of every instance; by default the suite's"
    )

    def write(self, store: Store, algorithms: tuple[str, ...], place: Path) -> Written:
        found = numbered_runs(store, algorithms, "IOHprofiler", self.optimum)
        suite = SUITES.get(store.config["instances"]["suite"], "unknown_suite")
        folders = file_names(algorithms)
        for algorithm in algorithms:
            for number, parts in found.grouped(algorithm):
                _write_function(place / folders[algorithm], algorithm, suite, number, parts, found)
        return Written(counted(len(found.runs), "run"), found.notes)


def _write_function(
    folder: Path,
    algorithm: str,
    suite: str,
    number: int,
    parts: dict[Function, list[NumberedRun]],
    found: Numbered,
) -> None:
    name = next(iter(parts)).name
    label = f"f{number}_{file_name(name)}"
    (folder / f"data_{label}").mkdir(parents=True, exist_ok=True)
    scenarios = []
    for function, runs in parts.items():
        path = f"data_{label}/IOHprofiler_f{number}_DIM{function.dimension}.dat"
        nothing = -NOTHING_FOUND if found.maximise else NOTHING_FOUND
        text = "".join(_block(run, nothing) for run in runs)
        (folder / path).write_text(text, encoding="utf-8")
        scenarios.append(
            {
                "dimension": function.dimension,
                "path": path,
                "runs": [
                    {
                        "instance": run.instance,
                        "evals": run.reached,
                        "best": {"evals": int(run.t[-1]), "y": float(run.y[-1]), "x": []},
                    }
                    for run in runs
                ],
            }
        )
    facts = {
        "version": f"polarbear {__version__}",
        "suite": suite,
        "function_id": number,
        "function_name": name,
        "maximization": found.maximise,
        "algorithm": {"name": algorithm, "info": ""},
        "attributes": ["evaluations", "raw_y"],
        "scenarios": scenarios,
    }
    text = json.dumps(facts, indent=1, ensure_ascii=False)
    (folder / f"IOHprofiler_{label}.json").write_text(text + "\n", encoding="utf-8")


def _block(run: NumberedRun, nothing: float) -> str:
    """The points of a run: readers take evaluation 1 for its begin, and the last row for its end.

    Where nothing was found at evaluation 1, the value there is the worst that there is.
    """
    rows = [f"{t:.0f} {y!r}" for t, y in zip(run.t.tolist(), run.y.tolist(), strict=True)]
    if run.t[0] > 1:
        rows.insert(0, f"1 {nothing!r}")
    if run.reached > run.t[-1]:
        rows.append(f"{run.reached} {float(run.y[-1])!r}")
    return "\n".join(["evaluations raw_y", *rows, ""])
