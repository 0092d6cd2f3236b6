"""Runs that are in the store but do not count: set aside, never destroyed, and taken back."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from polarbear.store import files, tables
from polarbear.store.frames import frame

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

    def set_aside_runs(self) -> pl.DataFrame:
        """One row a run that does not count, with the reason and the time."""
        file = self.path / SET_ASIDE
        found = [files.read_part(file, tables.SET_ASIDE)] if file.exists() else []
        return frame(tables.SET_ASIDE, found)

    def set_aside(self, runs: pl.DataFrame, reason: Reason) -> None:
        """Let these runs (rows of ``runs``) count no more; all of them or none."""
        import polars as pl

        if not len(runs):
            return
        new = runs.select("run", "algorithm", "instance", "attempt").with_columns(
            reason=pl.lit(reason.value), since=pl.lit(datetime.now(UTC))
        )
        before = self.set_aside_runs()
        self._write_aside(pl.concat([before, new.cast(before.schema)]))

    def take_back(self, runs: Collection[str]) -> None:
        """Let runs count again that were set aside."""
        before = self.set_aside_runs()
        self._write_aside(before.filter(~before["run"].is_in(list(runs))))

    def _write_aside(self, rows: pl.DataFrame) -> None:
        table = rows.unique("run", keep="first", maintain_order=True).to_arrow()
        files.write_table(self.path / SET_ASIDE, _as_documented(table))


def _as_documented(table: pa.Table) -> pa.Table:
    return table.select(tables.SET_ASIDE.names).cast(tables.SET_ASIDE)
