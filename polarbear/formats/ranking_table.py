"""Tables of rankings: one row per position of an algorithm on an instance at a time."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import Field

from polarbear.errors import ImportFailedError
from polarbear.formats.base import Imported, Rejection, ignored, reject
from polarbear.formats.table import TableOptions
from polarbear.formats.table_file import (
    Columns,
    clean_names,
    clean_numbers,
    listed,
    read_frame,
    weights_by_instance,
)
from polarbear.problems.base import Instance
from polarbear.wording import noun

Unranked = Literal["absent", "below"]
UNRANKED: Unranked = Field(
    "absent",
    description="those without a position: absent, or below the others in an unknown order",
)


class Rankings(TableOptions):
    """Rows of instance, t, algorithm, position (CSV or Parquet).

    Equal positions tie. An algorithm at the position 'below' was not recorded and is below those
    that were; the option ``unranked`` applies this to all algorithms that a ranking does not name.
    """

    position_column: str = Field("position", description="its column of positions")
    unranked: Unranked = UNRANKED

    def read(self, source: Path) -> Imported:
        columns = Columns(
            self.algorithm_column,
            self.instance_column,
            self.t_column,
            position=self.position_column,
            weight=self.weight_column,
        )
        rows = read_frame(source)
        names = ("algorithm", "instance", "t", "position", "weight")
        frame, unused = columns.pick(rows, *names, source=str(source))
        rejected: list[Rejection] = []
        frame = clean_names(frame, rejected)
        frame = frame.with_columns(below=_is_below(frame)).with_columns(
            position=pl.when("below").then(pl.lit(0)).otherwise(pl.col("position"))
        )
        frame = clean_numbers(frame, ("t", "position"), rejected).with_columns(
            position=pl.when("below").then(pl.lit(inf)).otherwise(pl.col("position"))
        )
        is_repeated = pl.struct("instance", "t", "algorithm").is_first_distinct().not_()
        frame = reject(frame, is_repeated, "the algorithm already has a position there", rejected)
        algorithms = tuple(frame["algorithm"].unique(maintain_order=True))
        instances = frame["instance"].unique(maintain_order=True).to_list()
        weights = weights_by_instance(frame)
        if self.unranked == "below" and len(frame):
            frame = _with_unranked(frame, algorithms)
        is_empty = pl.col("position").is_infinite().all().over("instance", "t")
        frame = reject(frame, is_empty, "of its ranking nothing was recorded", rejected)
        if not len(frame):
            raise ImportFailedError(f"no row of {source} is valid: {listed(rejected)}")
        rankings = frame.sort("instance", "t", "position", "algorithm").group_by(
            "instance", "t", maintain_order=True
        )
        alone = len(rankings.len().filter(pl.col("len") == 1))
        has = noun(alone, "ranking has one algorithm and is", "rankings have one algorithm and are")
        notes = [f"{alone} {has} not used"] if alone else []
        times = frame["t"].to_numpy()
        return Imported(
            algorithms,
            tuple(
                Instance(i, name, {"imported": name, **weights.get(name, {})})
                for i, name in enumerate(instances)
            ),
            (float(times.min()), float(times.max())),
            rankings=rankings.agg("algorithm", "position"),
            rejected=tuple(rejected),
            notes=(*notes, *ignored(unused)),
        )


def _is_below(frame: pl.DataFrame) -> pl.Expr:
    """Whether a position is 'below', or infinite in a table of numbers."""
    if frame.schema["position"] == pl.String:
        return pl.col("position").str.strip_chars().str.to_lowercase() == "below"
    if frame.schema["position"].is_float():
        return pl.col("position") == inf
    return pl.lit(False)


def _with_unranked(frame: pl.DataFrame, algorithms: tuple[str, ...]) -> pl.DataFrame:
    """All algorithms in every ranking; those that it does not name are below the others."""
    keys = frame.group_by("instance", "t", maintain_order=True).agg(pl.col("line").first())
    all_rows = keys.join(pl.DataFrame({"algorithm": algorithms}), how="cross")
    missing = all_rows.join(frame, on=["instance", "t", "algorithm"], how="anti")
    missing = missing.with_columns(position=pl.lit(inf))
    return pl.concat([frame.select(missing.columns), missing])
