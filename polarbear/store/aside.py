"""Runs that are in the store but do not count: set aside, never destroyed, and taken back."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polarbear.store import files, tables
from polarbear.store.from_plain import table_from
from polarbear.store.rows import Rows

if TYPE_CHECKING:
    import polars as pl

SET_ASIDE = "set-aside.parquet"


class Reason(StrEnum):
    """Why a run was set aside."""

    FORGOTTEN = "forgotten"  # the user said so; it comes back when the user says so
    CHANGED = "changed"  # what made it has changed; it comes back when that is changed back
    DROPPED = "dropped"  # its algorithm is not in the configuration; it comes back with it

    @property
    def words(self) -> str:
        return {
            Reason.FORGOTTEN: "as asked for",
            Reason.CHANGED: "since what made them has changed",
            Reason.DROPPED: "since the configuration does not have them",
        }[self]


class Aside:
    """The file ``set-aside.parquet`` of a store: which runs do not count."""

    path: Path

    def rows_set_aside(self) -> Rows:
        """One row a run that does not count, with the reason and the time."""
        file = self.path / SET_ASIDE
        found = [files.read_part(file, tables.SET_ASIDE)] if file.exists() else []
        return Rows.of(tables.SET_ASIDE, found)

    def set_aside_runs(self) -> pl.DataFrame:
        """`rows_set_aside` in a frame."""
        return self.rows_set_aside().frame

    def set_aside(self, runs: Rows, reason: Reason) -> None:
        """Let these runs count no more; all of them or none."""
        if not len(runs):
            return
        before = list(self.rows_set_aside().records())
        known, now = {row["run"] for row in before}, datetime.now(UTC)
        new = [row for row in runs.records() if row["run"] not in known]
        self._write_aside(before + [{**row, "reason": reason.value, "since": now} for row in new])

    def take_back(self, runs: Collection[str]) -> None:
        """Let runs count again that were set aside."""
        back, before = set(runs), self.rows_set_aside().records()
        self._write_aside([row for row in before if row["run"] not in back])

    def _write_aside(self, rows: list[dict[str, Any]]) -> None:
        files.write_table(self.path / SET_ASIDE, table_from(rows, tables.SET_ASIDE))
