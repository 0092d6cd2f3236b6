"""The sheet that a figure is drawn on: panels, axes, names of rows and lines, notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.report.figures.short_names import fitted, on_one_line
from polarbear.report.figures.style import Keywords, Look, Style
from polarbear.wording import tick

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Colormap
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


@dataclass(frozen=True)
class Sheet:
    """A canvas, and the style, algorithms and times of what is drawn on it.

    ``labels`` has all algorithms, in the order of their looks. Of a figure over time, ``times`` are
    those of the grid, and ``axis`` is what they count.
    """

    canvas: Canvas
    style: Style
    labels: Mapping[str, str]
    times: np.ndarray = field(default_factory=lambda: np.empty(0))
    log_times: bool = False
    axis: str = ""

    @classmethod
    def of(cls, canvas: Canvas, context: ReportContext, style: Style) -> Sheet:
        return cls(canvas, style, context.labels, context.times, context.log_times, context.axis)

    def look(self, name: str) -> Look:
        return self.style.look(list(self.labels).index(name))

    def names(self, names: Sequence[str], share: float = 0.22) -> dict[str, str]:
        """The labels of some algorithms, cut to this share of the width."""
        letters = int(share * self.style.width * 72 / (0.6 * self.style.small))
        return fitted(self.labels, names, max(letters, 6))

    def by_algorithm(
        self, data: pl.DataFrame, rank: pl.Expr | None = None
    ) -> Iterator[tuple[str, pl.DataFrame, Look]]:
        """Each algorithm with its rows and its look, in the order of the data.

        Of more than MAX_NAMED algorithms, those with the highest ``rank`` have colours, and come
        last.
        """
        groups = data.group_by("algorithm", maintain_order=True)
        shown = set(data["algorithm"])
        if rank is not None and len(shown) > MAX_NAMED:
            ranked = groups.agg(rank.alias("rank")).sort("rank", descending=True, nulls_last=True)
            shown = set(ranked["algorithm"][:MAX_NAMED])
        for (name,), rows in sorted(groups, key=lambda group: group[0][0] in shown):
            yield str(name), rows, self.look(str(name)) if name in shown else self.style.grey

    # Panels

    def panel(self, height: float) -> Axes:
        """The only panel of a figure of this height in inches."""
        self.canvas.set_size_inches(self.style.width, height)
        return self.canvas.subplots()

    def panels(
        self, count: int, columns: int, height: float, more: float = 0.3, share: bool = False
    ) -> list[Axes]:
        """Panels in rows, each ``height`` inches high, and ``more`` inches around all of them."""
        rows = -(-count // columns)
        self.canvas.set_size_inches(self.style.width, rows * height + more)
        grid = self.canvas.subplots(rows, columns, sharex=share, sharey=share, squeeze=False)
        panels = list(grid.ravel())
        for axes in panels[count:]:
            axes.remove()
        return panels[:count]

    # Rows of algorithms

    def name_rows(
        self, axes: Axes, names: Sequence[str], share: float = 0.22, shift: float = 0.0
    ) -> None:
        """Algorithms as rows from the top down, names in their colours, ``shift`` rows lower."""
        short = self.names(list(dict.fromkeys(names)), share)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_yticks(np.arange(len(names)) + shift, [short[name] for name in names])
        axes.tick_params(axis="y", length=0)
        self.colour_ticks(axes.get_yticklabels(), names)

    def number_rows(
        self, axes: Axes, names: Sequence[str], share: float = 0.22, shift: float = 0.0
    ) -> None:
        """Rows of algorithms over an axis of numbers."""
        self.name_rows(axes, names, share, shift)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x")
        self.number_ticks(axes.xaxis)

    def colour_ticks(self, labels: Sequence[Text], names: Sequence[str]) -> None:
        for label, name in zip(labels, names, strict=True):
            label.set_color(self.look(name).text)

    def write_beside(self, axes: Axes, y: float, text: str, colour: str) -> None:
        """Small text to the right of the axes, at the height of a row."""
        at, size = axes.get_yaxis_transform(), self.style.small
        axes.text(1.02, y, text, transform=at, va="center", fontsize=size, color=colour)

    def write_head(self, axes: Axes, text: str) -> None:
        """The heading of the texts beside the rows."""
        at, size, faint = axes.transAxes, self.style.small, self.style.inks.faint
        axes.text(1.02, 1.0, text, transform=at, va="bottom", fontsize=size, color=faint)

    # Axes

    @property
    def is_log(self) -> bool:
        """Whether the axis of time is logarithmic."""
        scale = self.style.time_axis
        return self.log_times if scale == "grid" else scale == "log"

    @property
    def time_edges(self) -> np.ndarray:
        """The edges of the cells of the grid's times, on the chosen scale."""
        return edges(self.times, self.is_log)

    def shift(self, place: int, count: int) -> float:
        """Where one of several bars is drawn around a single time, so that none covers another."""
        first, last = self.time_edges[[0, -1]]
        return float(last - first) * 0.4 * ((place + 0.5) / count - 0.5)

    def time_axes(self, panels: Sequence[Axes], columns: int) -> None:
        """Time on all panels, with words below the lowest of each column."""
        for place, axes in enumerate(panels):
            is_lowest = place + columns >= len(panels)
            self.time_axis(axes, label=is_lowest)
            axes.tick_params(labelbottom=is_lowest)

    def time_axis(self, axes: Axes, label: bool = True) -> None:
        """Time from the first to the last point of the grid, on the chosen scale."""
        borders = self.time_edges
        axes.set_xscale("log" if self.is_log else "linear")
        axes.set_xlim(float(borders[0]), float(borders[-1]))
        if len(self.times) == 1:
            axes.set_xticks(self.times, [tick(float(self.times[0]))])
            axes.set_xticks([], minor=True)
        else:
            self.number_ticks(axes.xaxis)
        if label:
            axes.set_xlabel(on_one_line(self.axis))

    def number_ticks(self, axis: Axis) -> None:
        """Ticks with plain numbers, as many as fit; the limits of the axis are set before."""
        from matplotlib import ticker

        # without the noise of the last bits
        axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: tick(float(f"{value:.6g}"))))
        axes = axis.axes
        letters = axes.get_position().width * self.style.width * 72 / self.style.small
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

    # Colours that stand for amounts

    def shades(self, colours: Sequence[str] | None = None) -> Colormap:
        """Colours from least to most; by default those of the theme."""
        from matplotlib.colors import LinearSegmentedColormap

        return LinearSegmentedColormap.from_list("shades", colours or self.style.inks.shades)

    def colour_bar(
        self, image: ScalarMappable, axes: Axes | list[Axes], label: str, drawn: Keywords
    ) -> Axes:
        bar = self.canvas.colorbar(image, ax=axes, **drawn)
        bar.set_label(label, fontsize=self.style.small)
        bar.outline.set_visible(False)
        return bar.ax

    # Legends and notes

    def name_lines(self, lines: Sequence[Line], below: bool = False) -> None:
        """A legend right of the axes, the line that ends highest on top; without room, below.

        Grey lines are counted, not named.
        """
        from matplotlib.lines import Line2D

        style, grey = self.style, self.style.grey
        named = sorted((line for line in lines if line.look != grey), key=lambda line: -line.end)
        if len(named) < len(lines):
            named.append(Line(f"{len(lines) - len(named)} others", grey))
        handles = [
            Line2D([], [], **line.look.line, marker=line.marker, label=line.text) for line in named
        ]
        colours = [line.look.text for line in named]
        room = self.canvas.get_size_inches()[1] - 0.6
        if below or style.is_narrow or len(named) * 1.2 * style.line > room:
            self.legend_below(handles, colours)
            return
        length = 1.8 if len(handles) <= MAX_SOLID else 3.6  # a dash and a gap have to be seen
        font: Keywords = {"labelcolor": colours, "handlelength": length, "labelspacing": 0.3}
        self.canvas.legend(handles=handles, loc="outside right upper", **font)

    def legend_below(
        self, handles: Sequence[Artist | Container], colours: Sequence[str] | None = None
    ) -> None:
        """A legend below everything, in as many columns as fit; makes the figure higher."""
        longest = max(len(str(handle.get_label())) for handle in handles)
        columns = int(self.style.width * 72 / ((0.62 * longest + 4.5) * self.style.small))
        columns = max(1, min(columns, len(handles)))
        self._add_lines(-(-len(handles) // columns))
        font: Keywords = {"labelcolor": colours, "ncols": columns, "columnspacing": 1.2}
        self.canvas.legend(handles=handles, loc="outside lower center", **font)

    def note(self, text: str) -> None:
        """Small print under the figure, wrapped to its width."""
        letters = int(self.style.width * 72 / (0.56 * self.style.small))
        lines = [part for line in text.splitlines() for part in wrap(line, letters)]
        self._add_lines(len(lines) - 1)
        self.canvas.supxlabel(
            "\n".join(lines), fontsize=self.style.small, color=self.style.inks.faint
        )

    def _add_lines(self, count: int) -> None:
        """Make the figure higher by lines of small text."""
        width, height = self.canvas.get_size_inches()
        self.canvas.set_size_inches(width, height + count * self.style.line)


def names_in(data: pl.DataFrame) -> list[str]:
    """The algorithms of a table, in its order."""
    return list(data["algorithm"].unique(maintain_order=True))


def without_frame(axes: Axes) -> None:
    for spine in axes.spines.values():
        spine.set_visible(False)


def whole_ticks(axis: Axis, most: int) -> None:
    """Ticks at whole numbers."""
    from matplotlib import ticker

    axis.set_major_locator(ticker.MaxNLocator(most, integer=True, min_n_ticks=1))


def draw_estimate(
    axes: Axes,
    rows: pl.DataFrame,
    look: Look,
    text: str,
    middle: str = "mean",
    *,
    alpha: float = 0.2,
    width: float = 1.4,
    shift: float = 0.0,
    above: float = 2.0,
) -> Line:
    """An estimate over ``t`` with the band of its interval; with one time an error bar, shifted.

    An interval that is null is not drawn, nor is a band of ``alpha`` 0. A known ``truth`` is
    dotted. Gives the line of the legend, with this text.
    """
    t, mean, low, high = (
        rows[name].fill_null(rows[middle]).to_numpy() for name in ("t", middle, "low", "high")
    )
    if len(t) == 1:
        bars: Keywords = {"color": look.colour, "fmt": look.marker, "elinewidth": 1, "capsize": 2}
        axes.errorbar(t + shift, mean, [mean - low, high - mean], **bars)
        return Line(text, look, float(mean[-1]), look.marker)
    if alpha:
        axes.fill_between(t, low, high, color=look.colour, alpha=alpha, linewidth=0)
    axes.plot(t, mean, **look.line, linewidth=width, zorder=above)
    if "truth" in rows.columns and rows["truth"].is_not_null().all():
        axes.plot(t, rows["truth"], color=look.colour, linestyle=":", linewidth=0.9, zorder=1.8)
    return Line(text, look, float(mean[-1]))


def edges(times: np.ndarray, is_log: bool) -> np.ndarray:
    """The edges of the cells of times: half-way between neighbours."""
    if len(times) == 1:
        return np.array([times[0] / 1.5, times[0] * 1.5]) if is_log else times[0] + [-0.5, 0.5]
    scaled = np.log(times) if is_log else times
    middles = (scaled[1:] + scaled[:-1]) / 2
    inner = np.exp(middles) if is_log else middles
    return np.concatenate([times[:1], inner, times[-1:]])
