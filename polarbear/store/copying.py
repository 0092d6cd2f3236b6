"""Runs of one store in another, with their trajectories and instances."""

from __future__ import annotations

from collections.abc import Collection

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from polarbear.store import files, tables
from polarbear.store.store import Store


def copy_runs(source: Store, target: Store, runs: Collection[str]) -> None:
    """Take these runs of a store into another, and all its instances that are not known there."""
    known = target.instances()["instance"].to_list()
    new = source.instances().filter(~pl.col("instance").is_in(known))
    if len(new):
        table = new.select(tables.INSTANCES.names).to_arrow().cast(tables.INSTANCES)
        files.write_part(target.path / "instances", files.new_stem(), table)
    left = set(runs)
    for path in files.part_paths(source.path / "runs"):
        found = files.read_part(path, tables.RUNS)["run"].to_pylist()
        mine = pa.array([run for run in found if run in left], pa.string())
        left.difference_update(found)
        if len(mine):
            stem = files.new_stem()
            for name in ("trajectories", "runs"):  # in this order, as every writer does
                rows = files.read_part(source.path / name / path.name, tables.ALL[name])
                rows = rows.filter(pc.is_in(rows["run"], mine))
                files.write_part(target.path / name, stem, rows, tables.ROW_GROUPS.get(name))
