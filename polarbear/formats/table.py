"""Long tables in CSV or Parquet: one row per value or position of an algorithm on an instance."""

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from math import inf
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field

from polarbear.config.execution import KEEPS
from polarbear.errors import ImportFailedError
from polarbear.execution.outcome import Status
from polarbear.formats import base
from polarbear.formats.feature_columns import (
    COST,
    PREFIX,
    exported_columns,
    feature_columns,
    features_in_columns,
)
from polarbear.formats.imported_runs import VIOLATION, has_repeated_times, with_run_numbers
from polarbear.formats.table_files import LINE, TableFile, open_table
from polarbear.problems.base import Trajectory
from polarbear.problems.specs import PROBLEM
from polarbear.problems.weights import WEIGHT, improper, is_weight
from polarbear.rankings.archives import MAX_OBJECTIVES
from polarbear.settings.enumerations import AfterEnd
from polarbear.settings.grid import EVALUATIONS
from polarbear.settings.names import without_formulas
from polarbear.settings.options import nearest, unknown
from polarbear.store import StoreOnDisk, tables
from polarbear.wording import counted, joined, noun, visible

Unranked = Literal["absent", "below"]
UNRANKED: Unranked = Field(
    "absent",
    description="those without a position: absent, or below the others in an unknown order",
)
RUN_STATUS = "run_status"
FEASIBLE = "feasible"
NAMES = ("algorithm", "instance")
NUMBERS = {"line", "t", "y", "position", "weight", VIOLATION}
DATES = (pl.Date, pl.Datetime, pl.Time)  # These have a text form, so they may be names.

Columns = Mapping[str, str | None]  # columns of the source by PolarBear's names; None if absent


class TableOptions(base.Format):
    """The options that tables of values and of rankings share."""

    algorithm_column: str = Field("algorithm", description="its column of algorithms")
    instance_column: str = Field("instance", description="its column of instances")
    t_column: str = Field("t", description="its column of times")
    weight_column: str | None = Field(
        None, description="its column of weights: how many instances each counts as"
    )

    feature_prefix: str = Field(
        PREFIX, description="how the names of its columns begin that are features of instances"
    )

    def columns(self, *others: str) -> Columns:
        """The names of the columns in the source, by PolarBear's names."""
        names = ("algorithm", "instance", "t", "weight", *others)
        return {name: getattr(self, f"{name}_column") for name in names}


class TrajectoryTable(TableOptions):
    """Rows of algorithm, instance, t, y, or y1, y2, ... for several objectives (CSV or Parquet)."""

    y_column: str = Field("y", description="its column of objective values")
    y_columns: list[str] | None = Field(
        None,
        min_length=1,
        max_length=MAX_OBJECTIVES,
        description="its columns of the values of several objectives; by default y1, y2 and so on "
        "where there is no column y",
    )
    archive_size: int | None = Field(
        None,
        ge=1,
        description="the largest number of points in the archive of a run with several objectives",
    )
    seed_column: str | None = Field(
        None, description="its column of seeds, where instances were run repeatedly"
    )
    problem_column: str | None = Field(
        None, description="its column of problems, where instances are runs of one with many seeds"
    )
    status_column: str | None = Field(
        None, description=f"its column of how runs ended; by default '{RUN_STATUS}' if there is one"
    )
    violation_column: str | None = Field(
        None,
        description="its column of violations of constraints, 0 where feasible; by default "
        f"'{VIOLATION}' if there is one",
    )
    feasible_column: str | None = Field(
        None,
        description="its column of whether a value is feasible, where there are no violations; by "
        f"default '{FEASIBLE}' if there is one",
    )
    feasibility_tolerance: float = base.FEASIBILITY_TOLERANCE
    maximise: bool = base.MAXIMISE
    after_end: AfterEnd = base.AFTER_END
    trajectory: Trajectory = base.TRAJECTORY

    def read(self, source: Path) -> base.Imported:
        table = open_table(source)
        columns = with_constraints(
            with_exported_columns(
                with_objectives(
                    self.columns("y", "seed", "problem", "status"), table.schema, self.y_columns
                ),
                table.schema,
            ),
            table.schema,
            self.violation_column,
            self.feasible_column,
        )
        imported = imported_rows(
            rows_of(table, columns, numbers=("t", *_value_columns(columns))),
            columns,
            str(source),
            self.maximise,
            self.after_end,
            self.trajectory,
            self.feasibility_tolerance,
            self.archive_size,
        )
        return replace(
            imported,
            notes=(*imported.notes, *unused_columns(table, columns, self.feature_prefix)),
            features=features_in_columns(
                table, self.instance_column, self.feature_prefix, imported.instances
            ),
        )


