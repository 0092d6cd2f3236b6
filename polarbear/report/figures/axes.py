"""Parts that several figures share: panels, axes, names beside rows and lines, notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from textwrap import wrap
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from polarbear.report.figures.short_names import plain
from polarbear.report.figures.style import Keywords, Look, Style
from polarbear.wording import tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from matplotlib.text import Text

    from polarbear.report.context import ReportContext


@dataclass(frozen=True)
class End:
    """The end of a line and its label."""

    y: float
    text: str
    look: Look
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
    data: pl.DataFrame, context: ReportContext, style: Style
) -> Iterator[tuple[str, pl.DataFrame, Look]]:
    """Each algorithm with its rows and its look, in the order of the data."""
    for (name,), rows in data.group_by("algorithm", maintain_order=True):
        yield str(name), rows, style.look(context.colour_index(str(name)))


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
        dots: Keywords = {"linestyle": ":", "linewidth": 0.9, "zorder": 1.8}
        axes.plot(t, rows["truth"], color=look.colour, **dots)


def shift_from_only_time(place: int, count: int, times: np.ndarray, is_log: bool) -> float:
    """The offset of a bar from a single time, so that no bar covers another."""
    if len(times) > 1:
        return 0.0
    left, right = edges(times, is_log)
    return float((right - left) * 0.4 * ((place + 0.5) / count - 0.5))


def on_log_time(context: ReportContext, style: Style) -> bool:
    return context.log_times if style.log_time is None else style.log_time


def time_axis(axes: Axes, context: ReportContext, style: Style, label: bool = True) -> None:
    """Time from the first to the last point of the grid, on the chosen scale."""
    times = context.times
    first, last = float(times[0]), float(times[-1])
    if on_log_time(context, style):
        axes.set_xscale("log")
        limits = (first / 1.5, last * 1.5) if first == last else (first, last)
    else:
        limits = (first - 0.5, last + 0.5) if first == last else (first, last)
    axes.set_xlim(*limits)
    if first == last:
        axes.set_xticks([first], [tick(first)])
        axes.set_xticks([], minor=True)
    else:
        number_ticks(axes, "x", on_log_time(context, style), limits, style)
    if label:
        axes.set_xlabel(plain(context.axis))


def number_ticks(
    axes: Axes, which: str, is_log: bool, limits: tuple[float, float], style: Style
) -> None:
    """Ticks with plain numbers, as many as fit."""
    from matplotlib import ticker

    axis = axes.xaxis if which == "x" else axes.yaxis
    # without the noise of the last bits
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: tick(float(f"{value:.6g}"))))
    if not is_log:
        most = max(3, int(style.width * 72 / (6 * style.font_size))) if which == "x" else 5
        axis.set_major_locator(ticker.MaxNLocator(min(most, 8), steps=[1, 2, 2.5, 5, 10]))
        return
    decades = np.log10(limits[1] / limits[0])
    room = max(2.0, style.width * 72 / (6.5 * style.small))
    subs = next(
        subs for subs in ((1, 2, 5), (1, 3), (1,)) if len(subs) * decades <= room or subs == (1,)
    )
    axis.set_major_locator(ticker.LogLocator(subs=subs, numticks=int(room) + 2))
    axis.set_minor_locator(ticker.LogLocator(subs=range(1, 10), numticks=200))
    axis.set_minor_formatter(ticker.NullFormatter())
    if decades < 0.5:  # too narrow for ones, twos and fives
        axis.set_major_locator(ticker.MaxNLocator(4))
        axis.set_minor_locator(ticker.NullLocator())


def round_ticks(axes: Axes, most: int) -> None:
    """Whole numbers of rounds along the x axis."""
    from matplotlib import ticker

    axes.set_xlabel("round")
    axes.xaxis.set_major_locator(ticker.MaxNLocator(most, integer=True, min_n_ticks=1))


def edges(times: np.ndarray, is_log: bool) -> np.ndarray:
    """The edges of the cells of times: half-way between neighbours."""
    if len(times) == 1:
        return np.array([times[0] / 1.5, times[0] * 1.5]) if is_log else times[0] + [-0.5, 0.5]
    scaled = np.log(times) if is_log else times
    middles = (scaled[1:] + scaled[:-1]) / 2
    found = np.concatenate([scaled[:1], middles, scaled[-1:]])
    return np.asarray(np.exp(found) if is_log else found)


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> np.ndarray:
    """The positions nearest to those wanted that keep a gap and stay within limits.

    Least squares under order constraints: neighbours that collide move as one block.
    """
    targets = np.asarray(wanted, dtype=float)
    order = np.argsort(targets, kind="stable")
    steps = gap * np.arange(len(targets))
    blocks: list[list[float]] = []  # mean and size
    for target in targets[order] - steps:
        blocks.append([float(target), 1.0])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, size = blocks.pop()
            before = blocks[-1]
            before[0] = (before[0] * before[1] + mean * size) / (before[1] + size)
            before[1] += size
    base = np.concatenate([np.full(int(size), mean) for mean, size in blocks])
    room = max(high - steps[-1], low)
    found = np.empty(len(targets))
    found[order] = np.clip(base, low, room) + steps
    return found


def label_ends(canvas: Canvas, axes: Axes, ends: Sequence[End], style: Style) -> None:
    """Write each line's name at its right end; a legend below where they do not fit."""
    from matplotlib.lines import Line2D
    from matplotlib.transforms import ScaledTranslation, blended_transform_factory

    if not ends:
        return
    at_edge = blended_transform_factory(axes.transAxes, axes.transData)
    aside = at_edge + ScaledTranslation(0.16, 0, canvas.dpi_scale_trans)
    font: Keywords = {"fontsize": style.small, "va": "center_baseline", "clip_on": False}
    texts = [
        axes.text(1.0, end.y, end.text, transform=aside, color=end.look.text, **font)
        for end in ends
    ]
    canvas.draw_without_rendering()
    box = axes.get_window_extent()
    gap = style.line * canvas.dpi * 0.92
    if gap * len(ends) > box.height * 1.1:
        for text in texts:
            text.remove()
        legend_below(canvas, ends, style)
        return
    shown = axes.transData.transform([(axes.get_xlim()[1], end.y) for end in ends])[:, 1]
    shown = np.clip(shown, box.y0, box.y1)
    placed = spread(shown, gap, box.y0, max(box.y1, box.y0 + gap * (len(ends) - 1)))
    fraction = (placed - box.y0) / box.height
    start = (shown - box.y0) / box.height
    beside = axes.transAxes + ScaledTranslation(0.16, 0, canvas.dpi_scale_trans)
    inch = canvas.dpi / box.width  # of the axes' width
    for text, end, y, origin in zip(texts, ends, fraction, start, strict=True):
        text.set_transform(beside)
        text.set_y(float(y))
        x = [1.0 + 0.02 * inch, 1.0 + 0.13 * inch]
        line: Keywords = {"transform": axes.transAxes, "linewidth": 0.7, "clip_on": False}
        axes.add_line(Line2D(x, [origin, y], color=end.look.colour, **line))


