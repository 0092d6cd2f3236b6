"""Draws the description of a chart on a canvas of Matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from polarbear.report.figures.chart import (
    Area,
    Axis,
    Boxes,
    Cells,
    Chart,
    Line,
    Numbers,
    Panel,
    Points,
    Row,
    Series,
    Title,
)
from polarbear.report.figures.sheet import LETTER, POINTS_PER_INCH, LegendLine, Sheet
from polarbear.report.figures.short_names import on_one_line
from polarbear.report.figures.style import Keywords, Look, Style
from polarbear.settings.enumerations import Theme, TimeAxis

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis as DrawnAxis
    from matplotlib.cm import ScalarMappable
    from matplotlib.container import Container
    from matplotlib.figure import Figure as Canvas

DASHES = {"solid": "-", "dashed": (0, (4, 2)), "dotted": ":"}
MARKERS = {"": "", "dot": "o", "cross": "X", "diamond": "D", "bar": "|"}
TICK_LINES = 1.6  # height of a row of tick labels, in lines of small text
TITLE_LINES = 1.6  # height of a title, and of the title of an axis
LEAST_HEIGHT = {"alone": 1.9, "beside others": 1.0}  # inches of a panel with an aspect
SHORT_TEXT_SHARE = 0.55  # cells lower than this share of the usual height hold short texts only
MAX_VECTOR_CELLS = 400  # beyond it cells become an image, which keeps files small
BOXES_IN_PRINT = ("#202020", "#A0A0A0")  # the first and the second algorithm of a row
DIFFERENCES_IN_PRINT = ["#FFFFFF", "#B4B4B4", "#303030"]  # from the second one to the first one
PAIR_LOOKS = (0, 4)  # blue and orange, for two algorithms with the same colour


def draw_chart(canvas: Canvas, chart: Chart, style: Style) -> None:
    """Draw a chart, and set the size of the canvas to what the chart needs."""
    _ChartDrawing(canvas, chart, style).draw()


class _ChartDrawing:
    """One chart while it is drawn in one style."""

    def __init__(self, canvas: Canvas, chart: Chart, style: Style) -> None:
        self.canvas = canvas
        self.chart = chart
        self.style = style
        self.sheet = Sheet(canvas, style, chart.labels)
        n_columns = chart.narrow_columns if style.is_narrow else chart.columns
        self.n_columns = max(1, min(n_columns, len(chart.panels)))
        self.bars: list[tuple[ScalarMappable, str]] = []

    def draw(self) -> None:
        style = self.style
        all_axes = self._axes_of_panels()
        for number, (axes, panel) in enumerate(zip(all_axes, self.chart.panels, strict=True)):
            self._draw_panel(axes, panel, number)
        if self.bars:
            image, title = self.bars[0]
            self.sheet.colour_bar(image, all_axes, title)
        if self.chart.shares_axes and all_axes:
            title = on_one_line(self.chart.panels[0].y.title)
            self.canvas.supylabel(title, fontsize=style.font_size)
        self._draw_legend()
        notes = self.chart.notes
        if style.theme is Theme.PRINT and self.chart.notes_in_print:
            notes = self.chart.notes_in_print
        if notes:
            self.sheet.note("\n".join(notes))

    # Layout

    def _axes_of_panels(self) -> list[Axes]:
        """Axes for all panels, on a canvas that is as high as they need."""
        panels = self.chart.panels
        if not panels:
            self.canvas.set_size_inches(self.style.width, 1.0)
            return []
        rows = [panels[i : i + self.n_columns] for i in range(0, len(panels), self.n_columns)]
        inner = [max(self._inner_height(panel) for panel in row) for row in rows]
        outer = [
            max(self._height_around(panel, row_number == len(rows) - 1) for panel in row)
            for row_number, row in enumerate(rows)
        ]
        self.canvas.set_size_inches(self.style.width, sum(inner) + sum(outer) + 0.1)
        grid = self.canvas.subplots(
            len(rows), self.n_columns, squeeze=False, gridspec_kw={"height_ratios": inner}
        )
        all_axes = list(grid.ravel())
        for axes in all_axes[len(panels) :]:
            axes.remove()
        return all_axes[: len(panels)]

    def _inner_height(self, panel: Panel) -> float:
        """The height of a panel between its axes, in inches."""
        if panel.lines:
            height = panel.lines * max(self.style.line, 0.12)
            return height * SHORT_TEXT_SHARE if self._has_short_texts(panel) else height
        width = self.style.width / self.n_columns
        least = LEAST_HEIGHT["alone" if self.n_columns == 1 else "beside others"]
        return max(panel.aspect * width, least)

    def _has_short_texts(self, panel: Panel) -> bool:
        """Whether a panel has cells in which only short texts fit."""
        return any(
            isinstance(series, Cells)
            and len(series.short_texts) > 0
            and self._fitting_texts(series)[0] is series.short_texts
            for series in panel.series
        )

    def _height_around(self, panel: Panel, is_lowest: bool) -> float:
        """The height of titles, ticks and names above and below a panel, in inches."""
        n_lines = 0.0
        if panel.head or panel.titles:
            n_lines += TITLE_LINES + max((t.text.count("\n") for t in panel.titles), default=0)
        if panel.x.is_on_top:
            names_stand, longest = self._standing_names(panel.x)
            return n_lines * self.style.line + (longest if names_stand else 2 * self.style.line)
        if panel.x.is_labelled and (is_lowest or not self.chart.shares_axes):
            n_lines += TICK_LINES + (TITLE_LINES if panel.x.title else 0)
        return (n_lines + 0.3) * self.style.line

    def _standing_names(self, axis: Axis) -> tuple[bool, float]:
        """Whether names of columns are too long to lie, and the longest one in inches."""
        names = self._row_names(axis.rows, 0.2)
        longest = (max(map(len, names)) + 2) * 0.58 * self.style.small / POINTS_PER_INCH
        return longest > 0.95 * self._column_width(len(axis.rows)), longest

    def _column_width(self, n_columns: int) -> float:
        """The width of a column of cells in inches, with names beside the rows."""
        return (0.85 * self.style.width - 0.2) / max(n_columns, 1)

    # Panels

    def _draw_panel(self, axes: Axes, panel: Panel, number: int) -> None:
        is_outer_left = number % self.n_columns == 0
        is_lowest = number + self.n_columns >= len(self.chart.panels)
        if not self.chart.shares_axes:
            is_outer_left = is_lowest = True
        self._set_scale(axes.xaxis, panel.x)
        self._set_scale(axes.yaxis, panel.y)
        single_points = [s for s in panel.series if isinstance(s, Line) and len(s.x) == 1]
        for series in panel.series:
            if isinstance(series, Line) and len(series.x) == 1:
                offset = (single_points.index(series) + 0.5) / len(single_points) - 0.5
                self._draw_single_point(axes, series, offset)
            else:
                self._draw_series(axes, series)
        self._finish_axis(axes.xaxis, panel.x, is_lowest)
        self._finish_axis(axes.yaxis, panel.y, is_outer_left)
        self._draw_titles(axes, panel)

    def _set_scale(self, drawn_axis: DrawnAxis, axis: Axis) -> None:
        is_log = axis.is_log
        if axis.is_time and self.style.time_axis is not TimeAxis.GRID:
            is_log = self.style.time_axis is TimeAxis.LOG
        scale = "log" if is_log else "linear"
        if drawn_axis is drawn_axis.axes.xaxis:
            drawn_axis.axes.set_xscale(scale)
        else:
            drawn_axis.axes.set_yscale(scale)

    def _finish_axis(self, drawn_axis: DrawnAxis, axis: Axis, is_outer: bool) -> None:
        """Range, ticks, grid and title of an axis, once its series are drawn."""
        axes = drawn_axis.axes
        is_x = drawn_axis is axes.xaxis
        if axis.rows:
            self._name_rows(drawn_axis, axis)
            return
        if is_x:
            axes.set_xlim(axis.low, axis.high)
        else:
            axes.set_ylim(axis.low, axis.high)
        self._set_ticks(drawn_axis, axis)
        if axis.has_grid:
            axes.grid(axis="x" if is_x else "y")
        is_labelled = axis.is_labelled and is_outer
        if not is_labelled:
            drawn_axis.set_tick_params(labelbottom=False, labelleft=False)
        is_shared_title = self.chart.shares_axes and not is_x
        if is_labelled and axis.title and not is_shared_title:
            drawn_axis.set_label_text("\n".join(map(on_one_line, axis.title.split("\n"))))

    def _set_ticks(self, drawn_axis: DrawnAxis, axis: Axis) -> None:
        from matplotlib import ticker

        if axis.ticks is not None:
            drawn_axis.set_ticks([t.at for t in axis.ticks], [t.text for t in axis.ticks])
            drawn_axis.set_ticks([], minor=True)
            return
        self.sheet.number_ticks(drawn_axis)
        if axis.has_whole_ticks:
            drawn_axis.set_major_locator(ticker.MaxNLocator(8, integer=True, min_n_ticks=1))

    def _draw_titles(self, axes: Axes, panel: Panel) -> None:
        style = self.style
        n_letters = int(self.sheet.letters_across / self.n_columns) - 4
        for title in panel.titles:
            text = self._title_text(title, len(panel.titles))
            text = fill(text, n_letters, max_lines=2, placeholder="…", break_on_hyphens=False)
            font: Keywords = {"fontsize": style.small if title.is_small else style.font_size}
            if title.algorithm:
                font["color"] = self._title_look(title, panel).text
            axes.set_title(text, loc=title.side, **font)
        if panel.head:
            axes.text(
                1.02,
                1.0,
                panel.head,
                transform=axes.transAxes,
                va="bottom",
                fontsize=style.small,
                color=style.inks.faint,
            )

    def _title_text(self, title: Title, n_titles: int) -> str:
        """The words of a title; a label is cut to its share of the width of the panel."""
        if not title.algorithm:
            return title.text
        share = 0.8 if n_titles == 1 else 0.24
        return self.sheet.names([title.algorithm], share / self.n_columns)[title.algorithm]

    def _title_look(self, title: Title, panel: Panel) -> Look:
        for series in panel.series:
            if isinstance(series, Cells) and title.algorithm in series.ahead:
                return self._looks_of_pair(series.ahead)[series.ahead.index(title.algorithm)]
        return self.sheet.look(title.algorithm)

    def _looks_of_pair(self, pair: Sequence[str]) -> list[Look]:
        """The looks of two algorithms, which have to be of different colours."""
        looks = [self.sheet.look(algorithm) for algorithm in pair]
        if looks[0].colour == looks[1].colour:
            looks = [self.style.look(number) for number in PAIR_LOOKS]
        return looks

    # Rows

    def _row_names(self, rows: Sequence[Row], share: float, end: int = 0) -> list[str]:
        """The names at the left end of rows, or at their right end, cut to a share of the width."""
        algorithms = list(dict.fromkeys(a for row in rows for a in row.algorithms[end : end + 1]))
        short = self.sheet.names(algorithms, share)
        names = []
        for row in rows:
            name = row.text or (short[row.algorithms[end]] if len(row.algorithms) > end else "")
            names.append(f"({name})" if row.is_bracketed else name)
        return names

    def _name_rows(self, drawn_axis: DrawnAxis, axis: Axis) -> None:
        """Names of rows in the colours of their algorithms, with numbers beside them."""
        axes = drawn_axis.axes
        n_rows = len(axis.rows)
        if drawn_axis is axes.xaxis:
            names_stand = self._standing_names(axis)[0]
            axes.set_xlim(-0.5, n_rows - 0.5)
            names = self._row_names(axis.rows, 0.2)
            axes.set_xticks(np.arange(n_rows), names, rotation=90 if names_stand else 0)
            if axis.is_on_top:
                axes.xaxis.tick_top()
        else:
            axes.set_ylim(n_rows - 0.5, -0.5)
            share = 0.2 / self.n_columns**0.3
            axes.set_yticks(np.arange(n_rows), self._row_names(axis.rows, share))
            axes.spines["left"].set_visible(False)
            self._name_opposite_rows(axes, axis)
        drawn_axis.set_tick_params(length=0)
        for label, row in zip(drawn_axis.get_ticklabels(), axis.rows, strict=True):
            if row.algorithms:
                label.set_color(self.sheet.look(row.algorithms[0]).text)

    def _name_opposite_rows(self, axes: Axes, axis: Axis) -> None:
        """The second names and the numbers of rows, right of them."""
        second_names = self._row_names(axis.rows, 0.18, end=1)
        for row_number, row in enumerate(axis.rows):
            colour = self.style.inks.ink
            text = row.number
            if len(row.algorithms) > 1:
                text = second_names[row_number]
            if row.algorithms:
                colour = self.sheet.look(row.algorithms[-1]).text
            if text:
                axes.text(
                    1.02,
                    row_number,
                    text,
                    transform=axes.get_yaxis_transform(),
                    va="center",
                    fontsize=self.style.small,
                    color=colour,
                )

    # Series

    def _draw_series(self, axes: Axes, series: Series) -> None:
        if isinstance(series, Line):
            self._draw_line(axes, series)
        elif isinstance(series, Points):
            self._draw_points(axes, series)
        elif isinstance(series, Area):
            colour = self._colour(series.algorithm, series.ink)
            shape: Keywords = {"color": colour, "alpha": series.opacity, "linewidth": 0}
            axes.fill_between(_array(series.x), _array(series.low), _array(series.high), **shape)
        elif isinstance(series, Boxes):
            self._draw_boxes(axes, series)
        elif isinstance(series, Cells):
            self._draw_cells(axes, series)
        else:
            stroke: Keywords = {"linewidth": series.width, "linestyle": DASHES[series.dash or "-"]}
            axes.axhline(series.at, color=self._colour("", series.ink), **stroke)

    def _colour(self, algorithm: str, ink: str) -> str:
        """The colour of an algorithm, or an ink of the theme."""
        if algorithm:
            return self.sheet.look(algorithm).colour
        return str(getattr(self.style.inks, ink))

    def _line_look(self, line: Line) -> Look:
        if line.is_muted:
            return self.style.grey
        return self.sheet.look(line.algorithm)

    def _stroke(self, line: Line) -> Keywords:
        """Colour, dash, width and markers of a line."""
        marker = MARKERS.get(line.marker, "")
        if line.algorithm:
            look = self._line_look(line)
            stroke = look.line
            if line.marker == "own":
                marker = look.marker
        else:
            stroke = {"color": self._colour("", line.ink), "linestyle": "-"}
        if line.dash:
            stroke["linestyle"] = DASHES[line.dash]
        stroke |= {"linewidth": line.width, "marker": marker, "markersize": 2.4}
        return stroke | {"markevery": max(1, len(line.x) // 12)}

    def _draw_line(self, axes: Axes, line: Line) -> None:
        x = _array(line.x)
        y = _array(line.y)
        stroke = self._stroke(line)
        if len(line.low) and line.band_opacity:
            band: Keywords = {"color": stroke["color"], "alpha": line.band_opacity, "linewidth": 0}
            axes.fill_between(x, _array(line.low), _array(line.high), **band)
        steps = {"": "default", "after": "steps-post", "middle": "steps-mid"}
        is_within = not len(line.low)
        axes.plot(x, y, **stroke, drawstyle=steps[line.step], clip_on=not is_within)

    def _draw_single_point(self, axes: Axes, line: Line, offset: float) -> None:
        """A marker, with an error bar; ``offset`` moves it aside, so that none covers another."""
        look = self._line_look(line) if line.algorithm else self.style.grey
        x = _array(line.x)
        y = _array(line.y)
        if not len(line.low):
            axes.plot(x, y, color=look.colour, marker=look.marker, linestyle="", clip_on=False)
            return
        x = x * 1.4**offset if axes.get_xscale() == "log" else x + 0.4 * offset
        lengths = [y - _array(line.low), _array(line.high) - y]
        bar: Keywords = {"color": look.colour, "fmt": look.marker, "elinewidth": 1, "capsize": 2}
        axes.errorbar(x, y, None if np.isnan(lengths).any() else lengths, **bar)

    def _draw_points(self, axes: Axes, points: Points) -> None:
        marker = MARKERS.get(points.marker, "o")
        if points.marker == "own":
            marker = self.sheet.look(points.algorithm).marker
        is_event = points.marker in ("cross", "diamond")  # with a rim, above all lines
        axes.plot(
            _array(points.x),
            _array(points.y),
            color=self._colour(points.algorithm, points.ink),
            linestyle="",
            marker=marker,
            markersize=points.size,
            alpha=points.opacity,
            markeredgewidth=1.0 if points.marker == "bar" else 0.6 * is_event,
            markeredgecolor=self.style.inks.paper if is_event else None,
            clip_on=not is_event,
            zorder=3 if is_event else 2.2,
        )

    def _draw_boxes(self, axes: Axes, boxes: Boxes) -> None:
        low = _array(boxes.low)
        left = _array(boxes.left)
        widths = _array(boxes.right) - left
        shape: Keywords = {"align": "edge", "linewidth": 0, "antialiased": False}
        if not boxes.is_filled:
            shape = {"align": "edge", "linewidth": 0.8, "facecolor": "none"}
            shape["edgecolor"] = self._colour("", boxes.ink)
        else:
            shape["color"] = self._box_colours(boxes)
        is_plain_grey = boxes.side and self.style.theme is Theme.PRINT
        if boxes.is_filled and boxes.algorithm and not is_plain_grey:
            shape["hatch"] = self.sheet.look(boxes.algorithm).hatch
            shape["edgecolor"] = self.style.inks.paper
        if boxes.has_edges:
            shape |= {"linewidth": 0.4, "edgecolor": self.style.inks.paper}
        if boxes.is_named:
            shape["label"] = self.sheet.names([boxes.algorithm])[boxes.algorithm]
        axes.bar(left, _array(boxes.high) - low, widths, low, **shape)

    def _box_colours(self, boxes: Boxes) -> list[tuple[float, float, float]]:
        """The colour of each box, mixed with that of the paper by its strength."""
        from matplotlib.colors import to_rgb

        colour = self._colour(boxes.algorithm, boxes.ink)
        if boxes.side and self.style.theme is Theme.PRINT:
            colour = BOXES_IN_PRINT[boxes.side - 1]
        full = np.array(to_rgb(colour))
        paper = np.array(to_rgb(self.style.inks.shades[0]))
        strength = _array(boxes.strength) if len(boxes.strength) else np.ones(len(boxes.low))
        mixed = paper + (full - paper) * strength[:, None]
        return [(float(red), float(green), float(blue)) for red, green, blue in mixed]

    # Cells

    def _draw_cells(self, axes: Axes, cells: Cells) -> None:
        inks = self.style.inks
        values = np.array([_array(row) for row in cells.values])
        colours = list(inks.shades)
        if cells.ahead:
            first_look, second_look = self._looks_of_pair(cells.ahead)
            colours = [second_look.colour, inks.shades[0], first_look.colour]
            if self.style.theme is Theme.PRINT:
                colours = DIFFERENCES_IN_PRINT
        shades = self.sheet.shades(colours).with_extremes(bad=inks.paper)
        image = axes.pcolormesh(
            _array(cells.columns),
            _array(cells.rows),
            values,
            cmap=shades,
            vmin=cells.least,
            vmax=cells.most,
            rasterized=values.size > MAX_VECTOR_CELLS,
        )
        self._draw_gaps(axes, cells)
        texts, size = self._fitting_texts(cells)
        if texts:
            self._write_in_cells(axes, cells, values, texts, size)
        has_long_texts = len(cells.texts) > 0 and texts is cells.texts
        if cells.bar_title and not has_long_texts:
            self.bars.append((image, cells.bar_title))

    def _draw_gaps(self, axes: Axes, cells: Cells) -> None:
        """Lines in the colour of the paper between cells."""
        columns = _array(cells.columns)
        rows = _array(cells.rows)
        stroke: Keywords = {"color": self.style.inks.paper, "linewidth": 1.0}
        if cells.gaps:
            axes.hlines(rows[1:-1], columns[0], columns[-1], **stroke)
        if cells.gaps == "both":
            axes.vlines(columns[1:-1], rows[0], rows[-1], **stroke)
        if cells.gaps:
            for spine in axes.spines.values():
                spine.set_visible(False)

    def _fitting_texts(self, cells: Cells) -> tuple[Sequence[Sequence[str]], float]:
        """The texts for which cells have room, and the size of their font."""
        if not cells.texts:
            return (), 0.0
        if not cells.short_texts:
            return cells.texts, self.style.small
        width = self._column_width(len(cells.columns) - 1) * POINTS_PER_INCH
        size = min(self.style.small, width / 2.2)
        longest = max(len(line) for row in cells.texts for text in row for line in text.split("\n"))
        if longest * LETTER * 0.85 * size <= width and width > 2.0 * self.style.small:
            return cells.texts, size
        return cells.short_texts, size

    def _write_in_cells(
        self,
        axes: Axes,
        cells: Cells,
        values: np.ndarray,
        texts: Sequence[Sequence[str]],
        size: float,
    ) -> None:
        columns = _array(cells.columns)
        rows = _array(cells.rows)
        is_log = axes.get_xscale() == "log"
        middles = (
            np.sqrt(columns[1:] * columns[:-1]) if is_log else (columns[1:] + columns[:-1]) / 2
        )
        middle_value = (cells.least + cells.most) / 2
        for i, row in enumerate(texts):
            for j, text in enumerate(row):
                if not text:
                    continue
                is_dark = values[i, j] > middle_value
                font: Keywords = {"va": "center_baseline", "ha": "center", "linespacing": 1.1}
                font["color"] = self.style.inks.paper if is_dark else self.style.inks.ink
                axes.text(middles[j], (rows[i] + rows[i + 1]) / 2, text, fontsize=size, **font)

    # Legend

    def _draw_legend(self) -> None:
        if not self.chart.legend:
            return
        handles = self._box_handles()
        if handles:
            self.sheet.legend_below(handles)
            return
        lines = self._labelled_lines()
        if lines:
            self.sheet.name_lines(lines, below=self.chart.legend == "below")

    def _box_handles(self) -> list[Artist | Container]:
        handles: dict[str, Artist | Container] = {}
        for axes in self.canvas.axes:
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                handles.setdefault(label, handle)
        return list(handles.values())

    def _labelled_lines(self) -> list[LegendLine]:
        """One line of the legend for each algorithm, in the order of their first lines."""
        labelled: dict[str, Line] = {}
        for panel in self.chart.panels:
            for series in panel.series:
                if isinstance(series, Line) and series.is_named:
                    labelled.setdefault(series.algorithm, series)
        short = self.sheet.names(list(labelled))
        entries = []
        for algorithm, line in labelled.items():
            text = f"({short[algorithm]})" if line.is_bracketed else short[algorithm]
            look = self._line_look(line)
            has_marker = line.marker == "own" or len(line.x) == 1
            end = float(line.y[-1] or 0.0)
            entries.append(LegendLine(text, look, end, look.marker if has_marker else ""))
        return entries


def _array(numbers: Numbers) -> np.ndarray:
    """Numbers as an array, with NaN for those that are missing."""
    return np.array([np.nan if number is None else number for number in numbers], dtype=float)
