"""Runs as the store keeps them: records, runs set aside, speculative runs, and their origins."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from itertools import chain
from typing import NamedTuple

import numpy as np
import polars as pl

from polarbear import __version__
from polarbear.execution.host import Where
from polarbear.execution.outcome import Outcome, RunKey, Status, Task
from polarbear.numerics.arrays import Floats
from polarbear.rankings import Improvements
from polarbear.store import tables
from polarbear.store.catalog import (
    Catalog,
    File,
    decoded,
    empty,
    joined,
    json_file,
    part_file,
    table_file,
)
from polarbear.store.moments import moment, now

SPECULATIVE = "speculative"
SET_ASIDE = "set-aside"
PROVENANCE = "provenance.json"
TASK_FIELDS = ("attempt", "seed", "budget", "fingerprint")
ENDINGS = (Status.ENDED, Status.CRASHED, Status.BAD_OUTPUT)  # with any budget
OUTCOME_FIELDS = ("status", "message", "evaluations", "reached", "seconds", "invalid")
Fingerprint = str | None  # None: of an imported run


def run_id(key: RunKey, attempt: int) -> str:
    text = f"{key.algorithm}\x1f{key.instance}\x1f{attempt}"
    if key.contract is not None:
        text += f"\x1f{key.contract:.17g}"
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
        task = outcome.task
        name = task.algorithm.name
        instance = task.instance.id
        return cls(
            run=run_id(task.key, task.attempt),
            algorithm=name,
            instance=instance,
            best=_best(outcome.improvements),
            points=len(outcome.values),
            started=moment(outcome.started),
            workers=workers,
            version=__version__,
            **{name: getattr(task, name) for name in TASK_FIELDS},
            **{name: getattr(outcome, name) for name in OUTCOME_FIELDS},
            **vars(outcome.where),
        )

    def outcome(self, task: Task, improvements: Improvements) -> Outcome:
        """The same run as the outcome of another task."""
        return Outcome(
            task=task,
            times=improvements.times,
            values=improvements.values,
            violations=improvements.violations,
            started=self.started.timestamp(),
            where=Where(self.host, self.cpu, self.load, self.worker or ""),
            **{name: getattr(self, name) for name in OUTCOME_FIELDS},
        )


def _best(improvements: Improvements) -> float | None:
    """The last feasible value of a run; None if it found none, or has several objectives."""
    if improvements.n_objectives > 1:
        return None
    values = improvements.feasible().values
    return float(values[-1]) if len(values) else None


def stored_runs(frame: pl.DataFrame) -> list[StoredRun]:
    """The rows of the table of runs as records."""
    rows = frame.select(StoredRun._fields).iter_rows()
    return [run._replace(status=Status(run.status)) for run in map(StoredRun._make, rows)]


class Reason(StrEnum):
    """Why a run was set aside."""

    FORGOTTEN = "forgotten"  # on request of the user, who can take it back
    CHANGED = "changed"  # its source has changed; it comes back when that is undone
    DROPPED = "dropped"  # its algorithm is not in the configuration; it comes back with it

    @property
    def words(self) -> str:
        return {
            Reason.FORGOTTEN: "as asked for",
            Reason.CHANGED: "since what made them has changed",
            Reason.DROPPED: "since the configuration does not have them",
        }[self]


class SetAside:
    """The file ``set-aside-*.parquet`` of a store, which lists the runs that do not count."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def runs(self) -> pl.DataFrame:
        """One row per run that does not count, with the reason and the time."""
        current = self._catalog.read_current(SET_ASIDE)
        if current is None:
            return empty(tables.SET_ASIDE)
        path, data = current
        return decoded(path, data, tables.SET_ASIDE)

    def add(self, runs: pl.DataFrame, reason: Reason) -> None:
        """Set runs aside: all of them or none."""
        before = self.runs()
        new = runs.join(before, on="run", how="anti", maintain_order="left")
        if len(new):
            when = pl.lit(now()).dt.cast_time_unit("us").alias("since")
            new = new.with_columns(pl.lit(reason.value).alias("reason"), when)
            self._replace(pl.concat([before, new.select(before.columns)]))

    def take_back(self, runs: Collection[str]) -> None:
        """Let runs count again that were set aside."""
        self._replace(self.runs().filter(~pl.col("run").is_in(list(runs))))

    def _replace(self, rows: pl.DataFrame) -> None:
        file = table_file(SET_ASIDE, rows, tables.SET_ASIDE)
        self._catalog.commit([file], self._catalog.names(f"{SET_ASIDE}-"))


@dataclass(frozen=True, eq=False)
class FinishedRun:
    """A finished run with its trajectory."""

    run: StoredRun
    improvements: Improvements

    @classmethod
    def of(cls, outcome: Outcome, workers: int) -> FinishedRun:
        """A run that was just executed by one of this number of workers."""
        return cls(StoredRun.of(outcome, workers), outcome.improvements)

    def columns(self) -> dict[str, Floats | None]:
        """The columns of its row in a table of trajectories."""
        improvements = self.improvements
        values = improvements.values
        n_objectives = improvements.n_objectives
        columns = [values] if n_objectives == 1 else list(values.T.copy())
        return {
            "t": improvements.times,
            **dict(zip(tables.value_columns(n_objectives), columns, strict=True)),
            "violation": improvements.violations,
        }

    def up_to(self, task: Task) -> Outcome | None:
        """The run as the outcome of a task, which may end earlier on the evaluation axis.

        None if that is unknown: it did not reach this budget, or was killed before.
        """
        run = self.run
        budget = task.budget
        if budget > run.budget:
            return None
        if run.reached > budget:
            run = run._replace(status=Status.BUDGET, message="")
            run = run._replace(evaluations=int(budget), reached=budget)
        elif budget < run.budget and run.status not in ENDINGS:
            return None
        return run.outcome(task, self.improvements.up_to(budget))


