"""What the axes of several figures share: time, labels at the ends of lines, notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from polarbear.report.drawing.labels import plain
from polarbear.report.drawing.palette import Look
from polarbear.report.drawing.style import Style
from polarbear.wording import tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from matplotlib.transforms import Bbox

    from polarbear.report.context import ReportContext


@dataclass(frozen=True)
class End:
    """The end of a line, and what is to be written there."""

    y: float
    text: str
    look: Look
    marker: str = ""


def on_log_time(context: ReportContext, style: Style) -> bool:
    return context.log_times if style.log_time is None else style.log_time


def time_axis(axes: Axes, context: ReportContext, style: Style, label: bool = True) -> None:
    """Time from the first to the last point of the grid, on the scale that is asked for."""
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
        axes.set_xlabel(time_label(context))


def number_ticks(
    axes: Axes, which: str, is_log: bool, limits: tuple[float, float], style: Style
) -> None:
    """Ticks with plain numbers, as many as there is room for."""
    from matplotlib import ticker

    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: tick(round_off(value))))
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


def round_off(value: float) -> float:
    """A tick without the noise of its last bits."""
    return float(f"{value:.6g}")


def time_label(context: ReportContext) -> str:
    return plain(context.axis)


def edges(times: np.ndarray, is_log: bool) -> np.ndarray:
    """Where the stretch of each time begins and ends: half-way to its neighbours."""
    if len(times) == 1:
        return np.array([times[0] / 1.5, times[0] * 1.5]) if is_log else times[0] + [-0.5, 0.5]
    scaled = np.log(times) if is_log else times
    middles = (scaled[1:] + scaled[:-1]) / 2
    found = np.concatenate([scaled[:1], middles, scaled[-1:]])
    return np.asarray(np.exp(found) if is_log else found)


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> np.ndarray:
    """Positions as near to those wanted as can be that keep a distance and stay within limits.

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
    texts = [
        axes.text(
            1.0,
            end.y,
            end.text,
            transform=aside,
            color=end.look.text,
            fontsize=style.small,
            va="center_baseline",
            clip_on=False,
        )
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
        axes.add_line(
            Line2D(
                [1.0 + 0.02 * inch, 1.0 + 0.13 * inch],
                [origin, y],
                transform=axes.transAxes,
                color=end.look.colour,
                linewidth=0.7,
                clip_on=False,
            )
        )


def legend_below(canvas: Canvas, ends: Sequence[End], style: Style) -> None:
    """Names with their lines, in as many columns as fit, below everything."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D(
            [],
            [],
            color=end.look.colour,
            linestyle=end.look.dash,
            marker=end.marker,
            label=end.text,
        )
        for end in ends
    ]
    longest = max(len(end.text) for end in ends)
    columns = int(style.width * 72 / ((0.62 * longest + 4.5) * style.small))
    columns = max(1, min(columns, len(ends)))
    rows = -(-len(ends) // columns)
    width, height = canvas.get_size_inches()
    canvas.set_size_inches(width, height + rows * style.line)
    canvas.legend(handles=handles, loc="outside lower center", ncols=columns, columnspacing=1.2)


def note_below(canvas: Canvas, text: str, style: Style) -> None:
    """Small print under the figure, in as many lines as its width asks for."""
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
    """Write a name beside each point, where it covers no other name and no other point."""
    canvas.draw_without_rendering()
    frame = axes.get_window_extent()
    line = 1.05 * style.line * 72
    reach = [0, *(side * k for k in range(1, len(points) + 3) for side in (-1, 1))]
    taken = [_around(axes.transData.transform(point), 4 * canvas.dpi / 72) for point in points]
    for (x, y), text, look in zip(points, texts, looks, strict=True):
        label = axes.annotate(
            text,
            (x, y),
            (0, 0),
            textcoords="offset points",
            va="center_baseline",
            color=look.text,
            fontsize=style.small,
            annotation_clip=False,
            bbox={"facecolor": style.inks.paper, "alpha": 0.75, "linewidth": 0, "pad": 0.3},
        )
        best = None
        for rows in reach:
            for side in ("left", "right"):
                label.set_horizontalalignment(side)
                label.set_position((7 if side == "left" else -7, rows * line))
                box = label.get_window_extent()
                inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0
                if inside and box.y1 <= frame.y1 + line and not any(map(box.overlaps, taken)):
                    best = box
                    break
            if best:
                break
        if best is None:  # no room at all: the marker's colour has to do
            label.remove()
        else:
            taken.append(best)


def _around(middle: np.ndarray, reach: float) -> Bbox:
    from matplotlib.transforms import Bbox

    return Bbox([middle - reach, middle + reach])
