"""Runs that were made before any round has asked for them: kept apart until one does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from polarbear.store import files, tables
from polarbear.store.from_plain import table_from
from polarbear.store.numbers import column_of
from polarbear.store.rows import Rows
from polarbear.store.run_rows import run_facts, run_key

if TYPE_CHECKING:
    import polars as pl

    from polarbear.execution.outcome import Outcome
    from polarbear.store.early_run import EarlyRun

EARLY = "early"
KEY = ["algorithm", "instance", "started"]  # what tells runs apart
Key = tuple[str, str, str]


class Early:
    """The folder ``early/`` of a store: runs that count for nothing until a round takes them."""

    path: Path

    def number_of_early_runs(self) -> int:
        """How many runs there are that no round has used."""
        return len(self._early_rows(KEY))

    def early_runs(self) -> pl.DataFrame:
        """One row a run that no round has used."""
        return self._early_rows(tables.RUNS.names).frame

    def early_outcomes(self) -> list[EarlyRun]:
        """The same with their trajectories."""
        from polarbear.store.early_run import EarlyRun

        return [EarlyRun.from_row(row) for row in self._early_rows(None).records()]

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
            table = table_from(rows, tables.EARLY)
            files.write_part(self.path / EARLY, files.new_stem(), table)

    def drop_early(self, unwanted: Callable[[Key], bool]) -> None:
        """Take early runs away: those that a round has used, or that must not be used any more."""
        for path in files.part_paths(self.path / EARLY):
            keep = [not unwanted(run) for run in _keys_in(path, files.part_now(path))]
            if not any(keep):
                files.remove_all([path])
            elif not all(keep):
                table = files.read_part(path, tables.EARLY)
                files.write_table(path, table.take(column_of(np.flatnonzero(keep))))

    def _early_rows(self, columns: list[str] | None) -> Rows:
        schema = tables.EARLY
        if columns is not None:
            schema = pa.schema([schema.field(name) for name in columns])
        found = files.read_parts(self.path / EARLY, tables.EARLY, columns)
        return Rows.of(schema, found, KEY).first_of(*KEY)


def key(algorithm: str, instance: str, started: datetime | float) -> Key:
    """What tells early runs apart, on disk and in memory."""
    if not isinstance(started, datetime):
        started = datetime.fromtimestamp(started, UTC)
    return algorithm, instance, started.isoformat(timespec="microseconds")


@lru_cache(maxsize=1024)  # a race takes runs out of its parts again and again
def _keys_in(path: Path, part: files.Part) -> list[Key]:
    """Of the runs in a part, as it is now."""
    rows = Rows.of(tables.EARLY, [files.read_part(path, tables.EARLY)])
    return [key(*facts) for facts in rows.tuples(*KEY)]
