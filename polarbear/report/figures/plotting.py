"""Parts that several figures share: panels, axes, names of rows and lines, notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from polarbear.report.figures.short_names import plain
from polarbear.report.figures.style import Keywords, Look, Style
from polarbear.wording import tick

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.container import Container
    from matplotlib.figure import Figure as Canvas
    from matplotlib.text import Text

    from polarbear.report.context import ReportContext

MAX_BANDS = 8  # more bands of intervals hide each other
MAX_SOLID = 8  # algorithms with solid lines; colours repeat with dashes
MAX_NAMED = 16  # algorithms with a colour in one figure; the others are grey


@dataclass(frozen=True)
class Line:
    """A line of a legend; ``end`` is where the drawn line ends, which sorts the legend."""

    text: str
    look: Look
    end: float = 0.0
    marker: str = ""


def panel_grid(
    canvas: Canvas,
    count: int,
    columns: int,
    height: float,
    style: Style,
    more: float = 0.3,
    share: bool = False,
) -> list[Axes]:
    """Panels in rows, each row ``height`` inches high, and ``more`` inches around all of them."""
    rows = -(-count // columns)
    canvas.set_size_inches(style.width, rows * height + more)
    grid = canvas.subplots(rows, columns, sharex=share, sharey=share, squeeze=False).ravel()
    for axes in grid[count:]:
        axes.remove()
    return list(grid[:count])


def without_frame(axes: Axes) -> None:
    for spine in axes.spines.values():
        spine.set_visible(False)


def name_rows(
    axes: Axes,
    names: Sequence[str],
    context: ReportContext,
    style: Style,
    share: float = 0.22,
    shift: float = 0.0,
) -> None:
    """Algorithms as rows from the top down, their names in their colours, ``shift`` rows lower."""
    short = style.names(context.labels, list(dict.fromkeys(names)), share)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_yticks(np.arange(len(names)) + shift, [short[name] for name in names])
    axes.tick_params(axis="y", length=0)
    colour_ticks(axes.get_yticklabels(), names, context, style)


def colour_ticks(
    labels: Sequence[Text], names: Sequence[str], context: ReportContext, style: Style
) -> None:
    for label, name in zip(labels, names, strict=True):
        label.set_color(style.look(context.colour_index(name)).text)


def write_beside(axes: Axes, y: float, text: str, colour: str, style: Style) -> None:
    """Small text to the right of the axes, at the height of a row."""
    at = axes.get_yaxis_transform()
    axes.text(1.02, y, text, transform=at, va="center", fontsize=style.small, color=colour)


def write_head(axes: Axes, text: str, style: Style) -> None:
    """The heading of the texts beside the rows."""
    faint = style.inks.faint
    at = axes.transAxes
    axes.text(1.02, 1.0, text, transform=at, va="bottom", fontsize=style.small, color=faint)


def each_algorithm(
    data: pl.DataFrame, context: ReportContext, style: Style, rank: pl.Expr | None = None
) -> Iterator[tuple[str, pl.DataFrame, Look]]:
    """Each algorithm with its rows and its look, in the order of the data.

    Of more than MAX_NAMED algorithms, those with the highest ``rank`` have colours, and come last.
    """
    groups = data.group_by("algorithm", maintain_order=True)
    shown = set(data["algorithm"])
    if rank is not None and len(shown) > MAX_NAMED:
        ranked = groups.agg(rank.alias("rank")).sort("rank", descending=True, nulls_last=True)
        shown = set(ranked["algorithm"][:MAX_NAMED])
    for (name,), rows in sorted(groups, key=lambda group: group[0][0] in shown):
        look = style.look(context.colour_index(str(name))) if name in shown else style.grey
        yield str(name), rows, look


def draw_estimate(
    axes: Axes,
    rows: pl.DataFrame,
    look: Look,
    middle: str = "mean",
    alpha: float = 0.2,
    width: float = 1.4,
    shift: float = 0.0,
    above: float = 2.0,
) -> None:
    """An estimate over ``t`` with the band of its interval; with one time an error bar, shifted.

    An interval that is null is not drawn, nor is a band of ``alpha`` 0. A known ``truth`` is
    dotted.
    """
    t, mean, low, high = (
        rows[name].fill_null(rows[middle]).to_numpy() for name in ("t", middle, "low", "high")
    )
    if len(t) == 1:
        bars: Keywords = {"color": look.colour, "fmt": look.marker, "elinewidth": 1, "capsize": 2}
        axes.errorbar(t + shift, mean, [mean - low, high - mean], **bars)
        return
    if alpha:
        axes.fill_between(t, low, high, color=look.colour, alpha=alpha, linewidth=0)
    axes.plot(t, mean, **look.line, linewidth=width, zorder=above)
    if "truth" in rows.columns and rows["truth"].is_not_null().all():
        axes.plot(t, rows["truth"], color=look.colour, linestyle=":", linewidth=0.9, zorder=1.8)


def on_log_time(context: ReportContext, style: Style) -> bool:
    return context.log_times if style.log_time is None else style.log_time


def time_edges(context: ReportContext, style: Style) -> np.ndarray:
    """The edges of the cells of the grid's times, on the chosen scale."""
    return edges(context.times, on_log_time(context, style))


