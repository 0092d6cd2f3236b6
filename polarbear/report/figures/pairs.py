"""Pairs over time: a strip for each, in the colour of the better algorithm."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.racing import ABOVE, ALIKE, BELOW
from polarbear.racing.verdicts import AT_A_TIME
from polarbear.report.context import ReportContext
from polarbear.report.figures.axes import edges, name_rows, note_below, on_log_time, time_axis
from polarbear.report.figures.base import Figure, moment
from polarbear.report.figures.matrix import missing as missing_matrix
from polarbear.report.figures.matrix import order
from polarbear.report.figures.style import Keywords, Style
from polarbear.report.findings import codes
from polarbear.wording import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

SURE = {"above": 1.0, "below": -1.0}
THICK = ("above", "below", "equivalent")
GREYS = ("#202020", "#A0A0A0")  # in print: the left one is better, the right one is
MAX_PAIRS = 21  # all pairs of seven algorithms


def data(context: ReportContext) -> pl.DataFrame:
    """For each pair and time: P(a is better), P(b is better), P(equivalent), and what is settled.

    ``settled`` is above, below, equivalent, open; crossing where nothing was shown and the pair is
    settled because it crosses; moot where one of the two is eliminated. Pairs of candidates come
    first, then each eliminated algorithm with the one that eliminated it.
    """
    believed = context.believed
    assert believed is not None
    frames = []
    for a, b in pairs(context):
        i, j = believed.place(a), believed.place(b)
        columns = {
            "a": [a] * len(believed.times),
            "b": [b] * len(believed.times),
            "t": believed.times,
            "p_above": believed.above[:, i, j],
            "p_below": believed.above[:, j, i],
            "p_alike": believed.alike[:, i, j],
            "settled": [AT_A_TIME[code] for code in codes(context, a, b).tolist()],
        }
        frames.append(pl.DataFrame(columns))
    return pl.concat(frames).with_columns(pl.col("p_above", "p_below", "p_alike").fill_nan(None))


def pairs(context: ReportContext) -> list[tuple[str, str]]:
    """All pairs: of candidates, of eliminated algorithms with their dominators, the rest."""
    names, inside = order(context), context.remaining
    by = {}
    if context.rounds:
        by = {entry.algorithm: entry.by for entry in context.rounds[-1].state.eliminated}

    def rank(pair: tuple[str, str]) -> int:
        a, b = pair
        if a in inside and b in inside:
            return 0
        return 1 if by.get(b) == a or by.get(a) == b else 2

    return sorted(combinations(names, 2), key=rank)


def draw(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    shown = data.select("a", "b").unique(maintain_order=True).rows()
    total, shown = len(shown), shown[:MAX_PAIRS]
    row = max(1.35 * style.line, 0.16)
    canvas.set_size_inches(style.width, len(shown) * row + 0.75)
    axes = canvas.subplots()
    borders = edges(context.times, on_log_time(context, style))
    for place, (a, b) in enumerate(shown):
        rows = data.filter((pl.col("a") == a) & (pl.col("b") == b))
        _strip(axes, place, rows, borders, (a, b), context, style)
    other = axes.twinx()
    for side, which in ((axes, 0), (other, 1)):
        name_rows(side, [pair[which] for pair in shown], context, style, 0.18)
        for spine in side.spines.values():
            spine.set_visible(False)
    time_axis(axes, context, style)
    note_below(canvas, _small_print(len(shown), total, style), style)


def _strip(
    axes: Axes,
    place: int,
    rows: pl.DataFrame,
    borders: np.ndarray,
    pair: tuple[str, str],
    context: ReportContext,
    style: Style,
) -> None:
    """One pair: the colour is that of the better one, by probability; thick where it is settled."""
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgb

    paper = np.array(to_rgb(style.inks.shades[0]))
    looks = [style.look(context.colour_index(name)) for name in pair]
    colours = GREYS if style.theme == "print" else [look.colour for look in looks]
    hatches = ["", ""] if style.theme == "print" else [look.hatch for look in looks]
    above, below = (np.array(to_rgb(colour)) for colour in colours)
    painted: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}  # by hatch: corners, colour
    for k, (p_above, p_below, settled) in enumerate(
        rows.select("p_above", "p_below", "settled").iter_rows()
    ):
        lean = SURE.get(settled, 0.0) if p_above is None else p_above - p_below
        if p_above is None and settled not in THICK:
            continue  # nothing is known about that time
        alike = settled == "equivalent"
        colour, hatch = (above, hatches[0]) if lean > 0 else (below, hatches[1])
        reach = 0.4 if settled in THICK else 0.15
        left, right, top, bottom = borders[k], borders[k + 1], place - reach, place + reach
        corners = np.array([(left, top), (right, top), (right, bottom), (left, bottom)])
        shade = paper if alike else paper + (colour - paper) * abs(lean)
        painted.setdefault("" if alike else hatch, []).append((corners, shade))
        if alike:
            axes.hlines([top, bottom], left, right, color=style.inks.faint, linewidth=0.8)
    for hatch, areas in painted.items():
        corners_of, shades = zip(*areas, strict=True)
        drawn: Keywords = {"hatch": hatch or None, "linewidths": 0, "antialiaseds": False}
        drawn |= {"facecolors": shades, "edgecolors": style.inks.paper}
        axes.add_collection(PolyCollection(corners_of, **drawn))


def _small_print(shown: int, total: int, style: Style) -> str:
    colours = (
        "dark: left better, grey: right better"
        if style.theme == "print"
        else "colour: the better one"
    )
    text = f"{colours}; thick: shown; framed: equivalent"
    return text if shown == total else f"{text}\n{shown} of {total} pairs, candidates' first"


def missing(context: ReportContext) -> str | None:
    reason = missing_matrix(context)
    believed = context.believed
    if reason or believed is None or not np.isnan(believed.above).all():
        return reason
    settled = [codes(context, a, b) for a, b in pairs(context)]
    if np.isin(settled, (ABOVE, BELOW, ALIKE)).any():
        return None
    return "no posterior was usable so far, so nothing is known about pairs"


def caption(context: ReportContext) -> str:
    return (
        f"Pairs over time ({moment(context)}). Each strip has the colour of the better "
        "algorithm, stronger with higher probability; it is thick where this was shown with "
        f"probability {short(context.rules.alpha)}, thin elsewhere, framed where the two are "
        "equivalent. Pairs of candidates come first, then eliminated algorithms; at most "
        f"{MAX_PAIRS} are drawn, the data has all."
    )


PAIRS = Figure("pairs", "Pairs over time", caption, missing, data, draw)