def with_objectives(
    columns: Columns, present: Collection[str], value_columns: Sequence[str] | None = None
) -> Columns:
    """The columns of a table, with a column for each objective instead of y.

    By default they are y1, y2 and so on, if there is no y.
    """
    if value_columns is None:
        if columns["y"] in present or columns["y"] != "y":
            return columns
        numbered = [f"y{k}" for k in range(1, MAX_OBJECTIVES + 1)]
        value_columns = list(takewhile(lambda name: name in present, numbered))
        if not value_columns:
            return columns
    if len(value_columns) == 1:
        return {**columns, "y": value_columns[0]}
    others = {name: column for name, column in columns.items() if name != "y"}
    return {
        **others,
        **dict(zip(tables.value_columns(len(value_columns)), value_columns, strict=True)),
    }


def with_exported_columns(columns: Columns, present: Collection[str]) -> Columns:
    """The columns of a table, with those that an export adds, unless others were chosen.

    A table with a column of that name was written by PolarBear.
    """
    if columns["status"] is not None or RUN_STATUS not in present:
        return columns
    exported = {"status": RUN_STATUS, "problem": "problem", "weight": "weight"}
    columns_present = {name: column for name, column in exported.items() if column in present}
    return {name: column or columns_present.get(name) for name, column in columns.items()}


def with_constraints(
    columns: Columns,
    present: Collection[str],
    violation: str | None = None,
    feasible: str | None = None,
) -> Columns:
    """The columns of a table, with one of violations, or one of whether a value is feasible.

    By default they are those with these names, of which violations say more.
    """
    if violation is None and feasible is None:
        violation = VIOLATION if VIOLATION in present else None
        feasible = FEASIBLE if FEASIBLE in present else None
    if violation is not None:
        return {**columns, VIOLATION: violation}
    return columns if feasible is None else {**columns, FEASIBLE: feasible}


def imported_rows(
    rows: pl.DataFrame,
    columns: Columns,
    source: str,
    maximise: bool,
    after_end: str,
    trajectory: Trajectory = "best",
    feasibility_tolerance: float = 0.0,
    archive_size: int | None = None,
) -> base.Imported:
    """An import from the rows of a table, which have their line in the column LINE.

    Columns are algorithm, instance, t, y (or y1, y2 and so on), and perhaps seed, problem, weight,
    status, violation or feasible. A run whose status is known may have a row without y, which says
    that it had found nothing by then; a row that is infeasible by an unknown violation says the
    same.
    """
    rejected: list[base.Rejection] = []
    value_columns = _value_columns(columns)
    frame = _cleaned(rows, columns, source, ("t", *value_columns), rejected)
    frame = base.reject(frame, pl.col("t") < 0, "t is negative", rejected)
    if VIOLATION in frame.columns:
        frame = _with_violations(frame, value_columns, feasibility_tolerance, rejected)
    if FEASIBLE in frame.columns:
        frame = _without_infeasible_values(frame, value_columns, rejected)
    unit = "instance"  # the column of the names that count once
    if "seed" in frame.columns:
        seed = pl.col("seed").cast(pl.String, strict=False)
        frame = base.reject(frame, seed.is_null(), "the seed is missing", rejected)
        # The k-th seed of an algorithm is compared with the k-th seeds of the others.
        number = seed.rank("dense").over("algorithm", "instance").cast(pl.Int64).cast(pl.String)
        name = pl.col("instance").cast(pl.String) + "#" + number
        frame = frame.with_columns(of="instance", instance=name.cast(pl.Categorical))
        unit = "of"
    if "problem" in frame.columns:
        frame = frame.with_columns(
            pl.coalesce(pl.col("problem").cast(pl.String), pl.col(unit).cast(pl.String))
        )
        unit = "problem"
    frame, n_ambiguous = _without_repeated_rows(frame, value_columns, rejected)
    _check_any(frame, source, rejected)
    notes: tuple[str, ...] = ()
    if n_ambiguous and len(value_columns) == 1:
        give = noun(n_ambiguous, "row gives", "rows give")
        notes = (f"{n_ambiguous} {give} another value for a time: the {trajectory} counts",)
    _check_statuses(frame)
    facts: dict[str, base.SpecEntries] = _weights(frame, unit)
    if unit != "instance":
        for name, problem in frame.select("instance", unit=unit).unique().rows():
            if problem != name:
                facts[name] = {PROBLEM: problem, **facts.get(name, {})}
    if len(value_columns) > 1:
        if trajectory == "last":
            raise ImportFailedError(
                f"{source} has {len(value_columns)} objectives, of which the archive counts; leave "
                "out 'trajectory: last'"
            )
        imported = base.imported_fronts(
            frame, value_columns, facts, maximise, after_end, archive_size
        )
    else:
        imported = base.imported_frame(frame, facts, maximise, after_end, trajectory)
    return replace(imported, rejected=tuple(rejected), notes=notes)


