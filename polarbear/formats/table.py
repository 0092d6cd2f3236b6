"""Long tables in CSV or Parquet: one row per value or position of an algorithm on an instance."""

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

import polars as pl
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field

from polarbear.errors import ImportFailedError
from polarbear.formats import base
from polarbear.problems.base import Trajectory
from polarbear.problems.specs import PROBLEM
from polarbear.problems.weights import WEIGHT, improper, is_weight
from polarbear.settings.choices import AfterEnd
from polarbear.settings.names import with_formulas, without_formulas
from polarbear.settings.options import nearest
from polarbear.store import StoreOnDisk
from polarbear.wording import counted, noun, visible

Unranked = Literal["absent", "below"]
UNRANKED: Unranked = Field(
    "absent",
    description="those without a position: absent, or below the others in an unknown order",
)
LINE = "line of the file"  # a column name that no file uses
NUMBERS = {"line", "t", "y", "position", "weight"}
DATES = (pl.Date, pl.Datetime, pl.Time)  # These have a text form, so they may be names.
# Errors of the readers on invalid files; PanicException does not derive from Exception.
READER_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, pa.ArrowException)

Columns = Mapping[str, str | None]  # columns of the source by PolarBear's names; None if absent


class TableOptions(base.Format):
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


class TrajectoryTable(TableOptions):
    """Rows of algorithm, instance, t, y (CSV or Parquet)."""

    y_column: str = Field("y", description="its column of objective values")
    seed_column: str | None = Field(
        None, description="its column of seeds, where instances were run repeatedly"
    )
    problem_column: str | None = Field(
        None, description="its column of problems, where instances are runs of one with many seeds"
    )
    maximise: bool = base.MAXIMISE
    after_end: AfterEnd = base.AFTER_END
    trajectory: Trajectory = base.TRAJECTORY

    def read(self, source: Path) -> base.Imported:
        return imported_rows(
            read_frame(source),
            self.columns("y", "seed", "problem"),
            str(source),
            self.maximise,
            self.after_end,
            self.trajectory,
        )


def imported_rows(
    rows: pl.DataFrame,
    columns: Columns,
    source: str,
    maximise: bool,
    after_end: str,
    trajectory: Trajectory = "best",
) -> base.Imported:
    """An import from the rows of a table, which have their line in the column LINE.

    Columns are algorithm, instance, t, y, and perhaps seed, problem, weight.
    """
    rejected: list[base.Rejection] = []
    frame, notes = _cleaned(rows, columns, source, ("t", "y"), rejected)
    frame = base.reject(frame, pl.col("t") < 0, "t is negative", rejected)
    unit = "instance"  # the column of the names that count once
    if "seed" in frame.columns:
        seed = pl.col("seed").cast(pl.String, strict=False)
        frame = base.reject(frame, seed.is_null(), "the seed is missing", rejected)
        # The k-th seed of an algorithm is compared with the k-th seeds of the others.
        number = seed.rank("dense").over("algorithm", "instance").cast(pl.Int64).cast(pl.String)
        frame = frame.with_columns(of="instance", instance=pl.col("instance") + "#" + number)
        unit = "of"
    if "problem" in frame.columns:
        frame = frame.with_columns(pl.coalesce(pl.col("problem").cast(pl.String), unit))
        unit = "problem"
    keys = ["algorithm", "instance", "t"]
    is_repeated = pl.struct(*keys, "y").is_first_distinct().not_()
    frame = base.reject(frame, is_repeated, "the row occurs twice", rejected)
    _check_any(frame, source, rejected)
    n_ambiguous = len(frame) - len(frame.unique(keys))
    if n_ambiguous:
        give = noun(n_ambiguous, "row gives", "rows give")
        note = f"{n_ambiguous} {give} another value for a time: the {trajectory} counts"
        notes = (note, *notes)
    facts: dict[str, base.SpecEntries] = _weights(frame, unit)
    for name, problem in frame.select("instance", unit=unit).unique().rows():
        if problem != name:
            facts[name] = {PROBLEM: problem, **facts.get(name, {})}
    imported = base.imported_frame(frame, facts, maximise, after_end, trajectory)
    return replace(imported, rejected=tuple(rejected), notes=notes)


