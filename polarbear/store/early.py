"""Runs that were made before any round has asked for them: kept apart until one does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from polarbear.execution.host import Where
from polarbear.execution.outcome import Outcome, Status, Task
from polarbear.numerics.arrays import Floats
from polarbear.store import files, tables
from polarbear.store.rows import Rows
from polarbear.store.run_rows import run_facts, run_key

if TYPE_CHECKING:
    import polars as pl

EARLY = "early"
Key = tuple[str, str, str]  # algorithm, instance, and when it was started: what tells runs apart


@dataclass(frozen=True)
class EarlyRun:
    """A finished run that no round has asked for yet."""

    algorithm: str
    instance: str
    seed: int
    budget: float
    fingerprint: str | None
    status: Status
    message: str
    times: Floats
    values: Floats
    evaluations: int
    reached: float
    seconds: float
    invalid: int
    started: float
    where: Where

    @classmethod
    def of(cls, outcome: Outcome) -> EarlyRun:
        task = outcome.task
        return cls(
            task.algorithm.name,
            task.instance.id,
            task.seed,
            task.budget,
            task.fingerprint,
            outcome.status,
            outcome.message,
            outcome.times,
            outcome.values,
            outcome.evaluations,
            outcome.reached,
            outcome.seconds,
            outcome.invalid,
            outcome.started,
            outcome.where,
        )

    def outcome(self, task: Task) -> Outcome:
        """The same as what came of a task that a round has given."""
        return Outcome(
            task,
            self.status,
            self.message,
            self.times,
            self.values,
            self.evaluations,
            self.reached,
            self.seconds,
            self.invalid,
            self.started,
            self.where,
        )

    def cut(self, budget: float) -> EarlyRun | None:
        """The same run as it would have been up to an earlier budget, on the evaluation axis.

        None where nobody can tell: it did not get so far, or was killed before it was seen there.
        """
        if budget == self.budget:
            return self
        if budget > self.budget:
            return None
        if self.reached <= budget:
            seen = self.status in (Status.ENDED, Status.CRASHED, Status.BAD_OUTPUT)
            return replace(self, budget=budget) if seen else None
        inside = self.times <= budget
        return replace(
            self,
            budget=budget,
            status=Status.BUDGET,
            message="",
            times=self.times[inside],
            values=self.values[inside],
            evaluations=int(budget),
            reached=budget,
        )


class Early:
    """The folder ``early/`` of a store: runs that count for nothing until a round takes them."""

    path: Path

    def rows_of_early_runs(self) -> Rows:
        """One row a run that no round has used."""
        return self._early_rows(tables.RUNS.names)

    def early_runs(self) -> pl.DataFrame:
        """`rows_of_early_runs` in a frame."""
        return self.rows_of_early_runs().frame

    def early_outcomes(self) -> list[EarlyRun]:
        """The same with their trajectories."""
        return [_from_row(row) for row in self._early_rows(None).records()]

    def add_early(self, outcomes: Iterable[Outcome], workers: int) -> None:
        """Keep runs that no round has asked for."""
        rows = [
            {
                **run_key(outcome),
                **run_facts(outcome, workers),
                "t": outcome.times,
                "y": outcome.values,
            }
            for outcome in outcomes
        ]
        if rows:
            files.make_folder(self.path / EARLY)
            table = pa.Table.from_pylist(rows, tables.EARLY)
            files.write_part(self.path / EARLY, files.new_stem(), table)

    def drop_early(self, unwanted: Callable[[Key], bool]) -> None:
        """Take early runs away: those that a round has used, or that must not be used any more."""
        for path in files.part_paths(self.path / EARLY):
            keep = [not unwanted(run) for run in _keys_in(path, files.part_now(path))]
            if not any(keep):
                files.remove_all([path])
            elif not all(keep):
                table = files.read_part(path, tables.EARLY)
                files.write_table(path, table.filter(pa.array(keep)))

    def _early_rows(self, columns: list[str] | None) -> Rows:
        schema = tables.EARLY
        if columns is not None:
            schema = pa.schema([schema.field(name) for name in columns])
        key = ("algorithm", "instance", "started")
        found = files.read_parts(self.path / EARLY, tables.EARLY, columns)
        return Rows.of(schema, found, key).first_of(*key)


def key(algorithm: str, instance: str, started: datetime | float) -> Key:
    """What tells early runs apart, on disk and in memory."""
    if not isinstance(started, datetime):
        started = datetime.fromtimestamp(started, UTC)
    return algorithm, instance, started.isoformat(timespec="microseconds")


@lru_cache(maxsize=1024)  # a race takes runs out of its parts again and again
def _keys_in(path: Path, part: files.Part) -> list[Key]:
    """Of the runs in a part, as it is now."""
    table = files.read_part(path, tables.EARLY)
    columns = (table[name].to_pylist() for name in ("algorithm", "instance", "started"))
    return [key(*facts) for facts in zip(*columns, strict=True)]


def _from_row(row: dict[str, Any]) -> EarlyRun:
    return EarlyRun(
        row["algorithm"],
        row["instance"],
        row["seed"],
        row["budget"],
        row["fingerprint"],
        Status(row["status"]),
        row["message"],
        np.array(row["t"], dtype=np.float64),
        np.array(row["y"], dtype=np.float64),
        row["evaluations"],
        row["reached"],
        row["seconds"],
        row["invalid"],
        row["started"].timestamp(),
        Where(row["host"], row["cpu"], row["load"], row["worker"] or ""),
    )
