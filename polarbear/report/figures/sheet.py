"""The sheet that a chart is drawn on by Matplotlib: names, ticks, legends and notes that fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from polarbear.report.figures.short_names import fitted
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

MAX_SOLID = 8  # algorithms with solid lines; colours repeat with dashes
POINTS_PER_INCH = 72
LETTER = 0.6  # width of a letter, relative to the size of its font


@dataclass(frozen=True)
class LegendLine:
    """A line of a legend; ``end`` is the height at which the drawn line ends, and sorts them."""

    text: str
    look: Look
    end: float = 0.0
    marker: str = ""


@dataclass(frozen=True)
class Sheet:
    """A canvas, its style, and the labels of all algorithms in the order of their looks."""

    canvas: Canvas
    style: Style
    labels: Mapping[str, str]

    def look(self, algorithm: str) -> Look:
        """The look of an algorithm, by its place among all algorithms."""
        return self.style.look(list(self.labels).index(algorithm))

    def names(self, algorithms: Sequence[str], share: float = 0.22) -> dict[str, str]:
        """The labels of some algorithms, cut to this share of the width of the sheet."""
        n_letters = int(share * self.letters_across)
        return fitted(self.labels, algorithms, max(n_letters, 6))

    @property
    def letters_across(self) -> float:
        """The number of small letters that fit side by side."""
        return self.style.width * POINTS_PER_INCH / (LETTER * self.style.small)

    # Ticks

    def number_ticks(self, axis: Axis) -> None:
        """Ticks with plain numbers, as many as fit; the limits of the axis are set before."""
        from matplotlib import ticker

        # Six digits leave out the noise of the last bits.
        axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: tick(float(f"{value:.6g}"))))
        max_ticks = self._max_ticks(axis)
        if axis.get_scale() != "log":
            axis.set_major_locator(ticker.MaxNLocator(min(max_ticks, 8), steps=[1, 2, 2.5, 5, 10]))
            return
        low, high = sorted(axis.get_view_interval())
        n_decades = float(np.log10(high / low))
        multiples: tuple[int, ...] = (1,)
        for candidate in ((1, 3), (1, 2, 5)):
            if len(candidate) * n_decades <= max_ticks:
                multiples = candidate
        axis.set_major_locator(ticker.LogLocator(subs=multiples, numticks=max_ticks + 2))
        axis.set_minor_locator(ticker.LogLocator(subs=range(1, 10), numticks=200))
        axis.set_minor_formatter(ticker.NullFormatter())
        if n_decades < 0.5:  # too narrow for ones, twos and fives
            axis.set_major_locator(ticker.MaxNLocator(4))
            axis.set_minor_locator(ticker.NullLocator())

    def _max_ticks(self, axis: Axis) -> int:
        """The number of ticks for which an axis has room."""
        axes = axis.axes
        if axis is not axes.xaxis:
            return 5
        width_in_letters = (
            axes.get_position().width * self.style.width * POINTS_PER_INCH / self.style.small
        )
        return max(2, int(width_in_letters / 5))

    # Colours that stand for amounts

    def shades(self, colours: Sequence[str] | None = None) -> Colormap:
        """Colours from least to most; by default those of the theme."""
        from matplotlib.colors import LinearSegmentedColormap

        return LinearSegmentedColormap.from_list("shades", colours or self.style.inks.shades)

    def colour_bar(self, image: ScalarMappable, axes: list[Axes], label: str) -> None:
        """A bar that explains the colours of an image."""
        bar = self.canvas.colorbar(image, ax=axes, fraction=0.03, pad=0.02, aspect=30)
        bar.set_label(label, fontsize=self.style.small)
        bar.outline.set_visible(False)

    # Legends and notes

    def name_lines(self, lines: Sequence[LegendLine], below: bool = False) -> None:
        """A legend right of the axes, the line that ends highest on top; without room, below.

        Grey lines are counted, not named.
        """
        from matplotlib.lines import Line2D

        style = self.style
        coloured = [line for line in lines if line.look != style.grey]
        entries = sorted(coloured, key=lambda line: -line.end)
        if len(entries) < len(lines):
            entries.append(LegendLine(f"{len(lines) - len(entries)} others", style.grey))
        handles = [
            Line2D([], [], **line.look.line, marker=line.marker, label=line.text)
            for line in entries
        ]
        colours = [line.look.text for line in entries]
        height_available = self.canvas.get_size_inches()[1] - 0.6
        is_too_high = len(entries) * 1.2 * style.line > height_available
        if below or style.is_narrow or is_too_high:
            self.legend_below(handles, colours)
            return
        length = 1.8 if len(handles) <= MAX_SOLID else 3.6  # a dash and a gap have to be seen
        self.canvas.legend(
            handles=handles,
            loc="outside right upper",
            labelcolor=colours,
            handlelength=length,
            labelspacing=0.3,
        )

    def legend_below(
        self, handles: Sequence[Artist | Container], colours: Sequence[str] | None = None
    ) -> None:
        """A legend below everything, in as many columns as fit; makes the figure higher."""
        longest = max(len(str(handle.get_label())) for handle in handles)
        column_width = (0.62 * longest + 4.5) * self.style.small
        n_columns = int(self.style.width * POINTS_PER_INCH / column_width)
        n_columns = max(1, min(n_columns, len(handles)))
        n_rows = -(-len(handles) // n_columns)
        self._add_lines(n_rows)
        font: Keywords = {"labelcolor": colours, "ncols": n_columns, "columnspacing": 1.2}
        self.canvas.legend(handles=handles, loc="outside lower center", **font)

    def note(self, text: str) -> None:
        """Small print under the figure, wrapped to its width."""
        n_letters = int(self.style.width * POINTS_PER_INCH / (0.56 * self.style.small))
        lines = [part for line in text.splitlines() for part in wrap(line, n_letters)]
        self._add_lines(len(lines) - 1)
        self.canvas.supxlabel(
            "\n".join(lines), fontsize=self.style.small, color=self.style.inks.faint
        )

    def _add_lines(self, count: int) -> None:
        """Make the figure higher by lines of small text."""
        width, height = self.canvas.get_size_inches()
        self.canvas.set_size_inches(width, height + count * self.style.line)
