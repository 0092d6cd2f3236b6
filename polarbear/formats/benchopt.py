"""Results of benchopt in Parquet: each row is a solver that was stopped after some time."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import Field

from polarbear.errors import ImportFailedError
from polarbear.formats import base
from polarbear.formats.table import check_type, imported_rows, read_frame
from polarbear.settings.choices import AfterEnd

OBJECTIVE = "objective_"
TEXT_COLUMNS = ("objective_name", "objective_description")
DATASET = "dataset_name"


class Benchopt(base.Format):
    """A Parquet file of benchopt's results."""

    objective: str | None = Field(
        None, description="the column to compare by; by default objective_value, or the only one"
    )
    by: Literal["seconds", "stop_val"] = Field(
        "seconds", description="what time is: seconds, or stop_val (iterations, for most solvers)"
    )
    maximise: bool = base.MAXIMISE
    after_end: AfterEnd = base.AFTER_END

    def read(self, source: Path) -> base.Imported:
        rows = read_frame(source)
        t = "time" if self.by == "seconds" else "stop_val"
        for name in ("solver_name", DATASET, "objective_name", "idx_rep", t):
            if name not in rows.columns:
                raise ImportFailedError(
                    f"{source} is not a result of benchopt: it has no column '{name}'"
                )
        parts = ("objective_name", DATASET)
        for name in parts:
            check_type("instance", name, rows.schema[name], str(source))
        texts = [pl.col(name).cast(pl.String, strict=False) for name in parts]
        y = self._objective(rows, source)
        rows = rows.with_columns(instance=pl.concat_str(texts, separator=" on ")).drop(*parts)
        columns = {
            "algorithm": "solver_name",
            "instance": "instance",
            "t": t,
            "y": y,
            "seed": "idx_rep",
        }
        imported = imported_rows(rows, columns, str(source), self.maximise, self.after_end)
        return replace(imported, axis="seconds" if self.by == "seconds" else "iterations")

    def _objective(self, rows: pl.DataFrame, source: Path) -> str:
        objectives = [
            name
            for name, kind in rows.schema.items()
            if name.startswith(OBJECTIVE) and name not in TEXT_COLUMNS and kind.is_numeric()
        ]
        chosen = self.objective or "objective_value"
        if self.objective is None and len(objectives) == 1:
            chosen = objectives[0]
        if chosen not in objectives:
            raise ImportFailedError(
                f"{source} has no numeric column '{chosen}'; it has "
                f"{', '.join(objectives) or 'none'}: choose one by --set objective=NAME"
            )
        return chosen