def _value_columns(columns: Columns) -> Sequence[str]:
    """PolarBear's names of the columns of values."""
    return tables.value_columns(tables.count_objectives(columns))


def _without_repeated_rows(
    frame: pl.DataFrame, value_columns: Sequence[str], rejected: list[base.Rejection]
) -> tuple[pl.DataFrame, int]:
    """The rows run by run, each once, and the number of those with another value for a time."""
    by_run = with_run_numbers(frame)
    if not has_repeated_times(by_run):
        return by_run, 0
    keys = ["algorithm", "instance", "t"]
    outcome = [name for name in (*value_columns, VIOLATION) if name in frame.columns]
    is_repeated = pl.struct(*keys, *outcome).is_first_distinct().not_()
    frame = base.reject(frame, is_repeated, "the row occurs twice", rejected)
    return with_run_numbers(frame), len(frame) - len(frame.unique(keys))


def _with_violations(
    frame: pl.DataFrame,
    value_columns: Sequence[str],
    tolerance: float,
    rejected: list[base.Rejection],
) -> pl.DataFrame:
    """The rows with violations as numbers, 0 up to the tolerance."""
    violation = _as_number(frame[VIOLATION])
    frame = frame.with_columns(violation.alias(VIOLATION))
    is_invalid = ~(pl.col(VIOLATION).is_finite() & (pl.col(VIOLATION) >= 0))
    is_invalid = is_invalid.fill_null(True) & pl.col(value_columns[0]).is_not_null()
    frame = base.reject(frame, is_invalid, "the violation is not a number of 0 or more", rejected)
    is_feasible = pl.col(VIOLATION) <= tolerance
    number = pl.when(is_feasible).then(0.0).otherwise(pl.col(VIOLATION))
    return frame.with_columns(number.alias(VIOLATION))


def _without_infeasible_values(
    frame: pl.DataFrame, value_columns: Sequence[str], rejected: list[base.Rejection]
) -> pl.DataFrame:
    """The rows, of which infeasible ones have no value."""
    text = frame[FEASIBLE].cast(pl.String).str.strip_chars().str.to_lowercase()
    frame = frame.with_columns(text.replace({"1": "true", "0": "false", "1.0": "true"}))
    frame = frame.with_columns(pl.col(FEASIBLE).replace({"0.0": "false"}))
    is_known = pl.col(FEASIBLE).is_in(["true", "false"])
    is_invalid = ~is_known.fill_null(False) & pl.col(value_columns[0]).is_not_null()
    frame = base.reject(frame, is_invalid, "feasible is neither true nor false", rejected)
    is_feasible = pl.col(FEASIBLE) == "true"
    return frame.with_columns(pl.when(is_feasible).then(pl.col(value_columns)))


class RankingsTable(TableOptions):
    """Rows of instance, t, algorithm, position (CSV or Parquet).

    Equal positions tie. An algorithm at the position 'below' was not recorded and is below those
    that were; the option ``unranked`` applies this to all algorithms that a ranking does not name.
    """

    position_column: str = Field("position", description="its column of positions")
    unranked: Unranked = UNRANKED

    def read(self, source: Path) -> base.Imported:
        table = open_table(source)
        columns = self.columns("position")
        rows = rows_of(table, columns)
        rejected: list[base.Rejection] = []
        frame = _cleaned(rows, columns, str(source), ("t", "position"), rejected)
        frame = frame.cast({"algorithm": pl.String, "instance": pl.String})
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
        notes = unused_columns(table, columns, self.feature_prefix)
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
            features=features_in_columns(
                table, self.instance_column, self.feature_prefix, tuple(instances.values())
            ),
        )


def rows_of(table: TableFile, columns: Columns, numbers: Collection[str] = ()) -> pl.DataFrame:
    """The used columns of a file, after a check of their names and types.

    Those that are used only as one of these ``numbers`` are read as such.
    """
    for name, column in columns.items():
        if column:
            _check_column(table.schema, name, column, str(table.path))
    texts = {column for name, column in columns.items() if name not in numbers}
    return table.read(
        [column for column in columns.values() if column],
        numbers={column for column in columns.values() if column and column not in texts},
        names={column for name, column in columns.items() if column and name in NAMES},
    )


