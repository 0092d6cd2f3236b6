"""Runs that were executed before a round asked for them, on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import polars as pl

from polarbear.execution.outcome import Outcome
from polarbear.store import tables
from polarbear.store.catalog import Catalog, part_file
from polarbear.store.parquet import frame_of, table_of
from polarbear.store.runs import RunKey, SpeculativeRun, speculative_runs, stored_runs

TABLE = "speculative"


class SpeculativeRuns:
    """The folder ``speculative/`` of a store: runs that do not count until a round uses them."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def table(self) -> pl.DataFrame:
        """One row per run that no round has used, with its trajectory."""
        order, once = tables.ORDER[TABLE]
        parts = [part for _, part in self._catalog.read_parts(TABLE)]
        return frame_of(tables.SPECULATIVE, parts).sort(order).unique(once, maintain_order=True)

    def count(self) -> int:
        """The number of runs that no round has used."""
        return len(self.table())

    def runs(self) -> list[SpeculativeRun]:
        """The same runs as records."""
        return speculative_runs(self.table())

    def change(
        self,
        outcomes: Iterable[Outcome] = (),
        workers: int = 0,
        unwanted: Callable[[RunKey], bool] = lambda key: False,
    ) -> None:
        """Add runs, and remove those that a round has used or that must not be used any more."""
        new = [SpeculativeRun.of(outcome, workers) for outcome in outcomes]
        rows = [{**one.run._asdict(), "t": one.times, "y": one.values} for one in new]
        add = [part_file(TABLE, table_of(rows, tables.SPECULATIVE))] if rows else []
        remove = []
        for name, part in self._catalog.read_parts(TABLE):
            frame = frame_of(part.schema, [part])
            keep = [not unwanted(run.key) for run in stored_runs(frame)]
            if not all(keep):
                remove.append(name)
            if any(keep) and not all(keep):
                left = frame.filter(pl.Series(keep))
                add.append(part_file(TABLE, left.to_arrow().cast(tables.SPECULATIVE)))
        if add or remove:
            self._catalog.commit(add, remove)
