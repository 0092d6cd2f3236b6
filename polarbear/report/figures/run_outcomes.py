"""The runs of each algorithm: on how many instances, how far, at which cost, and failed ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.facts.summary import failures
from polarbear.report.context import ReportContext
from polarbear.report.figures.base import Figure
from polarbear.report.figures.sheet import Sheet, whole_ticks, without_frame
from polarbear.report.figures.style import Keywords, Style
from polarbear.wording import counted, percent, percent_cell, whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


def data(context: ReportContext) -> pl.DataFrame:
    """For each round and algorithm: the number of new instances, and up to which time it ran.

    ``allotted`` is the budget that it got, ``everything`` the budget of running it to the end of
    the grid on all instances of the round. Runs without a race have no round.
    """
    end = float(context.times[-1])
    rows: list[tuple[int | None, str, int, float, float, float]] = []
    for entry in context.rounds:
        drawn, ran_to = entry.record.drawn, entry.record.ran_to
        newcomer = entry.record.newcomer
        names = [newcomer] if newcomer else list(entry.state.algorithms)
        for name in names:
            to = float(ran_to.get(name, 0.0))
            instances = drawn if name in ran_to else 0
            rows.append((entry.number, name, instances, to, instances * to, drawn * end))
    if not context.rounds:
        budgets = context.store.runs().group_by("algorithm", "budget").len().sort("budget")
        for name, budget, count in budgets.iter_rows():
            rows.append((None, name, count, budget, count * budget, count * end))
        rows.sort(key=lambda row: (context.algorithms.index(row[1]), row[3]))
    columns = ("round", "algorithm", "instances", "to", "allotted", "everything")
    kinds = (pl.Int64, pl.String, pl.Int64, pl.Float64, pl.Float64, pl.Float64)
    return pl.DataFrame(rows, schema=dict(zip(columns, kinds, strict=True)), orient="row")


def seen(data: pl.DataFrame, name: str, times: np.ndarray) -> np.ndarray:
    """The number of instances on which this algorithm ran at least up to each time."""
    rows = data.filter(pl.col("algorithm") == name)
    reached = rows["to"].to_numpy()[:, None] >= times
    return np.asarray((rows["instances"].to_numpy()[:, None] * reached).sum(axis=0))


def draw(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    present = set(data["algorithm"])
    names = [name for name in context.algorithms if name in present]
    strips = max(len(names) * max(1.5 * style.line, 0.18), 6.5 * style.line)
    sheet = Sheet.of(canvas, context, style)
    if data["round"].null_count():
        _strips(sheet.panel(strips + 0.6), data, names, sheet)
        return
    canvas.set_size_inches(style.width, strips + 2.3)
    top, bottom = canvas.subplots(2, 1, height_ratios=[strips, 1.25])
    _strips(top, data, names, sheet)
    _bars(bottom, data, names, sheet)
    sheet.legend_below(bottom.get_legend_handles_labels()[0])


def _strips(axes: Axes, data: pl.DataFrame, names: list[str], sheet: Sheet) -> None:
    """The paper's figure: the shade is the number of instances on which each ran that far."""
    counts = np.array([seen(data, name, sheet.times) for name in names])
    rows, most = np.arange(len(names) + 1) - 0.5, max(1, counts.max())
    drawn: Keywords = {"cmap": sheet.shades(), "vmin": 0, "vmax": most, "linewidth": 0}
    mesh = axes.pcolormesh(sheet.time_edges, rows, counts, **drawn)
    for line in np.arange(len(names) - 1) + 0.5:
        axes.axhline(line, color=sheet.style.inks.paper, linewidth=1.5)
    sheet.name_rows(axes, names)
    without_frame(axes)
    sheet.time_axis(axes)
    placed: Keywords = {"pad": 0.02, "fraction": 0.05, "aspect": 12}
    whole_ticks(sheet.colour_bar(mesh, axes, "instances", placed).yaxis, 3)


