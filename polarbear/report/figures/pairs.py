"""Pairs over all times, with P(better) and the verdict, and pairs over time, a strip for each."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.racing import ABOVE, ALIKE, BELOW, VerdictKind
from polarbear.racing.verdicts import AT_A_TIME, SIGNS
from polarbear.report.context import ReportContext
from polarbear.report.figures.base import Figure, estimates_source, lacks_estimates
from polarbear.report.figures.sheet import Sheet, without_frame
from polarbear.report.figures.style import Keywords, Style
from polarbear.report.findings import (
    elimination_probability,
    matrix_numbers,
    relation_codes,
    verdict,
)
from polarbear.report.words import LOWEST_P_BETTER, legend
from polarbear.wording import probability_cell, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

NUMBER = LOWEST_P_BETTER.format(a="row")


def order(context: ReportContext) -> list[str]:
    """Candidates first, then eliminated algorithms, the latest first."""
    estimates = context.estimates
    assert estimates is not None
    inside = [name for name in estimates.algorithms if name in context.remaining]
    gone: list[str] = []
    if context.rounds:
        gone = [entry.algorithm for entry in reversed(context.rounds[-1].state.eliminated)]
    rest = [n for n in estimates.algorithms if n not in inside and n not in gone]
    return [*inside, *gone, *rest]


def matrix_data(context: ReportContext) -> pl.DataFrame:
    """For each ordered pair, the lowest P(a is better than b) over time, and the verdict.

    ``decided`` is the probability in the round in which a eliminated b. ``verdict`` is a kind of
    `polarbear.racing.verdicts`.
    """
    estimates = context.estimates
    assert estimates is not None
    probability = estimates.dominance()
    names = order(context)
    rows = []
    for a, b in permutations(names, 2):
        p = float(probability[estimates.row_of(a), estimates.row_of(b)])
        how, then = verdict(context, a, b).kind.value, elimination_probability(context, a, b)
        rows.append((a, b, None if np.isnan(p) else p, how, then))
    numbers = ("probability", "decided")
    columns = ("a", "b", "probability", "verdict", "decided")
    schema = {name: pl.Float64 if name in numbers else pl.String for name in columns}
    return pl.DataFrame(rows, schema=schema, orient="row")


def draw_matrix(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    sheet, names = Sheet.of(canvas, context, style), list(data["a"].unique(maintain_order=True))
    n, short = len(names), sheet.names(names, 0.2)
    longest = (max(len(text) for text in short.values()) + 2) * 0.58 * style.small / 72
    cell = (style.width - longest - 0.2) / n  # its width, in inches
    stands = longest > 0.95 * cell
    numbers = cell * 72 > 2.0 * style.small  # else only shades show the probabilities
    row = max(0.13, 2.3 * style.line) if numbers else max(cell, 0.11)
    axes = sheet.panel(n * row + (longest if stands else style.line) + 0.55)
    place = {name: i for i, name in enumerate(names)}
    cells = np.full((n, n), np.nan)
    size = min(style.small, cell * 72 / 2.2)
    for a, b, p, how, then in data.iter_rows():
        x, y = place[b], place[a]
        cells[y, x] = np.nan if p is None else p
        colour = style.inks.paper if p is not None and p > 0.5 else style.inks.ink
        font: Keywords = {"color": colour, "va": "center_baseline", "ha": "center"}
        sign = SIGNS[VerdictKind(how)]
        axes.text(x, y - 0.2 * numbers, sign, fontsize=1.1 * size, **font)
        if numbers:
            axes.text(x, y + 0.22, _cell(p, then), fontsize=0.85 * size, **font)
    shades = sheet.shades().with_extremes(bad=style.inks.paper)
    image = axes.imshow(cells, cmap=shades, vmin=0, vmax=1, aspect="auto")
    shown = [short[name] if name in context.remaining else f"({short[name]})" for name in names]
    axes.set_xticks(range(n), shown, rotation=90 if stands else 0)
    axes.set_yticks(range(n), shown)
    axes.xaxis.tick_top()
    for axis in (axes.xaxis, axes.yaxis):
        sheet.colour_ticks(axis.get_ticklabels(), names)
    between = np.arange(n - 1) + 0.5
    axes.hlines(between, -0.5, n - 0.5, color=style.inks.paper, linewidth=1.0)
    axes.vlines(between, -0.5, n - 0.5, color=style.inks.paper, linewidth=1.0)
    axes.tick_params(length=0)
    without_frame(axes)
    if not numbers:
        placed: Keywords = {"fraction": 0.03, "pad": 0.015, "ticks": [0, 0.5, 1]}
        sheet.colour_bar(image, axes, NUMBER, placed)
    changed = any(_cell(p, then) != _cell(p, None) for _, _, p, _, then in data.iter_rows())
    brackets = ["(when it was decided)"] if changed and numbers else []
    signs = [text.replace(" ", "\N{NO-BREAK SPACE}") for text in legend(data["verdict"])]
    sheet.note(",  ".join([NUMBER, *brackets, *signs]))


def _cell(p: float | None, then: float | None) -> str:
    """Two digits; in brackets the probability when it was decided, where that differs."""
    now = "" if p is None else probability_cell(p)
    before = now if then is None else probability_cell(then)
    return now if before == now else f"{now} ({before})"


def matrix_caption(context: ReportContext) -> str:
    names = order(context)
    signs = legend({verdict(context, a, b).kind for a, b in permutations(names, 2)})
    eliminated = ""
    if set(names) != set(context.remaining):
        eliminated = (
            " Candidates come first, then eliminated algorithms (in brackets), the latest first; "
            "pairs without a sign are not compared further."
        )
    return (
        f"Pairs as a whole ({estimates_source(context)}). Numbers are {matrix_numbers(context)}. "
        f"Signs are relations shown with probability {short(context.rules.alpha)}, seen from the "
        f"row: {', '.join(signs)}.{eliminated}"
    )


MATRIX = Figure(
    "matrix", "Pairs as a whole", matrix_caption, lacks_estimates, matrix_data, draw_matrix
)


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
    estimates = context.estimates
    assert estimates is not None
    frames = []
    for a, b in pairs(context):
        i, j = estimates.row_of(a), estimates.row_of(b)
        columns = {
            "a": a,
            "b": b,
            "t": estimates.times,
            "p_above": estimates.above[:, i, j],
            "p_below": estimates.above[:, j, i],
            "p_alike": estimates.alike[:, i, j],
            "settled": [AT_A_TIME[code] for code in relation_codes(context, a, b).tolist()],
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
    sheet = Sheet.of(canvas, context, style)
    axes = sheet.panel(len(shown) * max(1.35 * style.line, 0.16) + 0.75)
    for place, (a, b) in enumerate(shown):
        rows = data.filter((pl.col("a") == a) & (pl.col("b") == b))
        _strip(axes, place, rows, (a, b), sheet)
    other = axes.twinx()
    for side, which in ((axes, 0), (other, 1)):
        sheet.name_rows(side, [pair[which] for pair in shown], 0.18)
        without_frame(side)
    sheet.time_axis(axes)
    colours = "colour: the better one"
    if style.theme == "print":
        colours = "dark: left better, grey: right better"
    text = f"{colours}; thick: shown; framed: equivalent"
    cut = f"\n{len(shown)} of {total} pairs, candidates' first" if len(shown) < total else ""
    sheet.note(f"{text}{cut}")


def _strip(axes: Axes, place: int, rows: pl.DataFrame, pair: tuple[str, str], sheet: Sheet) -> None:
    """One pair: the colour is that of the better one, by probability; thick where it is settled."""
    from matplotlib.colors import to_rgb

    in_print, inks = sheet.style.theme == "print", sheet.style.inks
    paper, looks = np.array(to_rgb(inks.shades[0])), [sheet.look(name) for name in pair]
    colours = GREYS if in_print else [look.colour for look in looks]
    borders = sheet.time_edges
    left, width = borders[:-1], np.diff(borders)
    heights, shades, hatches = np.zeros(len(left)), np.tile(paper, (len(left), 1)), [""] * len(left)
    for k, (p_above, p_below, settled) in enumerate(
        rows.select("p_above", "p_below", "settled").iter_rows()
    ):
        if p_above is None and settled not in THICK:
            continue  # nothing is known about that time
        heights[k] = 0.8 if settled in THICK else 0.3
        if settled == "equivalent":
            frame = place - 0.4, place + 0.4
            axes.hlines(frame, *borders[k : k + 2], color=inks.faint, linewidth=0.8)
            continue
        lean = SURE[settled] if p_above is None else p_above - p_below
        better = 0 if lean > 0 else 1
        shades[k] += (to_rgb(colours[better]) - paper) * abs(lean)
        hatches[k] = "" if in_print else looks[better].hatch
    drawn: Keywords = {"align": "edge", "linewidth": 0, "antialiased": False, "hatch": hatches}
    drawn |= {"color": shades, "edgecolor": inks.paper}
    axes.bar(left, heights, width, place - heights / 2, **drawn)


def missing(context: ReportContext) -> str | None:
    estimates = context.estimates
    if estimates is None or estimates.trusted:
        return lacks_estimates(context)
    settled = [relation_codes(context, a, b) for a, b in pairs(context)]
    if np.isin(settled, (ABOVE, BELOW, ALIKE)).any():
        return None
    return "no posterior was usable so far, so nothing is known about pairs"


def caption(context: ReportContext) -> str:
    return (
        f"Pairs over time ({estimates_source(context)}). Each strip has the colour of the better "
        "algorithm, stronger with higher probability; it is thick where this was shown with "
        f"probability {short(context.rules.alpha)}, thin elsewhere, framed where the two are "
        "equivalent. Pairs of candidates come first, then eliminated algorithms; at most "
        f"{MAX_PAIRS} are drawn, the data has all."
    )


PAIRS = Figure("pairs", "Pairs over time", caption, missing, data, draw)