def legend_below(canvas: Canvas, ends: Sequence[End], style: Style) -> None:
    """A legend below everything, in as many columns as fit."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], **end.look.line, marker=end.marker, label=end.text) for end in ends]
    longest = max(len(end.text) for end in ends)
    columns = int(style.width * 72 / ((0.62 * longest + 4.5) * style.small))
    columns = max(1, min(columns, len(ends)))
    rows = -(-len(ends) // columns)
    width, height = canvas.get_size_inches()
    canvas.set_size_inches(width, height + rows * style.line)
    canvas.legend(handles=handles, loc="outside lower center", ncols=columns, columnspacing=1.2)


def note_below(canvas: Canvas, text: str, style: Style) -> None:
    """Small print under the figure, wrapped to its width."""
    letters = int(style.width * 72 / (0.56 * style.small))
    lines = [part for line in text.splitlines() for part in wrap(line, letters)]
    width, height = canvas.get_size_inches()
    canvas.set_size_inches(width, height + (len(lines) - 1) * style.line)
    canvas.supxlabel("\n".join(lines), fontsize=style.small, color=style.inks.faint)


def label_points(
    canvas: Canvas,
    axes: Axes,
    points: Sequence[tuple[float, float]],
    texts: Sequence[str],
    looks: Sequence[Look],
    style: Style,
) -> None:
    """Write a name beside each point, where it covers no other name or point."""
    from matplotlib.transforms import Bbox

    if not points:
        return
    canvas.draw_without_rendering()
    frame = axes.get_window_extent()
    line = 1.05 * style.line * 72
    sides: tuple[Literal["left", "right"], ...] = ("left", "right")
    reach = [0, *(side * k for k in range(1, len(points) + 3) for side in (-1, 1))]
    middles, radius = axes.transData.transform(points), 4 * canvas.dpi / 72
    taken = [Bbox([middle - radius, middle + radius]) for middle in middles]
    background: Keywords = {
        "facecolor": style.inks.paper,
        "alpha": 0.75,
        "linewidth": 0,
        "pad": 0.3,
    }
    font: Keywords = {"va": "center_baseline", "fontsize": style.small, "annotation_clip": False}
    offset: Keywords = {"xytext": (0, 0), "textcoords": "offset points"}
    for point, text, look in zip(points, texts, looks, strict=True):
        label = axes.annotate(text, point, **offset, **font, color=look.text, bbox=background)
        for rows, side in product(reach, sides):
            label.set_horizontalalignment(side)
            label.set_position((7 if side == "left" else -7, rows * line))
            box = label.get_window_extent()
            inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0
            if inside and box.y1 <= frame.y1 + line and not any(map(box.overlaps, taken)):
                taken.append(box)
                break
        else:
            label.remove()  # no room: the colour of the marker identifies it
