"""Runs that are in the store but do not count: they are set aside, and can be taken back."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from enum import StrEnum

import polars as pl

from polarbear.store import parquet, tables
from polarbear.store.catalog import Catalog, table_file

STEM = "set-aside"


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
        found = self._catalog.read_current(STEM)
        if found is None:
            return parquet.empty(tables.SET_ASIDE)
        return parquet.from_bytes(*found, tables.SET_ASIDE)

    def add(self, runs: pl.DataFrame, reason: Reason) -> None:
        """Set runs aside: all of them or none."""
        if runs.is_empty():
            return
        before = self.runs()
        new = runs.join(before, on="run", how="anti", maintain_order="left")
        when = pl.lit(datetime.now(UTC)).dt.cast_time_unit("us").alias("since")
        new = new.with_columns(pl.lit(reason.value).alias("reason"), when)
        self._replace(pl.concat([before, new.select(before.columns)]))

    def take_back(self, runs: Collection[str]) -> None:
        """Let runs count again that were set aside."""
        self._replace(self.runs().filter(~pl.col("run").is_in(list(runs))))

    def _replace(self, rows: pl.DataFrame) -> None:
        old = self._catalog.find(STEM)
        file = table_file(STEM, rows, tables.SET_ASIDE)
        self._catalog.commit([file], [] if old is None else [old])

    def is_newer_than(self, name: str) -> bool:
        """Whether runs were set aside or taken back after a listed file was added."""
        mine, listed = self._catalog.find(STEM), list(self._catalog.manifest.files)
        return mine is not None and listed.index(mine) > listed.index(name)