def unused_columns(table: TableFile, columns: Columns, feature_prefix: str = "") -> tuple[str, ...]:
    """A note on the columns of a file that are not used, if there are any."""
    used = {*columns.values(), *feature_columns(table.schema, feature_prefix)}
    return base.ignored([column for column in table.schema if column not in used])


def _cleaned(
    rows: pl.DataFrame,
    columns: Columns,
    source: str,
    numbers: tuple[str, ...],
    rejected: list[base.Rejection],
) -> pl.DataFrame:
    """The columns under PolarBear's names, with ``line``.

    Rows without valid names and finite numbers are rejected. A position may be infinite.
    """
    used_columns = {"line": LINE}
    used_columns |= {name: column for name, column in columns.items() if column}
    frame = rows.select(
        [_column(rows, name, column, source) for name, column in used_columns.items()]
    )
    for name in NAMES:
        frame = frame.with_columns(_names(frame[name]))
        frame = base.reject(frame, pl.col(name) == "", f"no {name} is named", rejected)
    frame = base.reject_names(frame, rejected)
    for name in numbers:
        is_missing = frame[name].is_null()
        frame = frame.with_columns(_as_number(frame[name], inf if name == "position" else None))
        is_invalid = pl.col(name).is_finite().not_().fill_null(True)
        if name == "position":
            is_invalid &= pl.col(name) != inf
        if (name == "y" or tables.OBJECTIVE.fullmatch(name)) and "status" in frame.columns:
            is_invalid &= ~(pl.lit(is_missing) & pl.col("status").is_not_null())
        frame = base.reject(frame, is_invalid, f"{name} is not a finite number", rejected)
    return frame


def _names(column: pl.Series) -> pl.Series:
    """A column of names without blanks around them, as categories, so that each is held once."""
    if column.dtype != pl.Categorical:
        column = column.cast(pl.String).cast(pl.Categorical)
    distinct = column.unique().cast(pl.String)
    if (distinct == distinct.str.strip_chars()).all():
        return column
    return column.cast(pl.String).str.strip_chars().cast(pl.Categorical)


def _column(rows: pl.DataFrame, name: str, column: str, source: str) -> pl.Expr:
    """The column of the source under PolarBear's name for it."""
    _check_column(rows.schema, name, column, source)
    renamed = pl.col(column).alias(name)
    is_category = rows.schema[column] in (pl.Categorical, pl.Enum)
    return renamed.cast(pl.String) if is_category and name not in NAMES else renamed


def _check_column(schema: pl.Schema, name: str, column: str, source: str) -> None:
    """Refuse a column that is missing or has a type that cannot hold its names or numbers."""
    if column not in schema:
        columns = [other for other in schema if other != LINE]
        guess = nearest(column, columns)
        option = f"--{name}-column"
        hint = f"did you mean {option} '{visible(guess)}'?" if guess else f"name it with {option}"
        raise ImportFailedError(
            f"{source} has no column '{visible(column)}' for {name}; it has: "
            f"{base.shown_names(columns)}; {hint}"
        )
    check_type(name, column, schema[column], source)


def check_type(name: str, column: str, kind: pl.DataType, source: str) -> None:
    """Refuse a column whose type cannot hold the names or numbers that it is used for."""
    is_text = kind in (pl.String, pl.Categorical, pl.Enum, pl.Null)
    is_number = kind.is_numeric() or kind == pl.Boolean
    holds_numbers = name in NUMBERS or tables.OBJECTIVE.fullmatch(name) is not None
    is_date_as_name = not holds_numbers and kind in DATES
    if not (is_text or is_number or is_date_as_name):
        expected = "numbers" if holds_numbers else "names"
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
        unit=pl.coalesce(pl.col(unit).cast(pl.String), pl.col("instance").cast(pl.String)),
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


def _check_statuses(frame: pl.DataFrame) -> None:
    """Refuse statuses that are unknown, or that contradict each other about one run."""
    if "status" not in frame.columns:
        return
    known = [status.value for status in Status]
    with_status = frame.filter(pl.col("status").is_not_null())
    for line, status in (
        with_status.filter(~pl.col("status").is_in(known)).select("line", "status").rows()
    ):
        raise ImportFailedError(
            f"line {line}: {unknown('status of a run', base.shown_names([status]), known)}"
        )
    runs = with_status.group_by("algorithm", "instance", maintain_order=True)
    statuses = runs.agg(pl.col("status").unique(maintain_order=True))
    for algorithm, instance, endings in statuses.filter(pl.col("status").list.len() > 1).rows():
        raise ImportFailedError(
            f"{algorithm} on {instance} ended in several ways: {joined(endings)}; a run ends once"
        )


