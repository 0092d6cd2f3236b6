"""Runs of an import as columns: from rows of points to the tables of a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, overload

import numpy as np
import polars as pl
import pyarrow as pa

from polarbear.algorithms.base import Algorithm, Trial
from polarbear.errors import AlgorithmError
from polarbear.execution.outcome import Outcome, RunKey, Status, Task
from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Instance, Kind, Setting
from polarbear.rankings.outcomes import ordinals
from polarbear.store.runs import StoredRun, concatenated, run_id

VIOLATION = "violation"
RUN = "run"  # the number of a run, in the order of the first rows


class ImportedAlgorithm(Algorithm):
    """An algorithm whose runs were imported; it cannot be run."""

    use: str = "imported"
    accepts: ClassVar[frozenset[Kind]] = frozenset()

    def run(self, trial: Trial, setting: Setting) -> None:
        raise AlgorithmError(f"'{self.name}' was imported and cannot be run here")


class RunTables(NamedTuple):
    """Runs as rows of the stored tables of runs and of trajectories."""

    runs: pl.DataFrame
    trajectories: pl.DataFrame


@dataclass(frozen=True)
class ImportedRuns(Sequence[Outcome]):
    """The runs of an import as a table with a row for each; an item is the outcome of a row.

    The columns are algorithm, instance, status, reached, t, y and violation, which is null for runs
    without infeasible values.
    """

    table: pl.DataFrame
    instances: Mapping[str, Instance]

    def __len__(self) -> int:
        return len(self.table)

    @overload
    def __getitem__(self, index: int) -> Outcome: ...

    @overload
    def __getitem__(self, index: slice) -> ImportedRuns: ...

    def __getitem__(self, index: int | slice) -> Outcome | ImportedRuns:
        if isinstance(index, slice):
            return ImportedRuns(self.table[index], self.instances)
        return self._outcome(self.table.row(index, named=True))

    def __iter__(self) -> Iterator[Outcome]:
        return map(self._outcome, self.table.iter_rows(named=True))

    def _outcome(self, row: Mapping[str, Any]) -> Outcome:
        algorithm = ImportedAlgorithm(name=row["algorithm"])
        violations = row[VIOLATION]
        return Outcome(
            Task(algorithm, self.instances[row["instance"]], seed=0, budget=row["reached"]),
            Status(row["status"]),
            message="",
            times=np.array(row["t"], dtype=float),
            values=np.array(row["y"], dtype=float),
            reached=row["reached"],
            violations=None if violations is None else np.array(violations, dtype=float),
        )

    @property
    def times(self) -> Floats:
        """The times of improvements, each once and in order."""
        return np.asarray(pl.Series(concatenated(self.table["t"])).unique().sort())

    def without(self, stored: pl.DataFrame) -> ImportedRuns:
        """The runs whose algorithm and instance are not in a row of another table."""
        keys = ["algorithm", "instance"]
        if stored.is_empty():
            return self
        new = self.table.join(stored, on=keys, how="anti", maintain_order="left")
        return ImportedRuns(new, self.instances)

    def tables(self) -> RunTables:
        """The rows that a store keeps of these runs, of which there is at least one."""
        same_for_all = StoredRun.of(self[0], workers=0)._asdict()
        ids = [
            run_id(RunKey(algorithm, instance), attempt=1)
            for algorithm, instance in self.table.select("algorithm", "instance").iter_rows()
        ]
        own_columns = self.table.select(
            pl.Series("run", ids),
            "algorithm",
            "instance",
            "status",
            "reached",
            budget="reached",
            points=pl.col("t").list.len(),
            best=self._best(),
        )
        constants = {
            name: pl.lit(value)
            for name, value in same_for_all.items()
            if name not in own_columns.columns
        }
        trajectories = self.table.select(
            pl.Series("run", ids), "algorithm", "instance", "t", "y", VIOLATION
        )
        return RunTables(own_columns.with_columns(**constants), trajectories)

    def _best(self) -> pl.Series:
        """The last feasible value of each run; null where there is none."""
        best = self.table["y"].list.last().to_list()
        for row in self.table[VIOLATION].is_not_null().arg_true():
            best[row] = StoredRun.of(self[row], workers=0).best
        return pl.Series(best, dtype=pl.Float64)


def with_run_numbers(points: pl.DataFrame) -> pl.DataFrame:
    """Rows (algorithm, instance, t, ...) run by run, each by increasing t, with the column RUN.

    Runs are numbered in the order of their first rows. Rows with the same t keep their order.
    """
    key = _run_keys(points)
    number = key.rle_id()
    is_contiguous = key.filter(number.diff().fill_null(1) != 0).is_unique().all()
    if not is_contiguous:
        first_of_run = key.unique(maintain_order=True).to_frame("key").with_row_index(RUN)
        number = key.to_frame("key").join(first_of_run, on="key", maintain_order="left")[RUN]
    points = points.with_columns(number.alias(RUN))
    is_next = pl.col(RUN).diff() > 0
    is_later = pl.col("t").diff() >= 0
    if is_contiguous and points.select((is_next | is_later).fill_null(True).all()).item():
        return points
    return points.sort(RUN, "t", maintain_order=True)


def has_repeated_times(points: pl.DataFrame) -> bool:
    """Whether a run has several rows with the same t; rows are as `with_run_numbers` gives them."""
    is_same = (pl.col(RUN).diff() == 0) & (pl.col("t").diff() == 0)
    return bool(points.select(is_same.any()).item())


def _run_keys(points: pl.DataFrame) -> pl.Series:
    """A number for each row, equal for rows of the same run."""
    codes = [
        points[name].cast(pl.Categorical).to_physical().cast(pl.UInt64)
        for name in ("algorithm", "instance")
    ]
    return codes[0] * 2**32 + codes[1]


def runs_of(
    points: pl.DataFrame, maximise: bool, default_status: Status, is_best: bool
) -> pl.DataFrame:
    """The table of `ImportedRuns` of rows (algorithm, instance, t, y, status, violation).

    The last two columns may be missing. A row without y only shows that the run lasted until then.
    Of several outcomes at one time the best counts, or the last row if the last value counts.
    """
    if RUN not in points.columns:
        points = with_run_numbers(points)
    is_last_row = (pl.col(RUN) != pl.col(RUN).shift(-1)).fill_null(True)
    runs = points.filter(is_last_row).select(
        pl.col("algorithm", "instance").cast(pl.String), reached="t"
    )
    changes = _changes(points, maximise, is_best)
    lengths = np.bincount(changes[RUN].to_numpy(), minlength=len(runs))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return runs.with_columns(
        _statuses(points, len(runs), default_status),
        t=_lists(changes["t"], offsets),
        y=_lists(changes["y"], offsets),
        violation=_violations(changes, offsets),
    )


def _statuses(points: pl.DataFrame, n_runs: int, default: Status) -> pl.Series:
    """How each run ended, by the first of its rows that says so."""
    statuses = pl.repeat(default.value, n_runs, eager=True).alias("status")
    if "status" not in points.columns:
        return statuses
    stated = points.filter(pl.col("status").is_not_null()).unique(RUN, keep="first")
    return statuses.scatter(stated[RUN], stated["status"])


def _changes(points: pl.DataFrame, maximise: bool, is_best: bool) -> pl.DataFrame:
    """The rows at which the outcome that counts changes."""
    columns = [name for name in (RUN, "t", "y", VIOLATION) if name in points.columns]
    points = points.select(columns)
    if points["y"].null_count():
        points = points.filter(pl.col("y").is_not_null())
    if maximise:
        points = points.with_columns(-pl.col("y"))
    points = _at_distinct_times(points, is_best)
    outcome = _ordinals(points)
    if is_best:
        by_run = pl.DataFrame({RUN: points[RUN].set_sorted(), "outcome": outcome})
        outcome = by_run.select(pl.col("outcome").cum_min().over(RUN)).to_series()
    is_first = points[RUN] != points[RUN].shift()
    is_change = is_first | (outcome != outcome.shift())
    return points.filter(is_change.fill_null(True))


def _at_distinct_times(points: pl.DataFrame, is_best: bool) -> pl.DataFrame:
    """The rows, of which those of a run with the same t are one: the best, or the last one."""
    if not has_repeated_times(points):
        return points
    offset = -1
    if is_best:
        outcome = _ordinals(points).alias("outcome")
        points = points.with_columns(outcome).sort(RUN, "t", "outcome", maintain_order=True)
        offset = 1
    is_other = pl.any_horizontal(pl.col(name) != pl.col(name).shift(offset) for name in (RUN, "t"))
    return points.filter(is_other.fill_null(True))


def _ordinals(points: pl.DataFrame) -> pl.Series:
    """Numbers in the order of the outcomes; these are the values where all are feasible."""
    if VIOLATION not in points.columns and not points["y"].is_nan().any():
        return points["y"]
    values = points["y"].to_numpy()
    violations = np.zeros(len(values))
    if VIOLATION in points.columns:
        violations = points[VIOLATION].to_numpy()
    return pl.Series(ordinals(values, violations))


def _lists(column: pl.Series, offsets: np.ndarray) -> pl.Series:
    """A column cut into lists at offsets, without a copy."""
    lists = pa.LargeListArray.from_arrays(pl.Series(offsets).to_arrow(), column.to_arrow())
    return pl.Series(lists)


def _violations(changes: pl.DataFrame, offsets: np.ndarray) -> pl.Series:
    """The violations of each run as a list, null for runs without infeasible values."""
    n_runs = len(offsets) - 1
    if VIOLATION not in changes.columns:
        return pl.repeat(None, n_runs, dtype=pl.List(pl.Float64), eager=True)
    infeasible = changes.filter(pl.col(VIOLATION) > 0)[RUN]
    is_violated = pl.int_range(n_runs, dtype=pl.UInt32, eager=True).is_in(infeasible.implode())
    lists = _lists(changes[VIOLATION], offsets)
    return pl.select(pl.when(is_violated).then(lists)).to_series()
