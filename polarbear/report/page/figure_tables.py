"""The figures of a report as a page shows them: a table to draw from, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from polars import selectors

from polarbear.report.context import ReportContext
from polarbear.report.figures import FIGURES
from polarbear.report.figures.base import ReportFigure
from polarbear.report.page.packing import as_json, squeezed

DIGITS = 4  # that matter to a reader; `polarbear report --csv` has all
# Figures of which the page has a better form: every round, and every budget to choose for.
BETTER = {"ratings", "key-rounds", "one-budget"}
PLANE = {"t": 36, "level": 24}  # points a panel shows along each side
COARSER = " The page holds the plane at some of its points, `polarbear report --csv` all of them."
IN_THE_PAGE = {
    "eaf": " Lines: a quarter (dotted), half and three quarters (dashed) of the runs." + COARSER,
    "eaf-difference": " Lines: half of the runs of each." + COARSER,
}


@dataclass(frozen=True)
class Shown:
    """A figure with its words; ``table`` is compressed JSON, None where ``missing`` says why."""

    name: str
    title: str
    caption: str
    missing: str | None
    table: str | None


def of(context: ReportContext) -> list[Shown]:
    """All figures that the page has no better form for."""
    return [_shown(context, figure) for name, figure in FIGURES.items() if name not in BETTER]


def _shown(context: ReportContext, figure: ReportFigure) -> Shown:
    missing = figure.missing(context)
    if missing is not None:
        return Shown(figure.name, figure.title, "", missing, None)
    table = figure.data(context)
    if set(PLANE) <= set(table.columns):
        table = _coarser(table)
    if table.is_empty():
        return Shown(figure.name, figure.title, "", "there is nothing to compare", None)
    words = figure.caption(context) + IN_THE_PAGE.get(figure.name, "")
    return Shown(figure.name, figure.title, words, None, _by_columns(table))


def _by_columns(table: pl.DataFrame) -> str:
    numbers = selectors.float()
    digits = pl.when(numbers.is_finite()).then(numbers.round_sig_figs(DIGITS))
    data = [column.to_list() for column in table.with_columns(digits)]
    return squeezed(as_json({"columns": table.columns, "rows": len(table), "data": data}).encode())


def _coarser(table: pl.DataFrame) -> pl.DataFrame:
    """A plane of times and targets at no more points than a panel can show."""
    cells = table.filter(pl.col("kind") == "grid")
    inside = pl.lit(True)
    for column, most in PLANE.items():
        found = cells[column].unique().sort()
        places = np.unique(np.linspace(0, len(found) - 1, most).round().astype(int))
        inside &= pl.col(column).is_in(found[places.tolist()].to_list())
    return table.filter((pl.col("kind") != "grid") | inside)
