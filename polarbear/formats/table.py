"""Long tables: one row for each value an algorithm had on an instance at a time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field

from polarbear.errors import ImportFailedError
from polarbear.formats.base import (
    LINE,
    AfterEnd,
    Complaint,
    Format,
    Imported,
    ignored,
    pick_columns,
    reject,
    reject_names,
    runs_from_points,
)
from polarbear.formats.weights import weights_in
from polarbear.problems.specs import PROBLEM
from polarbear.settings.names import with_formulas
from polarbear.wording import counted, noun

# What readers of tables raise on files that are none; Polars panics at some, past all handlers.
BROKEN = (pl.exceptions.PolarsError, pl.exceptions.PanicException, pa.ArrowException)


@dataclass(frozen=True)
class Columns:
    """What the columns of a table are called."""

    algorithm: str = "algorithm"
    instance: str = "instance"
    t: str = "t"
    y: str = "y"
    position: str = "position"
    seed: str | None = None
    problem: str | None = None
    weight: str | None = None


class TableOptions(Format):
    """What tables of values and of rankings have in common."""

    algorithm_column: str = Field("algorithm", description="its column of algorithms")
    instance_column: str = Field("instance", description="its column of instances")
    t_column: str = Field("t", description="its column of times")
    weight_column: str | None = Field(
        None, description="its column of weights: how many instances each counts as"
    )


class Table(TableOptions):
    """Rows of algorithm, instance, t, y (CSV or Parquet)."""

    y_column: str = Field("y", description="its column of objective values")
    seed_column: str | None = Field(
        None, description="its column of seeds, where instances were run repeatedly"
    )
    problem_column: str | None = Field(
        None, description="its column of problems, where instances are runs of one with many seeds"
    )
    maximise: bool = Field(False, description="larger values are better")
    after_end: AfterEnd = Field(
        "keeps", description="after its last row an algorithm keeps its best, or is absent"
    )

    def read(self, source: Path) -> Imported:
        columns = Columns(
            self.algorithm_column,
            self.instance_column,
            self.t_column,
            self.y_column,
            seed=self.seed_column,
            problem=self.problem_column,
            weight=self.weight_column,
        )
        return read_table(source, columns, self.maximise, self.after_end)


def read_frame(path: Path) -> pl.DataFrame:
    """A CSV or Parquet file as it is, everything of a CSV as text, with the line of each row."""
    if path.is_dir():
        raise ImportFailedError(f"{path} is a folder; expected a file, in CSV or Parquet")
    try:
        if path.suffix == ".parquet":
            _check_size(path)
            frame, first = _unpacked(path), 1
        else:
            frame = pl.read_csv(path, infer_schema=False, truncate_ragged_lines=False)
            frame = with_formulas(frame)  # as `polarbear export` marks them
            first = 2  # below the header
    except FileNotFoundError:
        raise ImportFailedError(f"there is no file {path}") from None
    except pl.exceptions.NoDataError:
        raise ImportFailedError(f"{path} is empty") from None
    except (*BROKEN, OSError, ValueError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise ImportFailedError(f"cannot read {path} as a table: {reason}") from None
    if not len(frame):
        raise ImportFailedError(f"{path} has a header but no rows")
    return frame.with_row_index(LINE, offset=first)


def _unpacked(path: Path) -> pl.DataFrame:
    """A Parquet file by pyarrow, which refuses what is damaged; Polars' reader panics aloud."""
    with pq.ParquetFile(path) as file:
        table = file.read()
    table.validate(full=True)
    return pl.DataFrame(_without_notes(table))


def _without_notes(table: pa.Table) -> pa.Table:
    """The columns alone: Polars believes what is noted about them, and panics aloud where it is
    wrong. Of lists and the like, which have notes inside, only that they are some."""
    some = pa.nulls(len(table), pa.list_(pa.null()))
    columns = [some if column.type.num_fields else column for column in table.columns]
    return pa.table(columns, names=table.column_names)


def _check_size(path: Path) -> None:
    """Refuse a file that unpacks to more than there is room for: a few bytes may be many rows."""
    about = pq.read_metadata(path)
    needed = 8 * about.num_rows * about.num_columns
    if needed > psutil.virtual_memory().available:
        raise ImportFailedError(
            f"{path} has {counted(about.num_rows, 'row')} in "
            f"{counted(about.num_columns, 'column')}: more than there is memory for"
        )


