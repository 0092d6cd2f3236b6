"""One long table of all improvements, as CSV or Parquet, with the meaning of its columns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from polarbear.errors import ExportFailedError
from polarbear.exports.base import Export, Written
from polarbear.numerics.arrays import Floats
from polarbear.settings.names import without_formulas
from polarbear.store import Store
from polarbear.wording import counted, noun


class Csv(Export):
    """Rows of algorithm, instance, problem, seed, t, y, and a data dictionary beside them.

    Where instances have weights there is a column for them, too.
    """

    def write(self, store: Store, algorithms: tuple[str, ...], place: Path) -> Written:
        table, told = long_table(store, algorithms)
        rows = pl.DataFrame(pl.from_arrow(table))
        marked = without_formulas(rows)
        marked.write_csv(place)
        dictionary = pl.DataFrame(
            [
                {"column": f.name, "type": str(f.type), "meaning": f.metadata[b"meaning"].decode()}
                for f in table.schema
            ]
        )
        dictionary.write_csv(place.with_name(f"{place.stem}.dictionary.csv"))
        if marked.equals(rows):
            return told
        note = (
            "names that a spreadsheet would take for a formula have an apostrophe before them, "
            "which `polarbear import` takes away"
        )
        return replace(told, notes=(*told.notes, note))


class Parquet(Export):
    """The same rows as Parquet, the meaning of each column in its metadata."""

    def write(self, store: Store, algorithms: tuple[str, ...], place: Path) -> Written:
        table, told = long_table(store, algorithms)
        pq.write_table(table, place, compression="zstd")
        return told


def in_order(
    store: Store, algorithms: tuple[str, ...]
) -> list[tuple[dict[str, Any], Floats, Floats]]:
    """The runs that count, by algorithm and then by instance, however they were stored."""
    place = {name: i for i, name in enumerate(store.instances()["instance"])}
    runs = list(store.trajectories(algorithms))
    return sorted(
        runs, key=lambda run: (algorithms.index(run[0]["algorithm"]), place[run[0]["instance"]])
    )


def long_table(store: Store, algorithms: tuple[str, ...]) -> tuple[pa.Table, Written]:
    """A row for each improvement of the runs that count, and one where a run went on after it."""
    axis = store.config["budget"]["axis"]
    maximise = bool(store.config["instances"].get("maximise"))
    problems = store.problems()
    runs, empty, lengths = [], 0, []
    times: list[np.ndarray] = []
    values: list[np.ndarray] = []
    for run, t, y in in_order(store, algorithms):
        if not len(t):
            empty += 1
            continue
        if run["reached"] > t[-1]:
            t, y = np.append(t, run["reached"]), np.append(y, y[-1])
        runs.append(run)
        lengths.append(len(t))
        times.append(t)
        values.append(-y if maximise else y)
    if not runs:
        raise ExportFailedError(f"{store.path} holds no run that has found a value")
    index = np.repeat(np.arange(len(runs)), lengths)
    better = "larger" if maximise else "smaller"
    columns = [
        ("algorithm", pa.string(), "the algorithm's name", [run["algorithm"] for run in runs]),
        ("instance", pa.string(), "the instance's stable id", [run["instance"] for run in runs]),
        (
            "problem",
            pa.string(),
            "what an instance is one run of several of; the instance itself where there is one",
            [problems.get(run["instance"], run["instance"]) for run in runs],
        ),
        ("seed", pa.int64(), "the seed the algorithm was given", [run["seed"] for run in runs]),
    ]
    weights = store.weights()
    if weights:
        about_weight = "how many instances it counts as"
        each = [weights.get(run["instance"], 1.0) for run in runs]
        columns.append(("weight", pa.float64(), about_weight, each))
    arrays = [pa.array(found, kind).take(pa.array(index)) for _, kind, _, found in columns]
    fields = [pa.field(name, kind, False, {"meaning": about}) for name, kind, about, _ in columns]
    about_t = f"{axis} at which a value was found; the last of a run is where it ended"
    about_y = f"the best value found until then; {better} is better"
    for name, about, parts in (("t", about_t, times), ("y", about_y, values)):
        arrays.append(pa.array(np.concatenate(parts)))
        fields.append(pa.field(name, pa.float64(), False, {"meaning": about}))
    table = pa.Table.from_arrays(arrays, schema=pa.schema(fields))
    notes = []
    if empty:
        notes.append(
            f"{counted(empty, 'run')} found no value, and {noun(empty, 'has', 'have')} no row"
        )
    what = f"{counted(len(table), 'row')} of {counted(len(runs), 'run')}"
    return table, Written(what, tuple(notes))