def _check_any(frame: pl.DataFrame, source: str, rejected: list[base.Rejection]) -> None:
    if not len(frame):
        reasons = "; ".join(
            f"{rejection.words} (first: line {rejection.first})" for rejection in rejected
        )
        raise ImportFailedError(f"no row of {source} is valid: {reasons}")


class CsvExport(base.Export):
    """Rows of algorithm, instance, problem, seed, run_status, t, y; a data dictionary beside them.

    Where instances have weights, or values are infeasible, there is a column for them, too. Names
    that a spreadsheet would take for a formula begin with an apostrophe, which an import removes.
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
    """The runs that count, in the order of algorithms and instances."""
    problems = store.problems()
    weights = store.weights()
    records = []
    runs = base.ordered_runs(store, algorithms)
    is_constrained = base.has_violations(runs)
    value_columns = tables.value_columns(store.n_objectives)
    columns_of_features = exported_columns(store)
    for run, improvements in runs:
        record: dict[str, object] = {
            "algorithm": run.algorithm,
            "instance": run.instance,
            "problem": problems.get(run.instance, run.instance),
            "seed": run.seed,
            RUN_STATUS: run.status.value,
        }
        if weights:
            record["weight"] = weights.get(run.instance, 1.0)
        for name, value_of_instance in columns_of_features.items():
            record[name] = value_of_instance.get(run.instance)
        points = base.points_and_end(run, improvements, store.sign)
        record |= {"t": points.times, **points.value_columns}
        if is_constrained:
            record[VIOLATION] = points.violations
        records.append(record)
    is_last = _last_value_counts(store, algorithms)
    value = "the last value" if is_last else "the best value found so far"
    meanings = {
        "algorithm": "the algorithm's name",
        "instance": "the instance's stable id",
        "problem": "the problem of which the instance is one of several runs, or the instance",
        "seed": "the seed of the algorithm",
        RUN_STATUS: "how the run ended: budget or lost if it was stopped from outside, after which "
        "it is absent from comparisons; ended, or a failure, if it keeps its best value",
        "weight": "the number of instances that the instance counts as",
        "t": f"{store.settings.budget.axis} at which a value was found; the last row of a run "
        "is its end",
        "y": f"{value}; {'larger' if store.maximise else 'smaller'} is better; empty if none was "
        "found",
        VIOLATION: "the violation of constraints by this value; 0 if it is feasible, empty if "
        "there is no value",
    }
    better = "larger" if store.maximise else "smaller"
    for k, name in enumerate(value_columns, 1):
        if store.n_objectives > 1:
            meanings[name] = (
                f"objective {k} of a point that entered the archive of the run; {better} is "
                "better; empty if none was found, and at the end of the run"
            )
    lists = ["t", *value_columns, *([VIOLATION] if is_constrained else [])]
    for name in columns_of_features:
        meanings[name] = f"the feature '{name.removeprefix(PREFIX)}' of the instance"
    meanings[COST] = f"the {store.settings.budget.axis} that computing all features takes"
    rows = pl.DataFrame(records, infer_schema_length=None).explode(*lists)
    summary = f"{counted(len(rows), 'row')} of {counted(len(runs), 'run')}"
    options = _options_of_import(store, rows, is_last)
    return _LongTable(rows, meanings, base.Written(summary, options))


def _last_value_counts(store: StoreOnDisk, algorithms: tuple[str, ...]) -> bool:
    """Whether values may get worse again: by the configuration, or those of a contract."""
    has_contract = any(name in store.settings.contracts for name in algorithms)
    return store.settings.trajectory == "last" or has_contract


def _options_of_import(
    store: StoreOnDisk, rows: pl.DataFrame, last_value_counts: bool
) -> tuple[str, ...]:
    """Notes on what the rows do not say, and an import has to be told."""
    settings = store.settings
    options = []
    if settings.budget.axis != EVALUATIONS:
        options.append(f"--axis {shlex.quote(settings.budget.axis)}")
    if store.maximise:
        options.append("--maximise")
    if last_value_counts:
        options.append("--set trajectory=last")
    notes = []
    if options:
        notes.append(f"rows do not say it: import them with {' '.join(options)}")
    ranks = settings.failures.ranks
    is_failure = [Status(status).failed for status in rows[RUN_STATUS]]
    if ranks != KEEPS and any(is_failure):
        notes.append(
            f"failed runs are ranked as '{ranks}' here, but keep their best value in an import"
        )
    return tuple(notes)
