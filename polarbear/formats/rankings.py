"""Tables of rankings: who was where on an instance at a time."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Literal

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
from polarbear.formats.weights import weights_in
from polarbear.problems.base import Instance
from polarbear.wording import noun

Unranked = Literal["absent", "below"]
UNRANKED: Unranked = Field(
    "absent",
    description="those without a position: absent, or below the others in an unknown order",
)


class Rankings(TableOptions):
    """Rows of instance, t, algorithm, position (CSV or Parquet)."""

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
        return read_rankings(source, columns, self.unranked)


def read_rankings(path: Path, columns: Columns, unranked: Unranked = "absent") -> Imported:
    """Rankings from a table with columns instance, t, algorithm, position; equal positions tie.

    The position 'below' says of an algorithm that it was not recorded, and is below those that
    were; ``unranked`` says the same of all that a ranking does not name.
    """
    wanted: dict[str, str | None] = {
        "line": LINE,
        "algorithm": columns.algorithm,
        "instance": columns.instance,
        "t": columns.t,
        "position": columns.position,
        "weight": columns.weight,
    }
    rows = read_frame(path)
    frame = pick_columns(rows, wanted, str(path))
    complaints: list[Complaint] = []
    frame = clean_names(frame, complaints)
    frame = frame.with_columns(not_recorded=_not_recorded(frame))
    frame = frame.with_columns(
        position=pl.when("not_recorded").then(pl.lit(0)).otherwise(pl.col("position"))
    )
    frame = clean_numbers(frame, ("t", "position"), complaints)
    frame = frame.with_columns(
        position=pl.when("not_recorded").then(pl.lit(inf)).otherwise(pl.col("position"))
    )
    keys = ["instance", "t", "algorithm"]
    twice = pl.struct(keys).is_first_distinct().not_()
    frame = reject(frame, twice, "the algorithm already has a position there", complaints)
    if not len(frame):
        raise ImportFailedError(f"no row of {path} makes sense: {listed(complaints)}")
    order = frame["instance"].unique(maintain_order=True).to_list()
    names = tuple(frame["algorithm"].unique(maintain_order=True))
    known = weights_in(frame)
    if unranked == "below":
        frame = _with_all(frame, names)
    nobody = pl.col("position").is_infinite().all().over("instance", "t")
    frame = reject(frame, nobody, "of its ranking nothing was recorded", complaints)
    if not len(frame):
        raise ImportFailedError(f"no row of {path} makes sense: {listed(complaints)}")
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
        names,
        tuple(
            Instance(i, name, {"imported": name, **known.get(name, {})})
            for i, name in enumerate(order)
        ),
        (float(first), float(last)),  # type: ignore[arg-type]
        rankings=rankings.agg("algorithm", "position"),
        complaints=tuple(complaints),
        notes=tuple(notes),
    )


def _not_recorded(frame: pl.DataFrame) -> pl.Expr:
    """Where a position says 'below', or is infinite in a table of numbers."""
    if frame.schema["position"] == pl.String:
        return pl.col("position").str.strip_chars().str.to_lowercase() == "below"
    if frame.schema["position"].is_float():
        return pl.col("position") == inf
    return pl.lit(False)


def _with_all(frame: pl.DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
    """Everybody in every ranking, those it does not name below the others."""
    keys = frame.group_by("instance", "t", maintain_order=True).agg(pl.col("line").first())
    everybody = keys.join(pl.DataFrame({"algorithm": names}), how="cross")
    missing = everybody.join(frame, on=["instance", "t", "algorithm"], how="anti")
    missing = missing.with_columns(position=pl.lit(inf))
    return pl.concat([frame.select(missing.columns), missing])
