"""Failed runs, by algorithm and by how they failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from polarbear.config import failures_in
from polarbear.report.context import ReportContext
from polarbear.report.figures.axes import name_rows
from polarbear.report.figures.base import Figure
from polarbear.report.figures.style import Keywords, Style, writing_on
from polarbear.store import summary
from polarbear.wording import whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

MEANING = {
    "keeps": "A failed run keeps the best it had found, so it still counts.",
    "last": "From where it failed on, a run is last.",
    "absent": "From where it failed on, a run is left out of rankings.",
}


def data(context: ReportContext) -> pl.DataFrame:
    """Failed runs of each algorithm by kind and message, and the number of its runs.

    They are those of the whole store, also where the report shows an earlier round.
    """
    runs = dict(context.store.runs().group_by("algorithm").len().iter_rows())
    rows = [
        (e.algorithm, e.status, e.message, e.runs, runs[e.algorithm], e.example)
        for e in summary.failures(context.store)
    ]
    rows.sort(key=lambda row: (context.algorithms.index(row[0]), row[1], -row[3], row[2]))
    columns = ("algorithm", "kind", "message", "failed", "runs", "example")
    counts = ("failed", "runs")
    schema = {name: pl.Int64 if name in counts else pl.String for name in columns}
    return pl.DataFrame(rows, schema=schema, orient="row")


def draw(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    bars = data.group_by("algorithm", "kind", maintain_order=True).agg(
        pl.col("failed").sum(), pl.col("runs").first()
    )
    row = max(1.5 * style.line, 0.2)
    canvas.set_size_inches(style.width, len(bars) * row + 0.55)
    axes = canvas.subplots()
    for place, (name, kind, failed, runs) in enumerate(bars.iter_rows()):
        look = style.look(context.colour_index(name))
        share = failed / runs
        axes.barh(place, share, 0.7, **look.area, linewidth=0)
        inside = share > 0.55
        at = (-4 if inside else 4, 0)
        font: Keywords = {"va": "center", "ha": "left", "fontsize": style.small}
        if inside:
            font |= {"ha": "right", "color": writing_on(look.colour, style.theme)}
            font["bbox"] = {"facecolor": look.colour, "linewidth": 0, "pad": 0.8}
        text = f"{kind}: {whole(failed)} of {whole(runs)}"
        axes.annotate(text, (share, place), at, textcoords="offset points", **font)
    name_rows(axes, bars["algorithm"].to_list(), context, style)
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of runs that failed")
    axes.grid(axis="x")


def missing(context: ReportContext) -> str | None:
    return None if summary.failures(context.store) else "no run has failed"


def caption(context: ReportContext) -> str:
    meaning = MEANING[failures_in(context.store.config).ranks]
    return f"Runs that failed, by algorithm and by how. {meaning}"


FAILURES = Figure("failures", "Failed runs", caption, missing, data, draw)
