"""Runs as the store keeps them: records of rows, and the runs that no round has asked for yet."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import NamedTuple

import polars as pl

from polarbear import __version__
from polarbear.execution.host import Where
from polarbear.execution.outcome import Outcome, Status, Task
from polarbear.numerics.arrays import Floats
from polarbear.store import parquet, tables
from polarbear.store.catalog import Catalog, part_file

SPECULATIVE = "speculative"
OUTCOME_FIELDS = ("status", "message", "evaluations", "reached", "seconds", "invalid")
RunKey = tuple[str, str, str]  # identifies a speculative run: algorithm, instance, start


def run_id(algorithm: str, instance: str, attempt: int) -> str:
    text = f"{algorithm}\x1f{instance}\x1f{attempt}"
    return hashlib.sha256(text.encode()).hexdigest()[:20]


class StoredRun(NamedTuple):
    """A row of the table of runs; tables.py has the meaning of each field."""

    run: str
    algorithm: str
    instance: str
    attempt: int
    seed: int
    budget: float
    status: Status
    message: str
    reached: float
    best: float | None
    points: int
    evaluations: int
    invalid: int
    seconds: float
    started: datetime
    host: str
    cpu: str
    load: float
    workers: int
    worker: str | None
    version: str
    fingerprint: str | None

    @classmethod
    def of(cls, outcome: Outcome, workers: int) -> StoredRun:
        """A run that was just executed by one of this number of workers."""
        task, where = outcome.task, outcome.where
        name, instance = task.algorithm.name, task.instance.id
        return cls(
            run=run_id(name, instance, task.attempt),
            algorithm=name,
            instance=instance,
            attempt=task.attempt,
            seed=task.seed,
            budget=task.budget,
            best=float(outcome.values[-1]) if len(outcome.values) else None,
            points=len(outcome.values),
            started=datetime.fromtimestamp(outcome.started, UTC),
            host=where.host,
            cpu=where.cpu,
            load=where.load,
            workers=workers,
            worker=where.worker,
            version=__version__,
            fingerprint=task.fingerprint,
            **{name: getattr(outcome, name) for name in OUTCOME_FIELDS},
        )

    def outcome(self, task: Task, times: Floats, values: Floats) -> Outcome:
        """The same run as the outcome of another task."""
        return Outcome(
            task=task,
            times=times,
            values=values,
            started=self.started.timestamp(),
            where=Where(self.host, self.cpu, self.load, self.worker or ""),
            **{name: getattr(self, name) for name in OUTCOME_FIELDS},
        )

    @property
    def key(self) -> RunKey:
        """Identifies a run before it has a final id."""
        return self.algorithm, self.instance, self.started.isoformat(timespec="microseconds")


def stored_runs(frame: pl.DataFrame) -> list[StoredRun]:
    """The rows of the table of runs as records."""
    rows = frame.select(StoredRun._fields).iter_rows()
    return [run._replace(status=Status(run.status)) for run in map(StoredRun._make, rows)]


@dataclass(frozen=True, eq=False)
class SpeculativeRun:
    """A finished run that no round has asked for yet."""

    run: StoredRun
    times: Floats
    values: Floats

    @classmethod
    def of(cls, outcome: Outcome, workers: int) -> SpeculativeRun:
        return cls(StoredRun.of(outcome, workers), outcome.times, outcome.values)

    def outcome(self, task: Task) -> Outcome:
        """The same run as the outcome of a task that a round has given."""
        return self.run.outcome(task, self.times, self.values)

    def cut(self, budget: float) -> SpeculativeRun | None:
        """The run as it would have been up to an earlier budget, on the evaluation axis.

        None if that is unknown: it did not reach this budget, or was killed before.
        """
        run = self.run
        if budget == run.budget:
            return self
        if budget > run.budget:
            return None
        if run.reached <= budget:
            seen = run.status in (Status.ENDED, Status.CRASHED, Status.BAD_OUTPUT)
            return replace(self, run=run._replace(budget=budget)) if seen else None
        inside = self.times <= budget
        run = run._replace(
            budget=budget,
            status=Status.BUDGET,
            message="",
            evaluations=int(budget),
            reached=budget,
        )
        return SpeculativeRun(run, self.times[inside], self.values[inside])


class SpeculativeRuns:
    """The folder ``speculative/`` of a store: runs that do not count until a round uses them."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def table(self) -> pl.DataFrame:
        """One row per run that no round has used, with its trajectory."""
        order, once = tables.ORDER[SPECULATIVE]
        parts = [part for _, part in self._catalog.read_parts(SPECULATIVE)]
        frame = pl.concat([parquet.empty(tables.SPECULATIVE), *parts])
        return frame.sort(order).unique(once, maintain_order=True)

    def count(self) -> int:
        """The number of runs that no round has used."""
        return len(self.table())

    def runs(self) -> list[SpeculativeRun]:
        """The same runs as records."""
        frame = self.table()
        points = zip(stored_runs(frame), frame["t"], frame["y"], strict=True)
        return [SpeculativeRun(run, t.to_numpy(), y.to_numpy()) for run, t, y in points]

    def change(
        self,
        outcomes: Iterable[Outcome] = (),
        workers: int = 0,
        unwanted: Callable[[RunKey], bool] = lambda key: False,
    ) -> None:
        """Add runs, and remove those that a round has used or that must not be used any more."""
        rows = [
            {**StoredRun.of(one, workers)._asdict(), "t": one.times, "y": one.values}
            for one in outcomes
        ]
        add = [part_file(SPECULATIVE, rows)] if rows else []
        remove = []
        for name, frame in self._catalog.read_parts(SPECULATIVE):
            keep = [not unwanted(run.key) for run in stored_runs(frame)]
            if not all(keep):
                remove.append(name)
            if any(keep) and not all(keep):
                add.append(part_file(SPECULATIVE, frame.filter(pl.Series(keep))))
        if add or remove:
            self._catalog.commit(add, remove)
