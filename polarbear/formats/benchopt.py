"""Results of benchopt in Parquet: each row is a solver that was stopped after some time."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import Field

from polarbear.errors import ImportFailedError
from polarbear.formats import base
from polarbear.formats.table import imported_rows, rows_of, unused_columns
from polarbear.formats.table_files import TableFile, open_table
from polarbear.settings.enumerations import AfterEnd

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
        table = open_table(source)
        t = "time" if self.by == "seconds" else "stop_val"
        needed = ("solver_name", DATASET, "objective_name", "idx_rep", t)
        for name in needed:
            if name not in table.schema:
                raise ImportFailedError(
                    f"{source} is not a result of benchopt: it has no column '{name}'"
                )
        columns = {
            "algorithm": "solver_name",
            "t": t,
            "y": self._objective(table),
            "seed": "idx_rep",
        }
        columns_in_file = {**columns, "instance": "objective_name", "dataset": DATASET}
        rows = rows_of(table, columns_in_file)
        parts = ("objective_name", DATASET)
        texts = [pl.col(name).cast(pl.String, strict=False) for name in parts]
        rows = rows.with_columns(instance=pl.concat_str(texts, separator=" on ")).drop(*parts)
        columns["instance"] = "instance"
        imported = imported_rows(rows, columns, str(source), self.maximise, self.after_end)
        notes = (*imported.notes, *unused_columns(table, columns_in_file))
        return replace(
            imported, axis="seconds" if self.by == "seconds" else "iterations", notes=notes
        )

    def _objective(self, table: TableFile) -> str:
        objectives = [
            name
            for name, kind in table.schema.items()
            if name.startswith(OBJECTIVE) and name not in TEXT_COLUMNS and kind.is_numeric()
        ]
        chosen = self.objective or "objective_value"
        if self.objective is None and len(objectives) == 1:
            chosen = objectives[0]
        if chosen not in objectives:
            raise ImportFailedError(
                f"{table.path} has no numeric column '{chosen}'; it has "
                f"{', '.join(objectives) or 'none'}: choose one by --set objective=NAME"
            )
        return chosen