class RankingsTable(TableOptions):
    """Rows of instance, t, algorithm, position (CSV or Parquet).

    Equal positions tie. An algorithm at the position 'below' was not recorded and is below those
    that were; the option ``unranked`` applies this to all algorithms that a ranking does not name.
    """

    position_column: str = Field("position", description="its column of positions")
    unranked: Unranked = UNRANKED

    def read(self, source: Path) -> base.Imported:
        rows = read_frame(source)
        columns = self.columns("position")
        rejected: list[base.Rejection] = []
        frame, notes = _cleaned(rows, columns, str(source), ("t", "position"), rejected)
        is_repeated = pl.struct("instance", "t", "algorithm").is_first_distinct().not_()
        frame = base.reject(
            frame, is_repeated, "the algorithm already has a position there", rejected
        )
        algorithms = tuple(frame["algorithm"].unique(maintain_order=True))
        names = frame["instance"].unique(maintain_order=True)
        instances = base.imported_instances(names, _weights(frame))
        if self.unranked == "below":
            keys = frame.group_by("instance", "t", maintain_order=True).agg(pl.col("line").first())
            all_rows = keys.join(frame.select("algorithm").unique(), how="cross")
            missing = all_rows.join(frame, on=["instance", "t", "algorithm"], how="anti")
            frame = pl.concat([frame, missing.with_columns(position=inf)], how="diagonal")
        is_empty = pl.col("position").is_infinite().all().over("instance", "t")
        frame = base.reject(frame, is_empty, "of its ranking nothing was recorded", rejected)
        _check_any(frame, str(source), rejected)
        rankings = frame.sort("instance", "t", "position", "algorithm").group_by(
            "instance", "t", maintain_order=True
        )
        n_single = len(rankings.len().filter(pl.col("len") == 1))
        if n_single:
            have = noun(
                n_single, "ranking has one algorithm and is", "rankings have one algorithm and are"
            )
            notes = (f"{n_single} {have} not used", *notes)
        return base.Imported(
            algorithms,
            tuple(instances.values()),
            rankings=rankings.agg("algorithm", "position"),
            rejected=tuple(rejected),
            notes=notes,
        )