def improvements_in(frame: pl.DataFrame) -> Iterator[Improvements]:
    """The trajectories in the rows of a table with the columns t, y and violation.

    With several objectives its columns of values are y1, y2 and so on.
    """
    lengths = frame["t"].list.len().to_numpy().astype(int)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    is_violated = frame["violation"].is_not_null().to_numpy()
    violation_ends = np.concatenate([[0], np.cumsum(lengths * is_violated)])
    times = concatenated(frame["t"])
    n_objectives = tables.count_objectives(frame.columns)
    value_columns = tables.value_columns(n_objectives)
    values = concatenated(frame[value_columns[0]])
    if n_objectives > 1:
        values = np.stack([concatenated(frame[name]) for name in value_columns], axis=1)
    violations = concatenated(frame["violation"])
    for row, has_violations in enumerate(is_violated):
        points = slice(ends[row], ends[row + 1])
        own_violations = None
        if has_violations:
            own_violations = violations[violation_ends[row] : violation_ends[row + 1]]
        yield Improvements(times[points], values[points], own_violations)


def trajectories_in(rows: pl.DataFrame) -> Iterator[tuple[StoredRun, Improvements]]:
    """The runs in rows of the table of runs, which have the columns of their trajectories, too."""
    return zip(stored_runs(rows), improvements_in(rows), strict=True)


def concatenated(lists: pl.Series) -> Floats:
    """The numbers of all lists of a column, one list after the other."""
    return lists.explode().drop_nulls().to_numpy()  # an empty list becomes one null


class SpeculativeTable:
    """The folder ``speculative/`` of a store: runs that do not count until a round uses them."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def table(self) -> pl.DataFrame:
        """One row per run that no round has used, with its trajectory."""
        return joined(SPECULATIVE, dict(self._catalog.read_parts(SPECULATIVE)).values())

    def runs(self) -> list[FinishedRun]:
        """The same runs as records."""
        return [
            FinishedRun(run, improvements) for run, improvements in trajectories_in(self.table())
        ]

    def replace(self, runs: Iterable[FinishedRun]) -> None:
        """Keep these runs and no others."""
        rows = [{**finished.run._asdict(), **finished.columns()} for finished in runs]
        parts = [part_file(SPECULATIVE, rows)] if rows else []
        before = self._catalog.names(f"{SPECULATIVE}/part-")
        if [name for name, _ in parts] != before:
            self._catalog.commit(parts, before)


@dataclass(frozen=True)
class Origins:
    """Facts about where runs come from that no single run contains.

    ``alike`` has, for each algorithm, groups of fingerprints that count as the same source;
    ``seeds_of`` has, for a renamed algorithm, the name that the seeds of its runs derive from.
    """

    alike: Mapping[str, list[list[Fingerprint]]] = field(default_factory=dict)
    seeds_of: Mapping[str, str] = field(default_factory=dict)

    def renamed(self, old: str, new: str) -> Origins:
        """The same facts with a new name for an algorithm; its seeds stay the same."""
        alike = {new if name == old else name: groups for name, groups in self.alike.items()}
        seeds = {name: of for name, of in self.seeds_of.items() if name != old}
        origin = self.seeds_of.get(old, old)
        return Origins(alike, seeds if origin == new else {**seeds, new: origin})

    def file(self) -> File:
        return json_file(PROVENANCE, vars(self))


class Provenance:
    """The file ``provenance.json`` of a store, which exists if there is something to note."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def read(self) -> Origins:
        try:
            return self._catalog.read_record(PROVENANCE, Origins)
        except FileNotFoundError:
            return Origins()

    def alike(self, algorithm: str, fingerprint: Fingerprint) -> list[Fingerprint]:
        """All fingerprints that count as the same source as this one, which comes first."""
        for group in self.read().alike.get(algorithm, ()):
            if fingerprint in group:
                return [fingerprint, *(other for other in group if other != fingerprint)]
        return [fingerprint]

    def declare_alike(self, algorithm: str, fingerprints: Iterable[Fingerprint]) -> None:
        """Count runs with these fingerprints as made by the same source from now on."""
        origins = self.read()
        new_group = list(fingerprints)
        groups = origins.alike.get(algorithm, [])
        overlapping = [group for group in groups if not {*group}.isdisjoint(new_group)]
        others = [group for group in groups if group not in overlapping]
        merged = list(dict.fromkeys(chain(*overlapping, new_group)))
        changed = replace(origins, alike={**origins.alike, algorithm: [*others, merged]})
        self._catalog.commit([changed.file()])

    def seed_name(self, algorithm: str) -> str:
        """The name that an algorithm's seeds derive from: its current or its first one."""
        return self.read().seeds_of.get(algorithm, algorithm)

    def in_order(self, algorithms: Iterable[str]) -> list[str]:
        """These algorithms in the order of decisions and records, with any order in the file."""
        return sorted(algorithms, key=lambda name: (self.seed_name(name), name))

    def copy_from(self, other: Provenance, algorithms: Iterable[str]) -> None:
        """Take over what another store knows about these algorithms."""
        theirs = other.read()
        for name in algorithms:
            for group in theirs.alike.get(name, ()):
                self.declare_alike(name, group)
            if name in theirs.seeds_of:
                ours = self.read()
                seeds = {**ours.seeds_of, name: theirs.seeds_of[name]}
                self._catalog.commit([replace(ours, seeds_of=seeds).file()])
