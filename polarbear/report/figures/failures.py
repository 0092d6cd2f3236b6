"""Failed runs, by algorithm and by how they failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from polarbear.config import failures_in
from polarbear.report.context import ReportContext
from polarbear.report.drawing.palette import writing_on
from polarbear.report.drawing.style import Style
from polarbear.report.figures.base import Figure
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
    """Failed runs of each algorithm by kind and message, and of how many runs that is.

    They are those of the whole store, at whichever round the rest is looked at.
    """
    runs = dict(context.store.runs().group_by("algorithm").len().iter_rows())
    rows = [
        (e.algorithm, e.status, e.message, e.runs, runs[e.algorithm], e.example)
        for e in summary.failures(context.store)
    ]
    rows.sort(key=lambda row: (context.algorithms.index(row[0]), row[1], -row[3], row[2]))
    schema = {
        "algorithm": pl.String,
        "kind": pl.String,
        "message": pl.String,
        "failed": pl.Int64,
        "runs": pl.Int64,
        "example": pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def draw(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    bars = data.group_by("algorithm", "kind", maintain_order=True).agg(
        pl.col("failed").sum(), pl.col("runs").first()
    )
    row = max(1.5 * style.line, 0.2)
    canvas.set_size_inches(style.width, len(bars) * row + 0.55)
    axes = canvas.subplots()
    names = bars["algorithm"].unique(maintain_order=True).to_list()
    short = style.names(context.labels, names)
    for place, (name, kind, failed, runs) in enumerate(bars.iter_rows()):
        look = style.look(context.colour_index(name))
        share = failed / runs
        axes.barh(place, share, 0.7, facecolor=look.colour, hatch=look.hatch, linewidth=0)
        text = f"{kind}: {whole(failed)} of {whole(runs)}"
        inside = share > 0.55
        axes.annotate(
            text,
            (share, place),
            (-4 if inside else 4, 0),
            textcoords="offset points",
            va="center",
            ha="right" if inside else "left",
            fontsize=style.small,
            color=writing_on(look.colour, style.theme) if inside else style.inks.ink,
            bbox={"facecolor": look.colour, "linewidth": 0, "pad": 0.8} if inside else None,
        )
    axes.set_yticks(range(len(bars)), [short[name] for name in bars["algorithm"]])
    for label, name in zip(axes.get_yticklabels(), bars["algorithm"], strict=True):
        label.set_color(style.look(context.colour_index(name)).text)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(bars) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of runs that failed")
    axes.grid(axis="x")


def missing(context: ReportContext) -> str | None:
    return None if summary.failures(context.store) else "no run has failed"


def caption(context: ReportContext) -> str:
    return f"Runs that failed, by algorithm and by how. {MEANING[_ranks(context)]}"


def _ranks(context: ReportContext) -> str:
    return failures_in(context.store.config).ranks


FAILURES = Figure("failures", "Failed runs", caption, missing, data, draw)
