"""Results of benchopt, as it keeps them in Parquet: each row a solver stopped after a while."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import Field

from polarbear.errors import ImportFailedError
from polarbear.formats.base import AfterEnd, Format, Imported, check_kind
from polarbear.formats.table import Columns, read_frame, trajectories_in

OBJECTIVE = "objective_"
NOT_A_VALUE = ("objective_name", "objective_description")
DATASET = ("dataset_name", "data_name")  # today's name, and the one before


class Benchopt(Format):
    """A Parquet file of benchopt's results."""

    objective: str | None = Field(
        None, description="the column to compare by; by default objective_value, or the only one"
    )
    by: Literal["seconds", "stop_val"] = Field(
        "seconds", description="what time is: seconds, or stop_val (iterations, for most solvers)"
    )
    maximise: bool = Field(False, description="larger values are better")
    after_end: AfterEnd = Field(
        "keeps", description="after its last row an algorithm keeps its best, or is absent"
    )

    def read(self, source: Path) -> Imported:
        rows = read_frame(source)
        t = "time" if self.by == "seconds" else "stop_val"
        dataset = next((name for name in DATASET if name in rows.columns), DATASET[0])
        needed = ("solver_name", dataset, "objective_name", "idx_rep", t)
        for name in needed:
            if name not in rows.columns:
                raise ImportFailedError(
                    f"{source} is not what benchopt writes: it has no column '{name}'"
                )
        for name in ("objective_name", dataset):
            check_kind("instance", name, rows.schema[name], str(source))
        named = [pl.col(name).cast(pl.String, strict=False) for name in ("objective_name", dataset)]
        rows = rows.with_columns(instance=pl.concat_str(named, separator=" on "))
        columns = Columns(
            "solver_name", "instance", t, self._objective(rows, source), seed="idx_rep"
        )
        rows = rows.drop("objective_name", dataset)
        axis = "seconds" if self.by == "seconds" else "iterations"
        found = trajectories_in(rows, columns, str(source), self.maximise, self.after_end)
        return found.on_axis(axis)

    def _objective(self, rows: pl.DataFrame, source: Path) -> str:
        known = [
            name
            for name, kind in rows.schema.items()
            if name.startswith(OBJECTIVE) and name not in NOT_A_VALUE and kind.is_numeric()
        ]
        if self.objective is not None and self.objective not in known:
            raise ImportFailedError(
                f"{source} has no column '{self.objective}' of numbers; it has: {', '.join(known)}"
            )
        chosen = self.objective or ("objective_value" if "objective_value" in known else None)
        if chosen is None and len(known) != 1:
            which = f": {', '.join(known)}; choose one by --set objective=NAME" if known else ""
            raise ImportFailedError(f"{source} has {len(known)} columns of objective values{which}")
        return chosen or known[0]
