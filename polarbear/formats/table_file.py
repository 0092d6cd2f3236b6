"""CSV and Parquet files as frames, and the columns that a format uses of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from polarbear.errors import ImportFailedError
from polarbear.formats.base import Facts, Rejection, named, reject, reject_names
from polarbear.problems.weights import WEIGHT, improper, is_weight
from polarbear.settings.names import with_formulas
from polarbear.settings.options import nearest
from polarbear.wording import counted, visible

LINE = "line of the file"  # a column name that no file uses
NUMBERS = {"line", "t", "y", "position", "weight"}
DATES = (pl.Date, pl.Datetime, pl.Time)  # have a text form, so they may be names
# Errors of the readers on invalid files; some of Polars' panics are no Exception.
READER_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, pa.ArrowException)


Columns = Mapping[str, str | None]  # names of columns by PolarBear's names; None for none


def pick_columns(
    rows: pl.DataFrame, columns: Columns, source: str
) -> tuple[pl.DataFrame, list[str]]:
    """The columns under PolarBear's names, with ``line``; and the names of the others."""
    wanted = {"line": LINE, **{name: theirs for name, theirs in columns.items() if theirs}}
    chosen = [_column(rows, name, theirs, source) for name, theirs in wanted.items()]
    return rows.select(chosen), [name for name in rows.columns if name not in wanted.values()]


def read_frame(path: Path) -> pl.DataFrame:
    """A CSV file, with all values as text, or a Parquet file; LINE has the line of each row."""
    if path.is_dir():
        raise ImportFailedError(f"{path} is a folder; expected a file, in CSV or Parquet")
    try:
        if path.suffix == ".parquet":
            frame, first_line = _read_parquet(path), 1
        else:
            frame = pl.read_csv(path, infer_schema=False, truncate_ragged_lines=False)
            frame = with_formulas(frame)  # undoes the marks of `polarbear export`
            first_line = 2  # below the header
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

    Polars also panics on wrong metadata of columns, so these are dropped. Columns with metadata
    inside (lists, structs) are replaced by empty lists, which are refused if they are used.
    """
    about = pq.read_metadata(path)
    needed = 8 * about.num_rows * about.num_columns
    if needed > psutil.virtual_memory().available:  # a few compressed bytes may be many rows
        raise ImportFailedError(
            f"{path} has {counted(about.num_rows, 'row')} in "
            f"{counted(about.num_columns, 'column')}: more than fit in memory"
        )
    with pq.ParquetFile(path) as file:
        table = file.read()
    table.validate(full=True)
    empty = pa.nulls(len(table), pa.list_(pa.null()))
    columns = [empty if column.type.num_fields else column for column in table.columns]
    return pl.DataFrame(pa.table(columns, names=table.column_names))


def _column(rows: pl.DataFrame, name: str, theirs: str, source: str) -> pl.Expr:
    if theirs not in rows.columns:
        known = [column for column in rows.columns if column != LINE]
        guess = nearest(theirs, known)
        option = f"--{name}-column"
        hint = f"did you mean {option} '{visible(guess)}'?" if guess else f"name it with {option}"
        raise ImportFailedError(
            f"{source} has no column '{visible(theirs)}' for {name}; it has: {named(known)}; {hint}"
        )
    kind = rows.schema[theirs]
    check_type(name, theirs, kind, source)
    column = pl.col(theirs).alias(name)
    return column.cast(pl.String) if kind in (pl.Categorical, pl.Enum) else column


def check_type(name: str, theirs: str, kind: pl.DataType, source: str) -> None:
    """Refuse a column whose type cannot hold the names or numbers that it is used for."""
    is_text = kind in (pl.String, pl.Categorical, pl.Enum, pl.Null)
    is_number = kind.is_numeric() or kind == pl.Boolean
    if not (is_text or is_number or (name not in NUMBERS and kind in DATES)):
        wanted = "numbers" if name in NUMBERS else "names"
        raise ImportFailedError(
            f"{source}: the column '{visible(theirs)}' for {name} should have {wanted}, but has "
            f"the type {kind}"
        )


def clean_names(frame: pl.DataFrame, rejected: list[Rejection]) -> pl.DataFrame:
    """Names as text; rows without a valid one are rejected."""
    for column in ("algorithm", "instance"):
        frame = frame.with_columns(pl.col(column).cast(pl.String).str.strip_chars())
        frame = reject(frame, pl.col(column) == "", f"no {column} is named", rejected)
    return reject_names(frame, rejected)


def clean_numbers(
    frame: pl.DataFrame, names: tuple[str, ...], rejected: list[Rejection]
) -> pl.DataFrame:
    """Columns as numbers; rows without finite ones are rejected."""
    for column in names:
        frame = frame.with_columns(_as_number(frame[column]))
        bad = pl.col(column).is_null() | pl.col(column).is_finite().not_()
        frame = reject(frame, bad, f"{column} is not a finite number", rejected)
    return frame


def _as_number(column: pl.Series) -> pl.Series:
    if not column.dtype.is_numeric() and column.dtype != pl.Boolean:
        column = column.cast(pl.String).str.strip_chars()
    return column.cast(pl.Float64, strict=False)


def weights_by_instance(frame: pl.DataFrame, unit: str = "instance") -> dict[str, Facts]:
    """The weight of each instance, from the columns line, instance and weight if there is one.

    All rows with the same name in the column ``unit`` have one weight: runs of a problem share it.
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
    first: dict[str, float] = {}
    found: dict[str, Facts] = {}
    for line, instance, name, number, text in rows.iter_rows():
        if number is None or not is_weight(number):
            value = text if number is None else number
            raise ImportFailedError(f"line {line}: {improper(value, instance)}")
        if first.setdefault(name, number) != number:
            raise ImportFailedError(
                f"line {line}: '{name}' has the weight {number:g}, but {first[name]:g} before; "
                f"{'an instance' if unit == 'instance' else 'a problem'} has one"
            )
        found[instance] = {WEIGHT: number}
    return found


def listed(rejected: list[Rejection]) -> str:
    return "; ".join(f"{one.words} (first: line {one.first})" for one in rejected)
