"""The description of a chart: panels, axes, series, marks and words, as plain data.

A figure describes its chart once. Matplotlib draws it (`canvas_renderer`), and the page draws the
same description (`js/chart.js`). Neither of them knows any figure.

Positions on an axis of rows are the numbers of its rows, counted from 0. Whatever has an
``algorithm`` has its colour, and the page hides it when its reader switches that algorithm off.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Literal

import numpy as np

from polarbear.wording import tick

Ink = Literal["ink", "faint", "alarm", "rest"]  # colours of a theme that stand for no algorithm
Dash = Literal["", "solid", "dashed", "dotted"]
Marker = Literal["", "own", "dot", "cross", "diamond", "bar"]
Numbers = Sequence[float] | Sequence[float | None] | np.ndarray
MAX_BANDS = 8  # more bands of intervals hide each other
MAX_NAMED = 16  # algorithms with a colour in one drawing on paper; the others are grey
JSON_DIGITS = 4  # significant digits of a position that a screen can show


@dataclass(frozen=True)
class Tick:
    """A place on an axis and its text."""

    at: float
    text: str


@dataclass(frozen=True)
class Row:
    """A row of an axis: the names of its algorithms, or a text, and a number beside it.

    A row of two algorithms has one name at each end. Names of eliminated algorithms are bracketed.
    """

    algorithms: tuple[str, ...] = ()
    text: str = ""
    number: str = ""
    is_bracketed: bool = False


@dataclass(frozen=True)
class Axis:
    """An axis: its title, range, scale, and its ticks or its named rows.

    Without ``ticks`` a renderer chooses round numbers. An axis ends where its series end if ``low``
    or ``high`` is None. Axes of time follow the reader's choice of a scale.
    """

    title: str = ""
    low: float | None = None
    high: float | None = None
    is_log: bool = False
    is_time: bool = False
    has_whole_ticks: bool = False
    has_grid: bool = True
    is_labelled: bool = True
    is_on_top: bool = False
    ticks: tuple[Tick, ...] | None = None
    rows: tuple[Row, ...] = ()


@dataclass(frozen=True)
class Line:
    """A line, with the band of its interval where it has ``low`` and ``high``.

    A line of a single point is a marker with an error bar. A line that ``is_named`` has an entry in
    the legend on paper, and its name at its end in the page. Muted lines are grey on paper.
    ``hover`` has a text for each point.
    """

    x: Numbers
    y: Numbers
    low: Numbers = ()
    high: Numbers = ()
    algorithm: str = ""
    ink: Ink = "ink"
    width: float = 1.4
    dash: Dash = ""  # empty: each algorithm has its own dash
    band_opacity: float = 0.2
    step: Literal["", "after", "middle"] = ""
    marker: Marker = ""
    is_named: bool = False
    is_bracketed: bool = False
    is_muted: bool = False
    hover: Sequence[str] = ()


@dataclass(frozen=True)
class Points:
    """Points that no line joins."""

    x: Numbers
    y: Numbers
    algorithm: str = ""
    ink: Ink = "ink"
    marker: Marker = "dot"
    size: float = 3.5
    opacity: float = 1.0
    hover: Sequence[str] = ()


@dataclass(frozen=True)
class Area:
    """The area between two curves."""

    x: Numbers
    low: Numbers
    high: Numbers
    algorithm: str = ""
    ink: Ink = "ink"
    opacity: float = 0.35


@dataclass(frozen=True)
class Boxes:
    """Rectangles from ``left`` to ``right`` and from ``low`` to ``high``.

    ``strength`` from 0 to 1 mixes each colour with that of the paper. Boxes that are not filled are
    frames. On paper those that are named have an entry in the legend. ``side`` is 1 or 2 for boxes
    of the first or second algorithm of a row, which are told apart in shades of grey, too.
    """

    left: Numbers
    right: Numbers
    low: Numbers
    high: Numbers
    algorithm: str = ""
    ink: Ink = "ink"
    strength: Numbers = ()
    is_filled: bool = True
    has_edges: bool = False
    side: int = 0
    is_named: bool = False
    hover: Sequence[str] = ()


@dataclass(frozen=True)
class Cells:
    """Values[row][column] as colours, in cells between the edges of columns and rows.

    Shades go from ``least`` to ``most``. With ``ahead``, the values are differences of two
    algorithms: those above zero have the colour of the first, those below that of the second.
    ``texts`` stand in the cells, ``short_texts`` where these do not fit. ``bar_title`` names the
    colours on paper where no texts do. ``hover`` has a text for each cell, or one row of texts for
    all rows; below it ``value_words`` tell a value in place of {value}, with other words for
    values below zero.
    """

    columns: Numbers
    rows: Numbers
    values: Sequence[Numbers] | np.ndarray
    least: float = 0.0
    most: float = 1.0
    ahead: tuple[str, ...] = ()
    texts: Sequence[Sequence[str]] = ()
    short_texts: Sequence[Sequence[str]] = ()
    bar_title: str = ""
    gaps: Literal["", "rows", "both"] = ""
    hover: Sequence[Sequence[str]] = ()
    value_words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rule:
    """A horizontal line over the whole width of a panel."""

    at: float
    ink: Ink = "ink"
    dash: Dash = "dashed"
    width: float = 0.8


Series = Line | Points | Area | Boxes | Cells | Rule


@dataclass(frozen=True)
class Title:
    """A title above a panel, at its left, its centre or its right."""

    text: str
    algorithm: str = ""
    side: Literal["left", "center", "right"] = "left"
    is_small: bool = False


@dataclass(frozen=True)
class Panel:
    """A pair of axes with their series.

    Its height is a number of ``lines`` of text, or else its width times ``aspect``. ``head`` is the
    heading of the numbers beside rows. The page hides a panel with one of its ``algorithms``.
    """

    x: Axis
    y: Axis
    series: tuple[Series, ...]
    titles: tuple[Title, ...] = ()
    lines: float = 0.0
    aspect: float = 0.42
    head: str = ""
    algorithms: tuple[str, ...] = ()


@dataclass(frozen=True)
class Chart:
    """All panels of a figure, in rows of ``columns`` panels; of ``narrow_columns`` in little room.

    ``labels`` are the labels of all algorithms, in the order of their colours. Panels that share
    their axes have labels at the outer ones only. The ``notes`` are words for a drawing on paper
    that stands without its caption; ``notes_in_print`` take their place in shades of grey.
    """

    panels: tuple[Panel, ...]
    labels: Mapping[str, str] = field(metadata={"is_known_to_page": True})
    columns: int = 1
    narrow_columns: int = 1
    shares_axes: bool = False
    legend: Literal["", "beside", "below"] = ""
    notes: tuple[str, ...] = ()
    notes_in_print: tuple[str, ...] = ()


def time_axis(times: np.ndarray, is_log: bool, title: str) -> Axis:
    """An axis of time over the cells of all times."""
    borders = edges(times, is_log)
    ticks = None
    if len(times) == 1:
        ticks = (Tick(float(times[0]), tick(float(times[0]))),)
    return Axis(
        title=title,
        low=float(borders[0]),
        high=float(borders[-1]),
        is_log=is_log,
        is_time=True,
        has_grid=False,
        ticks=ticks,
    )


def round_axis(first: int, last: int, is_labelled: bool = True) -> Axis:
    """An axis of the rounds of a race."""
    margin = max(0.5, 0.02 * (last - first))
    return Axis(
        title="round",
        low=first - margin,
        high=last + margin,
        has_whole_ticks=True,
        has_grid=False,
        is_labelled=is_labelled,
    )


def row_axis(rows: Sequence[Row], is_on_top: bool = False) -> Axis:
    """An axis of named rows, from the top down, or of columns, from left to right."""
    return Axis(rows=tuple(rows), has_grid=False, is_on_top=is_on_top)


def edges(times: np.ndarray, is_log: bool) -> np.ndarray:
    """The edges of the cells of times: half-way between neighbours."""
    if len(times) == 1:
        if is_log:
            return np.array([times[0] / 1.5, times[0] * 1.5])
        return np.asarray(times[0] + np.array([-0.5, 0.5]))
    scaled = np.log(times) if is_log else times
    middles = (scaled[1:] + scaled[:-1]) / 2
    inner = np.exp(middles) if is_log else middles
    return np.concatenate([times[:1], inner, times[-1:]])


def row_edges(n_rows: int) -> np.ndarray:
    """The edges of the cells of rows."""
    return np.arange(n_rows + 1) - 0.5


def isolated(name: str) -> str:
    """A name whose letters may run in another direction than those around it."""
    return f"\u2068{name}\u2069"


def plain(described: object) -> object:
    """A description as plain lists and objects for the page, without what has its default."""
    if isinstance(described, np.ndarray):
        return plain(described.tolist())
    if isinstance(described, float):
        return rounded(described)
    if described is None or isinstance(described, str | int):
        return described
    if isinstance(described, Sequence):
        return [plain(part) for part in described]
    kind = type(described).__name__.lower()
    content: dict[str, object] = {"kind": kind} if isinstance(described, Series) else {}
    for part in fields(described):  # type: ignore[arg-type]
        value = getattr(described, part.name)
        is_default = isinstance(value, str | int | float | tuple) and value == part.default
        if value is not None and not is_default and not part.metadata.get("is_known_to_page"):
            content[part.name] = plain(value)
    return content


def rounded(number: float) -> float | None:
    """A number with the digits that a screen can show; None where it is not finite."""
    if not math.isfinite(number):
        return None
    return float(f"{number:.{JSON_DIGITS}g}")
