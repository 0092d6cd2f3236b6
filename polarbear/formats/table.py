"""Long tables in CSV or Parquet: one row per value of an algorithm on an instance at a time."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field

from polarbear.errors import ExportFailedError, ImportFailedError
from polarbear.formats.base import (
    AFTER_END,
    MAXIMISE,
    AfterEnd,
    Export,
    Facts,
    Format,
    Imported,
    Rejection,
    Written,
    ignored,
    imported_frame,
    imported_instances,
    reject,
)
from polarbear.formats.table_file import (
    Columns,
    clean_names,
    clean_numbers,
    listed,
    pick_columns,
    read_frame,
    weights_by_instance,
)
from polarbear.numerics.arrays import Floats
from polarbear.problems.specs import PROBLEM
from polarbear.settings.names import without_formulas
from polarbear.store import Store
from polarbear.wording import counted, noun

Unranked = Literal["absent", "below"]
UNRANKED: Unranked = Field(
    "absent",
    description="those without a position: absent, or below the others in an unknown order",
)


class TableOptions(Format):
    """The options that tables of values and of rankings share."""

    algorithm_column: str = Field("algorithm", description="its column of algorithms")
    instance_column: str = Field("instance", description="its column of instances")
    t_column: str = Field("t", description="its column of times")
    weight_column: str | None = Field(
        None, description="its column of weights: how many instances each counts as"
    )

    def columns(self, *others: str) -> Columns:
        """The names of the columns in the source, by PolarBear's names."""
        names = ("algorithm", "instance", "t", "weight", *others)
        return {name: getattr(self, f"{name}_column") for name in names}


class Table(TableOptions):
    """Rows of algorithm, instance, t, y (CSV or Parquet)."""

    y_column: str = Field("y", description="its column of objective values")
    seed_column: str | None = Field(
        None, description="its column of seeds, where instances were run repeatedly"
    )
    problem_column: str | None = Field(
        None, description="its column of problems, where instances are runs of one with many seeds"
    )
    maximise: bool = MAXIMISE
    after_end: AfterEnd = AFTER_END

    def read(self, source: Path) -> Imported:
        rows, columns = read_frame(source), self.columns("y", "seed", "problem")
        return imported_rows(rows, columns, str(source), self.maximise, self.after_end)


def imported_rows(
    rows: pl.DataFrame, columns: Columns, source: str, maximise: bool, after_end: AfterEnd
) -> Imported:
    """An import from the rows of a table, which have their line in the column LINE.

    Columns are algorithm, instance, t, y, and perhaps seed, problem, weight.
    """
    frame, unused = pick_columns(rows, columns, source)
    rejected: list[Rejection] = []
    frame = clean_names(frame, rejected)
    frame = clean_numbers(frame, ("t", "y"), rejected)
    frame = reject(frame, pl.col("t") < 0, "t is negative", rejected)
    unit = "instance"
    if "seed" in frame.columns:
        seed = pl.col("seed").cast(pl.String, strict=False)
        frame = reject(frame, seed.is_null(), "the seed is missing", rejected)
        # The k-th seed of an algorithm is compared with the k-th seeds of the others.
        number = seed.rank("dense").over("algorithm", "instance").cast(pl.Int64).cast(pl.String)
        frame = frame.with_columns(of="instance", instance=pl.col("instance") + "#" + number)
        unit = "of"
    if "problem" in frame.columns:
        problem = pl.coalesce(pl.col("problem").cast(pl.String), unit)
        frame, unit = frame.with_columns(problem), "problem"
    keys = ["algorithm", "instance", "t"]
    is_repeated = pl.struct(*keys, "y").is_first_distinct().not_()
    frame = reject(frame, is_repeated, "the row occurs twice", rejected)
    several = len(frame) - len(frame.unique(keys))
    gives = noun(several, "row gives", "rows give")
    notes = [f"{several} {gives} another value for a time: the best counts"] if several else []
    if not len(frame):
        raise ImportFailedError(f"no row of {source} is valid: {listed(rejected)}")
    facts: dict[str, Facts] = weights_by_instance(frame, unit)
    for name, problem in frame.select("instance", unit=unit).unique().rows():
        if problem != name:
            facts[name] = {PROBLEM: problem, **facts.get(name, {})}
    return imported_frame(frame, maximise, after_end, rejected, [*notes, *ignored(unused)], facts)


class CsvExport(Export):
    """Rows of algorithm, instance, problem, seed, t, y, and a data dictionary beside them.

    Where instances have weights there is a column for them, too.
    """

    def write(self, store: Store, algorithms: tuple[str, ...], place: Path) -> Written:
        table, written = long_table(store, algorithms)
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
            return written
        note = (
            "names that a spreadsheet would take for a formula begin with an apostrophe, which "
            "`polarbear import` removes"
        )
        return replace(written, notes=(*written.notes, note))


class ParquetExport(Export):
    """The same rows as Parquet, the meaning of each column in its metadata."""

    def write(self, store: Store, algorithms: tuple[str, ...], place: Path) -> Written:
        table, written = long_table(store, algorithms)
        pq.write_table(table, place, compression="zstd")
        return written


