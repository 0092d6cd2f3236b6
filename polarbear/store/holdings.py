"""What a store holds: which rows of its tables count, as plain values and as polars shows them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from polarbear.store import files, tables
from polarbear.store.aside import Aside
from polarbear.store.early import Early
from polarbear.store.races import Races
from polarbear.store.rows import Rows

if TYPE_CHECKING:
    import polars as pl


class Holdings(Races, Aside, Early):
    """The tables of a store, each row once and in their order."""

    _held: dict[str, Rows] | None = None  # tables that have been read, by who only reads

    def __init__(self, path: Path, facts: Mapping[str, Any]) -> None:
        self.path = path
        self.manifest = facts
        # What was read of small tables: their parts, and all of them as one.
        self._last_read: dict[str, tuple[dict[files.Part, pa.Table], Rows]] = {}

    def to_be_read(self) -> Self:
        """The same store for somebody who only reads: a table that was read stays as it was."""
        view = copy.copy(self)
        view._held = {}
        return view

    def _read(self, table: str) -> Rows:
        if self._held is None:
            return self._read_if_changed(table)
        if table not in self._held:
            self._held[table] = self._read_if_changed(table)
        return self._held[table]

    def _read_if_changed(self, table: str) -> Rows:
        """A table as it is now; of its parts those are read that somebody has added or changed."""
        schema, kept = tables.ALL[table], self._last_read.get(table)
        parts = files.parts_now(self.path / table, schema, kept[0] if kept else {})
        if kept is None or parts.keys() != kept[0].keys():
            order, once = tables.ORDER[table]
            rows = Rows.of(schema, parts.values(), order).first_of(*once)
            kept = self._last_read[table] = parts, rows
        return kept[1]

    def rows_of_instances(self) -> Rows:
        """One row an instance, in the order of the stream."""
        return self._read("instances")

    def rows_of_every_run(self) -> Rows:
        """One row a run, those that were set aside included."""
        return self._read("runs")

    def rows_of_all_runs(self) -> Rows:
        """One row a run, those that were run again included."""
        runs, aside = self.rows_of_every_run(), self.rows_set_aside()
        if self.until is not None:  # as it was then
            runs = runs.where([started <= self.until for started in runs["started"]])
            aside = aside.where([since <= self.until for since in aside["since"]])
        if not len(aside):
            return runs
        gone = set(aside["run"])
        return runs.where([run not in gone for run in runs["run"]])

    def rows_of_runs(self) -> Rows:
        """One row for each algorithm on each instance: the run that counts."""
        return self.rows_of_all_runs().last_of("algorithm", "instance")

    def rows_of_rankings(self) -> Rows:
        """Rankings that were imported as such: one row for each instance and time."""
        return self._read("rankings")

    def instances(self) -> pl.DataFrame:
        """`rows_of_instances` in a frame."""
        return self.rows_of_instances().frame

    def every_run(self) -> pl.DataFrame:
        """`rows_of_every_run` in a frame."""
        return self.rows_of_every_run().frame

    def all_runs(self) -> pl.DataFrame:
        """`rows_of_all_runs` in a frame."""
        return self.rows_of_all_runs().frame

    def runs(self) -> pl.DataFrame:
        """`rows_of_runs` in a frame."""
        return self.rows_of_runs().frame

    def rankings(self) -> pl.DataFrame:
        """`rows_of_rankings` in a frame."""
        return self.rows_of_rankings().frame