def _bars(axes: Axes, data: pl.DataFrame, names: list[str], sheet: Sheet) -> None:
    """A bar a round, its width the number of instances, filled with the share of budget used.

    Areas are budgets: the empty part was saved.
    """
    end, inks, short = float(sheet.times[-1]), sheet.style.inks, sheet.names(names)
    rounds = data.group_by("round", maintain_order=True).agg(pl.col("everything").sum(), pl.len())
    budgets = rounds["everything"].to_numpy()
    # A newcomer that catches up is one of many that ran on these instances.
    width = budgets / (end * max(rounds["len"].to_list()))
    left = np.concatenate([[0.0], np.cumsum(width)[:-1]])
    place = {number: i for i, number in enumerate(rounds["round"])}
    base = np.zeros(len(rounds))
    drawn: Keywords = {"align": "edge", "linewidth": 0.4}
    for name in names:
        share = np.zeros(len(rounds))
        rows = data.filter(pl.col("algorithm") == name)
        for number, amount in rows.select("round", "allotted").iter_rows():
            share[place[number]] += amount / budgets[place[number]]
        area = sheet.look(name).area
        own: Keywords = {**area, "edgecolor": inks.paper, "label": short[name]}
        axes.bar(left, share, width, base, **own, **drawn)
        base += share
    axes.bar(left, 1.0, width, **drawn, facecolor="none", edgecolor=inks.faint)
    axes.set_xlim(0, float(width.sum()))
    axes.set_ylim(0, 1.02)
    axes.set_yticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    axes.set_xlabel("instances, round after round")
    axes.set_ylabel("budget used")
    whole_ticks(axes.xaxis, 6)
    saved = 1 - float(data["allotted"].sum()) / float(budgets.sum())
    axes.set_title(f"{percent_cell(saved)} saved", loc="right", fontsize=sheet.style.small)


def missing(context: ReportContext) -> str | None:
    if context.rounds or not context.store.runs().is_empty():
        return None
    return "the store has no runs, only rankings that were imported"


def caption(context: ReportContext) -> str:
    if not context.rounds:
        return "The number of instances on which each algorithm ran at least that far."
    last = context.rounds[-1]
    saved = context.race.saved if context.race else 0.0
    return (
        "Above: the number of instances on which each algorithm ran at least that far. Below: a "
        "bar per round, its width the number of instances, filled with the budget of each "
        "algorithm; the empty part was saved compared with running all of them to the end: "
        f"{percent(saved)} over {counted(last.state.instances, 'instance')}."
    )


ALLOCATION = Figure("allocation", "Where the budget went", caption, missing, data, draw)


MEANING = {
    "keeps": "A failed run keeps the best it had found, so it still counts.",
    "last": "From where it failed on, a run is last.",
    "absent": "From where it failed on, a run is left out of rankings.",
}


def failed_data(context: ReportContext) -> pl.DataFrame:
    """Failed runs of each algorithm by kind and message, and the number of its runs.

    They are those of the whole store, also where the report shows an earlier round.
    """
    runs = dict(context.store.runs().group_by("algorithm").len().iter_rows())
    rows = [
        (e.algorithm, e.status, e.message, e.runs, runs[e.algorithm], e.example)
        for e in failures(context.store)
    ]
    rows.sort(key=lambda row: (context.algorithms.index(row[0]), row[1], -row[3], row[2]))
    columns = ("algorithm", "kind", "message", "failed", "runs", "example")
    counts = ("failed", "runs")
    schema = {name: pl.Int64 if name in counts else pl.String for name in columns}
    return pl.DataFrame(rows, schema=schema, orient="row")


def draw_failed(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    bars = data.group_by("algorithm", "kind", maintain_order=True).agg(
        pl.col("failed").sum(), pl.col("runs").first()
    )
    sheet = Sheet.of(canvas, context, style)
    axes = sheet.panel(len(bars) * max(1.5 * style.line, 0.2) + 0.55)
    for place, (name, kind, failed, runs) in enumerate(bars.iter_rows()):
        look = sheet.look(name)
        axes.barh(place, failed / runs, 0.7, **look.area, linewidth=0)
        text = f"{kind}: {whole(failed)} of {whole(runs)}"
        sheet.write_beside(axes, place, text, look.text)
    sheet.name_rows(axes, bars["algorithm"].to_list())
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of runs that failed")
    axes.grid(axis="x")


def lacks_failed(context: ReportContext) -> str | None:
    return None if failures(context.store) else "no run has failed"


def failed_caption(context: ReportContext) -> str:
    meaning = MEANING[context.store.settings.failures.ranks]
    return f"Runs that failed, by algorithm and by how. {meaning}"


FAILURES = Figure("failures", "Failed runs", failed_caption, lacks_failed, failed_data, draw_failed)