def long_table(store: Store, algorithms: tuple[str, ...]) -> tuple[pa.Table, Written]:
    """A row per improvement of the runs that count, and one at the end of a run.

    Runs are sorted by algorithm and instance, independently of the order in which they were stored.
    """
    axis = store.config["budget"]["axis"]
    order = {name: i for i, name in enumerate(store.instances()["instance"])}
    runs = sorted(
        store.trajectories(algorithms),
        key=lambda run: (algorithms.index(run[0].algorithm), order[run[0].instance]),
    )
    found = [(run, *_with_end(t, y, run.reached)) for run, t, y in runs if len(t)]
    if not found:
        raise ExportFailedError(f"{store.path} has no run that found a value")
    problems, weights = store.problems(), store.weights()
    sign = -1.0 if store.maximise else 1.0
    records = [
        {
            "algorithm": run.algorithm,
            "instance": run.instance,
            "problem": problems.get(run.instance, run.instance),
            "seed": run.seed,
            **({"weight": weights.get(run.instance, 1.0)} if weights else {}),
            "t": t,
            "y": sign * y,
        }
        for run, t, y in found
    ]
    meanings = {
        "algorithm": "the algorithm's name",
        "instance": "the instance's stable id",
        "problem": "the problem of which the instance is one of several runs, or the instance",
        "seed": "the seed of the algorithm",
        "weight": "the number of instances that the instance counts as",
        "t": f"{axis} at which a value was found; the last row of a run is its end",
        "y": f"the best value found so far; {'larger' if store.maximise else 'smaller'} is better",
    }
    types = {"seed": pa.int64(), "weight": pa.float64(), "t": pa.float64(), "y": pa.float64()}
    fields = [
        pa.field(name, types.get(name, pa.string()), False, {"meaning": meanings[name]})
        for name in records[0]
    ]
    table = pl.DataFrame(records).explode("t", "y").to_arrow().cast(pa.schema(fields))
    empty = len(runs) - len(found)
    note = f"{counted(empty, 'run')} found no value and {noun(empty, 'has', 'have')} no row"
    what = f"{counted(len(table), 'row')} of {counted(len(found), 'run')}"
    return table, Written(what, (note,) if empty else ())


def _with_end(t: Floats, y: Floats, reached: float) -> tuple[Floats, Floats]:
    if reached <= t[-1]:
        return t, y
    return np.append(t, reached), np.append(y, y[-1])


class Rankings(TableOptions):
    """Rows of instance, t, algorithm, position (CSV or Parquet).

    Equal positions tie. An algorithm at the position 'below' was not recorded and is below those
    that were; the option ``unranked`` applies this to all algorithms that a ranking does not name.
    """

    position_column: str = Field("position", description="its column of positions")
    unranked: Unranked = UNRANKED

    def read(self, source: Path) -> Imported:
        rows, columns = read_frame(source), self.columns("position")
        frame, unused = pick_columns(rows, columns, str(source))
        rejected: list[Rejection] = []
        frame = clean_names(frame, rejected)
        frame = frame.with_columns(below=_is_below(frame)).with_columns(
            position=pl.when("below").then(pl.lit(0)).otherwise(pl.col("position"))
        )
        frame = clean_numbers(frame, ("t", "position"), rejected).with_columns(
            position=pl.when("below").then(pl.lit(inf)).otherwise(pl.col("position"))
        )
        is_repeated = pl.struct("instance", "t", "algorithm").is_first_distinct().not_()
        frame = reject(frame, is_repeated, "the algorithm already has a position there", rejected)
        algorithms = tuple(frame["algorithm"].unique(maintain_order=True))
        names = frame["instance"].unique(maintain_order=True)
        instances = imported_instances(names, weights_by_instance(frame))
        if self.unranked == "below" and len(frame):
            frame = _with_unranked(frame, algorithms)
        is_empty = pl.col("position").is_infinite().all().over("instance", "t")
        frame = reject(frame, is_empty, "of its ranking nothing was recorded", rejected)
        if not len(frame):
            raise ImportFailedError(f"no row of {source} is valid: {listed(rejected)}")
        rankings = frame.sort("instance", "t", "position", "algorithm").group_by(
            "instance", "t", maintain_order=True
        )
        alone = len(rankings.len().filter(pl.col("len") == 1))
        has = noun(alone, "ranking has one algorithm and is", "rankings have one algorithm and are")
        notes = [f"{alone} {has} not used"] if alone else []
        return Imported(
            algorithms,
            tuple(instances.values()),
            rankings=rankings.agg("algorithm", "position"),
            rejected=tuple(rejected),
            notes=(*notes, *ignored(unused)),
        )


def _is_below(frame: pl.DataFrame) -> pl.Expr:
    """Whether a position is 'below', or infinite in a table of numbers."""
    if frame.schema["position"] == pl.String:
        return pl.col("position").str.strip_chars().str.to_lowercase() == "below"
    if frame.schema["position"].is_float():
        return pl.col("position") == inf
    return pl.lit(False)


def _with_unranked(frame: pl.DataFrame, algorithms: tuple[str, ...]) -> pl.DataFrame:
    """All algorithms in every ranking; those that it does not name are below the others."""
    keys = frame.group_by("instance", "t", maintain_order=True).agg(pl.col("line").first())
    all_rows = keys.join(pl.DataFrame({"algorithm": algorithms}), how="cross")
    missing = all_rows.join(frame, on=["instance", "t", "algorithm"], how="anti")
    missing = missing.with_columns(position=pl.lit(inf))
    return pl.concat([frame.select(missing.columns), missing])
