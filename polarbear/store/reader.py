"""The tables of a store as frames: each row once, in order, and only rows that count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

import numpy as np
import polars as pl

from polarbear.config import KEEPS
from polarbear.execution.outcome import Status
from polarbear.numerics.arrays import Floats
from polarbear.rankings import UNRECORDED, GridValues
from polarbear.store import file_io, parquet, tables
from polarbear.store.catalog import Catalog
from polarbear.store.runs import StoredRun, stored_runs
from polarbear.store.set_aside import SetAside
from polarbear.wording import counted


class Reader:
    """The tables of a store.

    With ``until``, runs that were started or set aside later are left out. With ``frozen``, a table
    stays as it was when it was first read.
    """

    def __init__(
        self,
        catalog: Catalog,
        set_aside: SetAside,
        until: datetime | None = None,
        frozen: bool = False,
    ) -> None:
        self._catalog, self._set_aside = catalog, set_aside
        self._until, self._frozen = until, frozen
        self._tables: dict[str, tuple[dict[str, pl.DataFrame], pl.DataFrame]] = {}

    def table(self, name: str) -> pl.DataFrame:
        """A table as it is now; parts that were read before are not read again."""
        known = self._tables.get(name)
        if known is not None and (
            self._frozen or list(known[0]) == self._catalog.names(f"{name}/part-")
        ):
            return known[1]
        order, once = tables.ORDER[name]
        parts = dict(self._catalog.read_parts(name, known={} if known is None else known[0]))
        frame = pl.concat([parquet.empty(tables.ALL[name]), *parts.values()])
        frame = frame.sort(order, maintain_order=True)
        frame = frame.unique(once, keep="first", maintain_order=True)
        self._tables[name] = parts, frame
        return frame

    def instances(self) -> pl.DataFrame:
        """One row per instance, in the order of the stream."""
        return self.table("instances")

    def every_run(self) -> pl.DataFrame:
        """One row per run, including runs that were set aside."""
        return self.table("runs")

    def all_runs(self) -> pl.DataFrame:
        """One row per run that was not set aside, including earlier attempts."""
        runs, aside = self.every_run(), self._set_aside.runs()
        if self._until is not None:
            runs = runs.filter(pl.col("started") <= self._until)
            aside = aside.filter(pl.col("since") <= self._until)
        return runs.join(aside, on="run", how="anti", maintain_order="left") if len(aside) else runs

    def runs(self) -> pl.DataFrame:
        """One row for each algorithm on each instance: the run that counts."""
        pair = ["algorithm", "instance"]
        return self.all_runs().unique(pair, keep="last", maintain_order=True)

    def rankings(self) -> pl.DataFrame:
        """Imported rankings: one row for each instance and time."""
        return self.table("rankings")

    def trajectories(
        self, algorithms: Sequence[str] | None = None
    ) -> Iterator[tuple[StoredRun, Floats, Floats]]:
        """Each run that counts, with the times and values of its improvements."""
        runs = self.runs()
        if algorithms is not None:
            runs = runs.filter(pl.col("algorithm").is_in(list(algorithms)))
        wanted = {run.run: run for run in stored_runs(runs)}
        for _, frame in self._catalog.read_parts("trajectories", ["run", "t", "y"]):
            ends = np.cumsum([0, *frame["t"].list.len()])
            # an empty list becomes one null
            times, values = (frame[c].explode().drop_nulls().to_numpy() for c in ("t", "y"))
            for row, name in enumerate(frame["run"]):
                run = wanted.pop(name, None)  # a row that occurs twice counts once
                if run is not None:
                    here = slice(ends[row], ends[row + 1])
                    yield run, times[here], values[here]
        if wanted:
            path = self._catalog.path
            lacking = counted(len(wanted), "run")
            raise file_io.damaged(path / "trajectories", f"it lacks {lacking} that {path}/runs has")

    def on_grid(self, times: Floats, algorithms: Sequence[str], failed: str = KEEPS) -> GridValues:
        """The best-so-far values of all runs that count, at each time of a grid.

        If an instance has an imported ranking, the positions in it replace the values.
        """
        runs, rankings, names = self.runs(), self.rankings(), tuple(algorithms)
        order = self.instances()["instance"].to_list()
        present = set(runs.filter(pl.col("algorithm").is_in(names))["instance"])
        present |= set(rankings["instance"])
        # Instances lost with a damaged part come last, until they are drawn again.
        order += sorted(present.difference(order))
        instances = tuple(instance for instance in order if instance in present)
        row = {instance: position for position, instance in enumerate(instances)}
        column = {name: position for position, name in enumerate(names)}
        values = np.full((len(instances), len(names), len(times)), np.nan)
        for run, t, y in self.trajectories(names):
            if run.instance in row:  # otherwise it was stored after the table of runs was read
                found = best_so_far(t, y, run.status, run.reached, times, failed)
                values[row[run.instance], column[run.algorithm]] = found
        at = {float(t): position for position, t in enumerate(times)}
        for instance, t, ranked, positions in rankings.iter_rows():
            for name, position in zip(ranked, positions, strict=True):
                if t in at and name in column:
                    values[row[instance], column[name], at[t]] = min(position, UNRECORDED)
        return GridValues(instances, names, np.asarray(times), values)


def best_so_far(
    t: Floats, y: Floats, status: str, reached: float, times: Floats, failed: str = KEEPS
) -> Floats:
    """The values of a run on a grid: +inf before its first, NaN where it is absent.

    ``failed`` is the rank of a failed run after its end: it keeps its best, is last or absent.
    """
    found = np.concatenate([[np.inf], y])[np.searchsorted(t, times, side="right")]
    if status in (Status.BUDGET, Status.LOST):
        found[times > reached] = np.nan  # stopped from outside: absent, not last
    elif failed != KEEPS and Status(status).failed:
        found[times > reached] = np.inf if failed == "last" else np.nan
    return found