def read_table(
    path: Path, columns: Columns, maximise: bool = False, after_end: AfterEnd = "keeps"
) -> Imported:
    """Trajectories from a CSV or Parquet file with columns algorithm, instance, t, y."""
    return trajectories_in(read_frame(path), columns, str(path), maximise, after_end)


def trajectories_in(
    rows: pl.DataFrame,
    columns: Columns,
    source: str,
    maximise: bool = False,
    after_end: AfterEnd = "keeps",
) -> Imported:
    """Trajectories from a frame with columns line, algorithm, instance, t, y and perhaps seed,
    problem and weight."""
    wanted = {
        "line": LINE,
        "algorithm": columns.algorithm,
        "instance": columns.instance,
        "t": columns.t,
        "y": columns.y,
        "seed": columns.seed,
        "problem": columns.problem,
        "weight": columns.weight,
    }
    frame = pick_columns(rows, wanted, source)
    complaints: list[Complaint] = []
    frame = clean_names(frame, complaints)
    frame = clean_numbers(frame, ("t", "y"), complaints)
    frame = reject(frame, pl.col("t") < 0, "t is negative", complaints)
    if columns.seed is not None:
        seed = pl.col("seed").cast(pl.String, strict=False)
        frame = reject(frame, seed.is_null(), "the seed is missing", complaints)
        frame = frame.with_columns(of="instance", instance=replicates())
    keys = ["algorithm", "instance", "t"]
    frame = reject(
        frame, pl.struct(*keys, "y").is_first_distinct().not_(), "the row stands twice", complaints
    )
    several = len(frame) - len(frame.unique(keys))
    gives = noun(several, "row gives", "rows give")
    notes = [f"{several} {gives} another value for a time: the best counts"] if several else []
    notes += ignored([name for name in rows.columns if name not in wanted.values()])
    if not len(frame):
        raise ImportFailedError(f"no row of {source} makes sense: {listed(complaints)}")
    order = frame["instance"].unique(maintain_order=True).to_list()
    unit = "problem" if columns.problem is not None else "of" if columns.seed else "instance"
    known: dict[str, dict[str, Any]] = {**weights_in(frame, unit)}
    if columns.problem is not None:
        pairs = frame.select("instance", pl.col("problem").cast(pl.String)).unique().rows()
        for name, of in pairs:
            if of is not None and of != name:
                known[name] = {PROBLEM: of, **known.get(name, {})}
    outcomes, instances = runs_from_points(
        frame, maximise, after_end, order, numbered=columns.seed is not None, known=known
    )
    algorithms = tuple(frame["algorithm"].unique(maintain_order=True))
    first, last = frame["t"].min(), frame["t"].max()
    return Imported(
        algorithms,
        instances,
        (float(first), float(last)),  # type: ignore[arg-type]
        outcomes,
        complaints=tuple(complaints),
        notes=tuple(notes),
        maximise=maximise,
    )


def clean_names(frame: pl.DataFrame, complaints: list[Complaint]) -> pl.DataFrame:
    """Names as text, rows without one taken out."""
    for column in ("algorithm", "instance"):
        frame = frame.with_columns(pl.col(column).cast(pl.String).str.strip_chars())
        frame = reject(frame, pl.col(column) == "", f"no {column} is named", complaints)
    return reject_names(frame, complaints)


def clean_numbers(
    frame: pl.DataFrame, names: tuple[str, ...], complaints: list[Complaint]
) -> pl.DataFrame:
    """Numbers as numbers, rows without them taken out."""
    for column in names:
        number = pl.col(column)
        if not frame.schema[column].is_numeric() and frame.schema[column] != pl.Boolean:
            number = number.cast(pl.String).str.strip_chars()
        frame = frame.with_columns(number.cast(pl.Float64, strict=False).alias(column))
        bad = pl.col(column).is_null() | pl.col(column).is_finite().not_()
        frame = reject(frame, bad, f"{column} is not a finite number", complaints)
    return frame


def replicates() -> pl.Expr:
    """Instances with repeated runs: k-th seeds are compared with k-th seeds."""
    number = pl.col("seed").cast(pl.String).rank("dense").over("algorithm", "instance")
    return pl.col("instance") + pl.lit("#") + number.cast(pl.Int64).cast(pl.String)


def listed(complaints: list[Complaint]) -> str:
    return "; ".join(f"{c.words} (first: line {c.first})" for c in complaints)
