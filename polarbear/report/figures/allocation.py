"""The allocation of the budget: the instances and the horizon of each algorithm, and savings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.report.context import ReportContext
from polarbear.report.figures.axes import edges, name_rows, on_log_time, time_axis
from polarbear.report.figures.base import Figure
from polarbear.report.figures.style import Keywords, Style
from polarbear.wording import counted, percent, percent_cell

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
    row = max(1.5 * style.line, 0.18)
    strips = max(len(names) * row, 6.5 * style.line)
    with_rounds = data["round"].null_count() == 0 and len(data) > 0
    bars = 1.25 if with_rounds else 0.0
    canvas.set_size_inches(style.width, strips + bars + (1.05 if with_rounds else 0.6))
    if with_rounds:
        top, bottom = canvas.subplots(2, 1, height_ratios=[strips, bars])
        _bars(bottom, data, names, context, style)
        _key(top, names, context, style)
    else:
        top = canvas.subplots()
    _strips(canvas, top, data, names, context, style)


def _strips(
    canvas: Canvas,
    axes: Axes,
    data: pl.DataFrame,
    names: list[str],
    context: ReportContext,
    style: Style,
) -> None:
    """The paper's figure: the shade is the number of instances on which each ran that far."""
    from matplotlib import ticker
    from matplotlib.colors import LinearSegmentedColormap

    borders = edges(context.times, on_log_time(context, style))
    counts = np.array([seen(data, name, context.times) for name in names])
    shades = LinearSegmentedColormap.from_list("shades", style.inks.shades)
    rows, most = np.arange(len(names) + 1) - 0.5, max(1, counts.max())
    mesh = axes.pcolormesh(borders, rows, counts, cmap=shades, vmin=0, vmax=most, linewidth=0)
    for line in np.arange(len(names) - 1) + 0.5:
        axes.axhline(line, color=style.inks.paper, linewidth=1.5)
    name_rows(axes, names, context, style)
    for spine in axes.spines.values():
        spine.set_visible(False)
    time_axis(axes, context, style)
    bar = canvas.colorbar(mesh, ax=axes, pad=0.02, fraction=0.05, aspect=12)
    bar.set_label("instances", fontsize=style.small)
    bar.outline.set_visible(False)
    bar.ax.yaxis.set_major_locator(ticker.MaxNLocator(3, integer=True))


def _key(axes: Axes, names: list[str], context: ReportContext, style: Style) -> None:
    """The look of each algorithm in the bars, beside its name."""
    width = 0.04 if style.theme == "print" else 0.014  # hatches need room to be seen
    drawn: Keywords = {"edgecolor": style.inks.paper, "linewidth": 0.3, "clip_on": False}
    drawn["transform"] = axes.get_yaxis_transform()
    for place, name in enumerate(names):
        look = style.look(context.colour_index(name))
        axes.barh(place, width, 0.72, -width - 0.006, **look.area, **drawn)
    axes.tick_params(axis="y", pad=(width + 0.006) * 72 * 0.8 * style.width + 3)


def _bars(
    axes: Axes, data: pl.DataFrame, names: list[str], context: ReportContext, style: Style
) -> None:
    """A bar a round, its width the number of instances, filled with the share of budget used.

    Areas are budgets: the empty part was saved.
    """
    from matplotlib import ticker

    end = float(context.times[-1])
    rounds = data.group_by("round", maintain_order=True).agg(pl.col("everything").sum(), pl.len())
    whole = rounds["everything"].to_numpy()
    # A newcomer that catches up is one of many that ran on these instances.
    width = whole / (end * max(rounds["len"].to_list()))
    left = np.concatenate([[0.0], np.cumsum(width)[:-1]])
    place = {number: i for i, number in enumerate(rounds["round"])}
    base = np.zeros(len(rounds))
    drawn: Keywords = {"align": "edge", "linewidth": 0.4}
    for name in names:
        share = np.zeros(len(rounds))
        rows = data.filter(pl.col("algorithm") == name)
        for number, amount in rows.select("round", "allotted").iter_rows():
            share[place[number]] += amount / whole[place[number]]
        look = style.look(context.colour_index(name))
        axes.bar(left, share, width, base, **look.area, **drawn, edgecolor=style.inks.paper)
        base += share
    axes.bar(left, 1.0, width, **drawn, facecolor="none", edgecolor=style.inks.faint)
    axes.set_xlim(0, float(width.sum()))
    axes.set_ylim(0, 1.02)
    axes.set_yticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    axes.set_xlabel("instances, round after round")
    axes.set_ylabel("budget used")
    axes.xaxis.set_major_locator(ticker.MaxNLocator(6, integer=True))
    axes.set_title(f"{percent_cell(_saved(data))} saved", loc="right", fontsize=style.small, pad=3)


def _saved(data: pl.DataFrame) -> float:
    everything = float(data["everything"].sum())
    return 1 - float(data["allotted"].sum()) / everything if everything else 0.0


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
