"""Tables of rankings: who was where on an instance at a time."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from pydantic import Field

from polarbear.errors import ImportFailedError
from polarbear.formats.base import LINE, Complaint, Imported, ignored, pick_columns, reject
from polarbear.formats.table import (
    Columns,
    TableOptions,
    clean_names,
    clean_numbers,
    listed,
    read_frame,
)
from polarbear.problems.base import Instance
from polarbear.wording import noun


class Rankings(TableOptions):
    """Rows of instance, t, algorithm, position (CSV or Parquet)."""

    position_column: str = Field("position", description="its column of positions")

    def read(self, source: Path) -> Imported:
        columns = Columns(
            self.algorithm_column,
            self.instance_column,
            self.t_column,
            position=self.position_column,
        )
        return read_rankings(source, columns)


def read_rankings(path: Path, columns: Columns) -> Imported:
    """Rankings from a table with columns instance, t, algorithm, position; equal positions tie."""
    wanted: dict[str, str | None] = {
        "line": LINE,
        "algorithm": columns.algorithm,
        "instance": columns.instance,
        "t": columns.t,
        "position": columns.position,
    }
    rows = read_frame(path)
    frame = pick_columns(rows, wanted, str(path))
    complaints: list[Complaint] = []
    frame = clean_names(frame, complaints)
    frame = clean_numbers(frame, ("t", "position"), complaints)
    keys = ["instance", "t", "algorithm"]
    twice = pl.struct(keys).is_first_distinct().not_()
    frame = reject(frame, twice, "the algorithm already has a position there", complaints)
    if not len(frame):
        raise ImportFailedError(f"no row of {path} makes sense: {listed(complaints)}")
    order = frame["instance"].unique(maintain_order=True).to_list()
    rankings = frame.sort("instance", "t", "position", "algorithm").group_by(
        "instance", "t", maintain_order=True
    )
    alone = rankings.len().filter(pl.col("len") == 1)
    said = noun(
        len(alone), "ranking has one algorithm and says", "rankings have one algorithm and say"
    )
    notes = [f"{len(alone)} {said} nothing"] if len(alone) else []
    notes += ignored([name for name in rows.columns if name not in wanted.values()])
    first, last = frame["t"].min(), frame["t"].max()
    return Imported(
        tuple(frame["algorithm"].unique(maintain_order=True)),
        tuple(Instance(i, name, {"imported": name}) for i, name in enumerate(order)),
        (float(first), float(last)),  # type: ignore[arg-type]
        rankings=rankings.agg("algorithm", "position"),
        complaints=tuple(complaints),
        notes=tuple(notes),
    )