def time_axis(axes: Axes, context: ReportContext, style: Style, label: bool = True) -> None:
    """Time from the first to the last point of the grid, on the chosen scale."""
    times, borders = context.times, time_edges(context, style)
    axes.set_xscale("log" if on_log_time(context, style) else "linear")
    axes.set_xlim(float(borders[0]), float(borders[-1]))
    if len(times) == 1:
        axes.set_xticks(times, [tick(float(times[0]))])
        axes.set_xticks([], minor=True)
    else:
        number_ticks(axes.xaxis, style)
    if label:
        axes.set_xlabel(plain(context.axis))


def number_ticks(axis: Axis, style: Style) -> None:
    """Ticks with plain numbers, as many as fit; the limits of the axis are set before."""
    from matplotlib import ticker

    # without the noise of the last bits
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: tick(float(f"{value:.6g}"))))
    axes = axis.axes
    letters = axes.get_position().width * style.width * 72 / style.small
    room = max(2, int(letters / 5)) if axis is axes.xaxis else 5
    if axis.get_scale() != "log":
        axis.set_major_locator(ticker.MaxNLocator(min(room, 8), steps=[1, 2, 2.5, 5, 10]))
        return
    low, high = sorted(axis.get_view_interval())
    decades = float(np.log10(high / low))
    subs = next((subs for subs in ((1, 2, 5), (1, 3)) if len(subs) * decades <= room), (1,))
    axis.set_major_locator(ticker.LogLocator(subs=subs, numticks=room + 2))
    axis.set_minor_locator(ticker.LogLocator(subs=range(1, 10), numticks=200))
    axis.set_minor_formatter(ticker.NullFormatter())
    if decades < 0.5:  # too narrow for ones, twos and fives
        axis.set_major_locator(ticker.MaxNLocator(4))
        axis.set_minor_locator(ticker.NullLocator())


def whole_ticks(axis: Axis, most: int) -> None:
    """Ticks at whole numbers."""
    from matplotlib import ticker

    axis.set_major_locator(ticker.MaxNLocator(most, integer=True, min_n_ticks=1))


def edges(times: np.ndarray, is_log: bool) -> np.ndarray:
    """The edges of the cells of times: half-way between neighbours."""
    if len(times) == 1:
        return np.array([times[0] / 1.5, times[0] * 1.5]) if is_log else times[0] + [-0.5, 0.5]
    scaled = np.log(times) if is_log else times
    middles = (scaled[1:] + scaled[:-1]) / 2
    inner = np.exp(middles) if is_log else middles
    return np.concatenate([times[:1], inner, times[-1:]])


def name_lines(canvas: Canvas, lines: Sequence[Line], style: Style, below: bool = False) -> None:
    """A legend right of the axes, the line that ends highest on top; where there is no room, below.

    Grey lines are counted, not named.
    """
    from matplotlib.lines import Line2D

    named = sorted((line for line in lines if line.look != style.grey), key=lambda line: -line.end)
    if len(named) < len(lines):
        named.append(Line(f"{len(lines) - len(named)} others", style.grey))
    handles = [
        Line2D([], [], **line.look.line, marker=line.marker, label=line.text) for line in named
    ]
    colours = [line.look.text for line in named]
    room = canvas.get_size_inches()[1] - 0.6
    if below or style.is_narrow or len(named) * 1.2 * style.line > room:
        legend_below(canvas, handles, style, labelcolor=colours)
        return
    length = 1.8 if len(handles) <= MAX_SOLID else 3.6  # a dash and a gap have to be seen
    font: Keywords = {"labelcolor": colours, "handlelength": length, "labelspacing": 0.3}
    canvas.legend(handles=handles, loc="outside right upper", **font)


def legend_below(
    canvas: Canvas, handles: Sequence[Artist | Container], style: Style, **font: Any
) -> None:
    """A legend below everything, in as many columns as fit; makes the figure higher."""
    longest = max(len(str(handle.get_label())) for handle in handles)
    columns = int(style.width * 72 / ((0.62 * longest + 4.5) * style.small))
    columns = max(1, min(columns, len(handles)))
    width, height = canvas.get_size_inches()
    canvas.set_size_inches(width, height - (-len(handles) // columns) * style.line)
    font |= {"loc": "outside lower center", "ncols": columns, "columnspacing": 1.2}
    canvas.legend(handles=handles, **font)


def note_below(canvas: Canvas, text: str, style: Style) -> None:
    """Small print under the figure, wrapped to its width."""
    letters = int(style.width * 72 / (0.56 * style.small))
    lines = [part for line in text.splitlines() for part in wrap(line, letters)]
    width, height = canvas.get_size_inches()
    canvas.set_size_inches(width, height + (len(lines) - 1) * style.line)
    canvas.supxlabel("\n".join(lines), fontsize=style.small, color=style.inks.faint)
