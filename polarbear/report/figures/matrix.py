"""Pairs over all times: P(better) when decided and now, and the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.racing import Kind
from polarbear.racing.verdicts import SIGNS
from polarbear.report.context import ReportContext
from polarbear.report.figures.axes import colour_ticks, note_below
from polarbear.report.figures.base import Figure, lacks_beliefs, moment
from polarbear.report.figures.style import Keywords, Style
from polarbear.report.findings import decided, verdict
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


def data(context: ReportContext) -> pl.DataFrame:
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


def draw(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
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
        x, y, sign, share = place[b], place[a], SIGNS[Kind(how)], _share(p, then)
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
    changed = any(_share(p, then) != _share(p, None) for _, _, p, _, then in data.iter_rows())
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


def _share(p: float | None, then: float | None) -> str:
    """Two digits; in brackets the probability when it was decided, where that differs."""
    now = "" if p is None else probability_cell(p)
    before = now if then is None else probability_cell(then)
    return now if before == now else f"{now} ({before})"


def missing(context: ReportContext) -> str | None:
    if context.believed is not None and len(context.believed.algorithms) < 2:
        return "there is only one algorithm, and nothing to compare it with"
    return lacks_beliefs(context)


def caption(context: ReportContext) -> str:
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


MATRIX = Figure("matrix", "Pairs as a whole", caption, missing, data, draw)
