"""The figures of a report as a page shows them: a table to draw from, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from polarbear.report.figures import FIGURES, Figure
from polarbear.report.material import Material
from polarbear.report.page.packing import plain_number


@dataclass(frozen=True)
class Shown:
    """A figure with its words; ``table`` is None where ``missing`` says why."""

    name: str
    title: str
    caption: str
    missing: str | None
    table: dict[str, Any] | None


def of(material: Material) -> list[Shown]:
    """All figures; the page draws ratings from what was believed after each round instead."""
    return [_shown(material, figure) for name, figure in FIGURES.items() if name != "ratings"]


def _shown(material: Material, figure: Figure) -> Shown:
    missing = figure.missing(material)
    if missing is not None:
        return Shown(figure.name, figure.title, "", missing, None)
    table = figure.data(material)
    if table.is_empty():
        return Shown(figure.name, figure.title, "", "there is nothing to compare", None)
    return Shown(figure.name, figure.title, figure.caption(material), None, _plain(table))


def _plain(table: pl.DataFrame) -> dict[str, Any]:
    """A table by columns."""
    columns = [[plain_number(value) for value in table[name]] for name in table.columns]
    return {"columns": table.columns, "rows": len(table), "data": columns}
