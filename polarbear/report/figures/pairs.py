"""Pairs over all times, with P(better) and the verdict, and pairs over time, a strip for each."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.racing import ABOVE, ALIKE, BELOW, Kind
from polarbear.racing.verdicts import AT_A_TIME, SIGNS
from polarbear.report.context import ReportContext
from polarbear.report.figures.axes import (
    colour_ticks,
    edges,
    name_rows,
    note_below,
    on_log_time,
    time_axis,
)
from polarbear.report.figures.base import Figure, lacks_beliefs, moment
from polarbear.report.figures.style import Keywords, Style
from polarbear.report.findings import codes, decided, verdict
from polarbear.report.words import LOWEST_P_BETTER, legend
from polarbear.wording import probability_cell, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

NUMBER = LOWEST_P_BETTER.format(a="row")


def order(context: ReportContext) -> list[str]:
    """Candidates first, then eliminated algorithms, the latest first."""
    believed = context.believed
    assert believed is not None
    inside = [name for name in believed.algorithms if name in context.remaining]
    gone: list[str] = []
    if context.rounds:
        gone = [entry.algorithm for entry in reversed(context.rounds[-1].state.eliminated)]
    rest = [n for n in believed.algorithms if n not in inside and n not in gone]
    return [*inside, *gone, *rest]


def matrix_data(context: ReportContext) -> pl.DataFrame:
    """For each ordered pair, the lowest P(a is better than b) over time, and the verdict.

    ``decided`` is the probability in the round in which a eliminated b. ``verdict`` is a kind of
    `polarbear.racing.verdicts`.
    """
    believed = context.believed
    assert believed is not None
    probability = believed.dominance()
    names = order(context)
    rows = []
    for a in names:
        for b in names:
            if a != b:
                p = float(probability[believed.place(a), believed.place(b)])
                how = verdict(context, a, b).kind.value
                then = decided(context, a, b)
                rows.append((a, b, None if np.isnan(p) else p, how, then))
    numbers = ("probability", "decided")
    columns = ("a", "b", "probability", "verdict", "decided")
    schema = {name: pl.Float64 if name in numbers else pl.String for name in columns}
    return pl.DataFrame(rows, schema=schema, orient="row")


def draw_matrix(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    names = data["a"].unique(maintain_order=True).to_list()
    n, short = len(names), style.names(context.labels, names, 0.2)
    longest = (max(len(text) for text in short.values()) + 2) * 0.58 * style.small / 72
    cell = (style.width - longest - 0.2) / n  # its width, in inches
    stands = longest > 0.95 * cell
    one_line = cell * 72 > 5.2 * style.small
    row = max(0.13, (1.5 if one_line else 2.3) * style.line)
    numbers = one_line or cell * 72 > 2.0 * style.small
    row = row if numbers else min(row, max(cell, 0.11))
    canvas.set_size_inches(style.width, n * row + (longest if stands else style.line) + 0.55)
    axes = canvas.subplots()
    place = {name: i for i, name in enumerate(names)}
    cells = np.full((n, n), np.nan)
    for a, b, p, _, _ in data.iter_rows():
        cells[place[a], place[b]] = np.nan if p is None else p
    ramp = LinearSegmentedColormap.from_list("shades", style.inks.shades)
    shades = ramp.with_extremes(bad=style.inks.paper)
    image = axes.imshow(cells, cmap=shades, vmin=0, vmax=1, aspect="auto")
    size = min(style.small, cell * 72 / 2.2)
    for a, b, p, how, then in data.iter_rows():
        x, y, sign, share = place[b], place[a], SIGNS[Kind(how)], _cell(p, then)
        colour = style.inks.paper if p is not None and p > 0.5 else style.inks.ink
        font: Keywords = {"color": colour, "va": "center_baseline"}
        if one_line:
            axes.text(x - 0.04, y, sign, ha="right", fontsize=1.1 * size, **font)
            axes.text(x + 0.04, y, share, ha="left", fontsize=0.85 * size, **font)
            continue
        axes.text(x, y - 0.2 if numbers else y, sign, ha="center", fontsize=1.1 * size, **font)
        if numbers:
            axes.text(x, y + 0.22, share, ha="center", fontsize=0.85 * size, **font)
    _frame(axes, names, short, stands, context, style)
    if not numbers:  # only shades show the probabilities
        bar = canvas.colorbar(image, ax=axes, fraction=0.03, pad=0.015, ticks=[0, 0.5, 1])
        bar.set_label(NUMBER, fontsize=style.small)
        bar.outline.set_visible(False)
    changed = any(_cell(p, then) != _cell(p, None) for _, _, p, _, then in data.iter_rows())
    brackets = ["(when it was decided)"] if changed and numbers else []
    signs = [text.replace(" ", "\N{NO-BREAK SPACE}") for text in legend(data["verdict"])]
    note_below(canvas, ",  ".join([NUMBER, *brackets, *signs]), style)


def _frame(
    axes: Axes,
    names: list[str],
    short: dict[str, str],
    stands: bool,
    context: ReportContext,
    style: Style,
) -> None:
    """Names beside rows and above columns, eliminated ones in brackets; gaps between cells."""
    n, inside = len(names), context.remaining
    shown = [short[name] if name in inside else f"({short[name]})" for name in names]
    axes.set_xticks(range(n), shown, rotation=90 if stands else 0)
    axes.set_yticks(range(n), shown)
    axes.xaxis.tick_top()
    for axis in (axes.xaxis, axes.yaxis):
        colour_ticks(axis.get_ticklabels(), names, context, style)
    axes.tick_params(length=0)
    axes.set_xticks(np.arange(n - 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(n - 1) + 0.5, minor=True)
    axes.grid(which="minor", color=style.inks.paper, linewidth=1.0)
    axes.tick_params(which="minor", length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _cell(p: float | None, then: float | None) -> str:
    """Two digits; in brackets the probability when it was decided, where that differs."""
    now = "" if p is None else probability_cell(p)
    before = now if then is None else probability_cell(then)
    return now if before == now else f"{now} ({before})"


def lacks_pairs(context: ReportContext) -> str | None:
    if context.believed is not None and len(context.believed.algorithms) < 2:
        return "there is only one algorithm, and nothing to compare it with"
    return lacks_beliefs(context)


def matrix_caption(context: ReportContext) -> str:
    names = order(context)
    kinds = {verdict(context, a, b).kind for a in names for b in names if a != b}
    parts = [f"Pairs as a whole ({moment(context)}). Numbers are {NUMBER} now"]
    if context.rounds and context.rounds[-1].state.eliminated:
        parts.append(
            ", and in brackets the probability when the column was eliminated, where it differs"
        )
    signs = ", ".join(legend(kinds))
    if kinds == {Kind.OPEN}:
        parts.append(f". Every pair is still {signs[2:]} ({signs[0]})")
    elif signs:
        parts.append(
            f". Signs are relations shown with probability {short(context.rules.alpha)}, seen from "
            f"the row: {signs}"
        )
    if Kind.MOOT in kinds:
        parts.append("; no sign: one of the two is eliminated, and they are not compared further")
    if set(names) != set(context.remaining):
        parts.append(
            ". Candidates come first, then eliminated algorithms (in brackets), the latest first"
        )
    return f"{''.join(parts)}."


MATRIX = Figure("matrix", "Pairs as a whole", matrix_caption, lacks_pairs, matrix_data, draw_matrix)


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
    reason = lacks_pairs(context)
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