def read_frame(path: Path) -> pl.DataFrame:
    """A CSV file, with all values as text, or a Parquet file; LINE has the line of each row."""
    if path.is_dir():
        raise ImportFailedError(f"{path} is a folder; expected a file, in CSV or Parquet")
    try:
        if path.suffix == ".parquet":
            frame = _read_parquet(path)
            first_line = 1
        else:
            frame = pl.read_csv(path, infer_schema=False, truncate_ragged_lines=False)
            frame = with_formulas(frame)  # This removes the marks that `polarbear export` adds.
            first_line = 2  # The header is line 1.
    except FileNotFoundError:
        raise ImportFailedError(f"there is no file {path}") from None
    except pl.exceptions.NoDataError:
        raise ImportFailedError(f"{path} is empty") from None
    except (*READER_ERRORS, OSError, ValueError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise ImportFailedError(f"cannot read {path} as a table: {reason}") from None
    if not len(frame):
        raise ImportFailedError(f"{path} has a header but no rows")
    return frame.with_row_index(LINE, offset=first_line)


def _read_parquet(path: Path) -> pl.DataFrame:
    """A Parquet file by pyarrow, which reports damage as an error; Polars' reader panics.

    Polars also panics on wrong metadata of columns, so these are dropped.
    """
    metadata = pq.read_metadata(path)
    n_bytes = 8 * metadata.num_rows * metadata.num_columns
    # A few compressed bytes may be many rows.
    if n_bytes > psutil.virtual_memory().available:
        raise ImportFailedError(
            f"{path} has {counted(metadata.num_rows, 'row')} in "
            f"{counted(metadata.num_columns, 'column')}: more than fit in memory"
        )
    with pq.ParquetFile(path) as file:
        table = file.read()
    table.validate(full=True)
    return pl.DataFrame(pa.table(table.columns, names=table.column_names))


def _cleaned(
    rows: pl.DataFrame,
    columns: Columns,
    source: str,
    numbers: tuple[str, ...],
    rejected: list[base.Rejection],
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The columns under PolarBear's names, with ``line``; and a note on the others.

    Rows without valid names and finite numbers are rejected. A position may be infinite.
    """
    used_columns = {"line": LINE}
    used_columns |= {name: column for name, column in columns.items() if column}
    frame = rows.select(
        [_column(rows, name, column, source) for name, column in used_columns.items()]
    )
    for name in ("algorithm", "instance"):
        frame = frame.with_columns(pl.col(name).cast(pl.String).str.strip_chars())
        frame = base.reject(frame, pl.col(name) == "", f"no {name} is named", rejected)
    frame = base.reject_names(frame, rejected)
    for name in numbers:
        frame = frame.with_columns(_as_number(frame[name], inf if name == "position" else None))
        is_invalid = pl.col(name).is_finite().not_()
        if name == "position":
            is_invalid &= pl.col(name) != inf
        frame = base.reject(frame, is_invalid, f"{name} is not a finite number", rejected)
    unused = [column for column in rows.columns if column not in used_columns.values()]
    return frame, base.ignored(unused)


def _column(rows: pl.DataFrame, name: str, column: str, source: str) -> pl.Expr:
    """The column of the source under PolarBear's name for it."""
    if column not in rows.columns:
        columns = [other for other in rows.columns if other != LINE]
        guess = nearest(column, columns)
        option = f"--{name}-column"
        hint = f"did you mean {option} '{visible(guess)}'?" if guess else f"name it with {option}"
        raise ImportFailedError(
            f"{source} has no column '{visible(column)}' for {name}; it has: "
            f"{base.shown_names(columns)}; {hint}"
        )
    kind = rows.schema[column]
    check_type(name, column, kind, source)
    renamed = pl.col(column).alias(name)
    return renamed.cast(pl.String) if kind in (pl.Categorical, pl.Enum) else renamed


def check_type(name: str, column: str, kind: pl.DataType, source: str) -> None:
    """Refuse a column whose type cannot hold the names or numbers that it is used for."""
    is_text = kind in (pl.String, pl.Categorical, pl.Enum, pl.Null)
    is_number = kind.is_numeric() or kind == pl.Boolean
    is_date_as_name = name not in NUMBERS and kind in DATES
    if not (is_text or is_number or is_date_as_name):
        expected = "numbers" if name in NUMBERS else "names"
        raise ImportFailedError(
            f"{source}: the column '{visible(column)}' for {name} should have {expected}, but has "
            f"the type {kind}"
        )


def _as_number(column: pl.Series, below: float | None = None) -> pl.Series:
    """A column as numbers, null where it has none; ``below`` replaces the text 'below'."""
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return column.cast(pl.Float64, strict=False)
    text = column.cast(pl.String).str.strip_chars()
    number = text.cast(pl.Float64, strict=False)
    if below is None:
        return number
    # A text such as 'inf' is no position; only 'below' is.
    number = number.set(number.is_infinite(), None)
    return number.set(text.str.to_lowercase() == "below", below)


def _weights(frame: pl.DataFrame, unit: str = "instance") -> dict[str, base.SpecEntries]:
    """The weight of each instance, from the column of weights if there is one.

    All rows with the same name in the column ``unit`` must have the same weight, because the runs
    of a problem share it.
    """
    if "weight" not in frame.columns:
        return {}
    rows = frame.select(
        "line",
        "instance",
        unit=pl.coalesce(pl.col(unit).cast(pl.String), "instance"),
        number=_as_number(frame["weight"]),
        text=pl.col("weight").cast(pl.String).str.strip_chars(),
    ).unique(["instance", "unit", "number"], keep="first", maintain_order=True)
    weight_of_unit: dict[str, float] = {}
    entries: dict[str, base.SpecEntries] = {}
    for line, instance, name, number, text in rows.iter_rows():
        if number is None or not is_weight(number):
            weight_in_file = text if number is None else number
            raise ImportFailedError(f"line {line}: {improper(weight_in_file, instance)}")
        first_weight = weight_of_unit.setdefault(name, number)
        if first_weight != number:
            raise ImportFailedError(
                f"line {line}: '{name}' has the weight {number:g}, but {first_weight:g} before; "
                f"{'an instance' if unit == 'instance' else 'a problem'} has one"
            )
        entries[instance] = {WEIGHT: number}
    return entries


def _check_any(frame: pl.DataFrame, source: str, rejected: list[base.Rejection]) -> None:
    if not len(frame):
        reasons = "; ".join(
            f"{rejection.words} (first: line {rejection.first})" for rejection in rejected
        )
        raise ImportFailedError(f"no row of {source} is valid: {reasons}")


class CsvExport(base.Export):
    """Rows of algorithm, instance, problem, seed, t, y, and a data dictionary beside them.

    Where instances have weights there is a column for them, too. Names that a spreadsheet would
    take for a formula begin with an apostrophe, which an import removes.
    """

    read_by: ClassVar[str] = "any program; `import --format table`"

    def write(self, store: StoreOnDisk, algorithms: tuple[str, ...], path: Path) -> base.Written:
        table = _long_table(store, algorithms)
        without_formulas(table.rows).write_csv(path)
        dictionary = [
            {"column": name, "type": str(kind), "meaning": table.meanings[name]}
            for name, kind in table.rows.schema.items()
        ]
        pl.DataFrame(dictionary).write_csv(path.with_name(f"{path.stem}.dictionary.csv"))
        return table.written


class ParquetExport(base.Export):
    """The same rows as Parquet, the meaning of each column in its metadata."""

    read_by: ClassVar[str] = "Polars, DuckDB, pandas; `import --format table`"

    def write(self, store: StoreOnDisk, algorithms: tuple[str, ...], path: Path) -> base.Written:
        table = _long_table(store, algorithms)
        arrow_table = table.rows.to_arrow()
        fields = [
            field.with_metadata({"meaning": table.meanings[field.name]})
            for field in arrow_table.schema
        ]
        pq.write_table(arrow_table.cast(pa.schema(fields)), path, compression="zstd")
        return table.written


class _LongTable(NamedTuple):
    """The rows of an export, the meaning of each column, and the report on the export."""

    rows: pl.DataFrame
    meanings: dict[str, str]
    written: base.Written


def _long_table(store: StoreOnDisk, algorithms: tuple[str, ...]) -> _LongTable:
    """A row for each improvement of the runs that count, and one at the end of a run."""
    runs, notes = base.runs_with_values(store, algorithms)
    problems = store.problems()
    weights = store.weights()
    records = []
    for run, t, y in runs:
        times = t.tolist()
        values = (store.sign * y).tolist()
        if run.reached > times[-1]:
            times.append(run.reached)
            values.append(values[-1])
        record = {
            "algorithm": run.algorithm,
            "instance": run.instance,
            "problem": problems.get(run.instance, run.instance),
            "seed": run.seed,
        }
        if weights:
            record["weight"] = weights.get(run.instance, 1.0)
        records.append({**record, "t": times, "y": values})
    is_last = store.settings.trajectory == "last"
    value = "the last value" if is_last else "the best value found so far"
    meanings = {
        "algorithm": "the algorithm's name",
        "instance": "the instance's stable id",
        "problem": "the problem of which the instance is one of several runs, or the instance",
        "seed": "the seed of the algorithm",
        "weight": "the number of instances that the instance counts as",
        "t": f"{store.settings.budget.axis} at which a value was found; the last row of a run "
        "is its end",
        "y": f"{value}; {'larger' if store.maximise else 'smaller'} is better",
    }
    rows = pl.DataFrame(records).explode("t", "y")
    summary = f"{counted(len(rows), 'row')} of {counted(len(runs), 'run')}"
    return _LongTable(rows, meanings, base.Written(summary, notes))
