"""The figures of a report as a page shows them: a table to draw from, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import polars as pl
from polars import selectors

from polarbear.report.context import ReportContext
from polarbear.report.figures import FIGURES
from polarbear.report.figures.base import Figure
from polarbear.report.page.packing import in_base64

DIGITS = 4  # that matter to a reader; `polarbear report --csv` has all
REPEATED = 3  # average repetitions from which a list of distinct values is worth it
LONG_RUN = 8  # rows on average
# Of which a reader of the page has more: every round to look at, and every budget to choose for.
BETTER = {"ratings", "key-rounds", "one-budget"}
PLANE = {"t": 36, "level": 24}  # points a panel shows along each side
COARSER = " The page holds the plane at some of its points, `polarbear report --csv` all of them."
IN_THE_PAGE = {
    "eaf": " Lines: a quarter (dotted), half and three quarters (dashed) of the runs." + COARSER,
    "eaf-difference": " Lines: half of the runs of each." + COARSER,
}


@dataclass(frozen=True)
class Shown:
    """A figure with its words; ``table`` is None where ``missing`` says why."""

    name: str
    title: str
    caption: str
    missing: str | None
    table: dict[str, Any] | None


def of(context: ReportContext) -> list[Shown]:
    """All figures that the page has no better form for."""
    return [_shown(context, figure) for name, figure in FIGURES.items() if name not in BETTER]


def _shown(context: ReportContext, figure: Figure) -> Shown:
    missing = figure.missing(context)
    if missing is not None:
        return Shown(figure.name, figure.title, "", missing, None)
    table = figure.data(context)
    if set(PLANE) <= set(table.columns):
        table = _coarser(table)
    if table.is_empty():
        return Shown(figure.name, figure.title, "", "there is nothing to compare", None)
    words = figure.caption(context) + IN_THE_PAGE.get(figure.name, "")
    return Shown(figure.name, figure.title, words, None, _plain(table))


def _plain(table: pl.DataFrame) -> dict[str, Any]:
    """A table by columns; what comes again and again in one stands there once."""
    numbers = selectors.float()
    digits = pl.when(numbers.is_finite()).then(numbers.round_sig_figs(DIGITS))
    return {
        "columns": table.columns,
        "rows": len(table),
        "data": [_folded(column.to_list()) for column in table.with_columns(digits)],
    }


def _folded(values: list[Any]) -> list[Any] | dict[str, Any]:
    """A column as its different values, and where in that list each row's is.

    These indices are run-length encoded where runs are long, otherwise a byte each if possible.
    """
    places: dict[Any, int] = {}
    codes = [places.setdefault(value, len(places)) for value in values]
    if REPEATED * len(places) > len(values):
        return values
    runs = [(code, len(list(run))) for code, run in groupby(codes)]
    if LONG_RUN * len(runs) <= len(values):
        return {"values": list(places), "runs": [number for run in runs for number in run]}
    short = len(places) <= 256
    return {"values": list(places), "codes": in_base64(bytes(codes)) if short else codes}


def _coarser(table: pl.DataFrame) -> pl.DataFrame:
    """A plane of times and targets at no more points than a panel can show."""
    cells = table.filter(pl.col("kind") == "grid")
    keep = pl.col("kind") != "grid"
    inside = pl.lit(True)
    for column, most in PLANE.items():
        found = cells[column].unique().sort()
        places = np.unique(np.linspace(0, len(found) - 1, most).round().astype(int))
        inside &= pl.col(column).is_in(found[places.tolist()].to_list())
    return table.filter(keep | inside)
