"""Shares of firsts over time with 95 % intervals: at present, and in the key rounds of a race."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.numerics.arrays import spread
from polarbear.report.context import ReportContext, Round
from polarbear.report.figures.base import Figure, estimates_source, lacks_estimates, lacks_race
from polarbear.report.figures.round_history import resolved_in
from polarbear.report.figures.sheet import MAX_BANDS, Line, Sheet, draw_estimate, names_in
from polarbear.report.figures.style import Keywords, Look, Style
from polarbear.report.findings import instances_at, truth_after, truth_now, truth_of
from polarbear.wording import SHARE_OF_FIRSTS, joined

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

TITLE = "Shares of firsts over time"
WHAT = (
    f"The {SHARE_OF_FIRSTS}: on how many of all instances each algorithm has the best solution of "
    "all by each time"
)


def data(context: ReportContext) -> pl.DataFrame:
    """Mean and central 95 % interval of each share of firsts, and the number of instances.

    ``in`` is true for candidates; ``instances`` is null where it is unknown, and ``truth``
    is known in synthetic races only.
    """
    estimates = context.estimates
    assert estimates is not None
    seen, truth = instances_at(context), truth_now(context)
    frames = [
        pl.DataFrame(
            {
                "algorithm": name,
                "t": estimates.times,
                "mean": estimates.mean[i],
                "low": estimates.low[i],
                "high": estimates.high[i],
                "instances": None if seen is None else seen.get(name, 0),
                "in": name in context.remaining,
                "truth": None if truth is None else truth[name],
            },
            schema_overrides={"instances": pl.Int64, "truth": pl.Float64},
        )
        for i, name in enumerate(estimates.algorithms)
    ]
    return pl.concat(frames)


def draw(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    sheet = Sheet.of(canvas, context, style)
    axes = sheet.panel(max(2.3, 0.5 * style.width))
    short, lines = sheet.names(names_in(data)), []
    # Candidates are named first, and lie above eliminated algorithms.
    ordered = data.sort("in", descending=True, maintain_order=True)
    found = sheet.by_algorithm(ordered, pl.col("mean").max())
    for place, (name, rows, look) in enumerate(found):
        is_in = bool(rows["in"][0])
        alpha, width, above = (0.2, 1.5, 2.5) if is_in else (0.1, 0.8, 2.0)
        alpha = alpha if len(short) <= MAX_BANDS else 0.0
        text, shift = short[name] if is_in else f"({short[name]})", sheet.shift(place, len(short))
        drawn: Keywords = {"alpha": alpha, "width": width, "shift": shift, "above": above}
        lines.append(draw_estimate(axes, rows, look, text, **drawn))
    _share_axis(axes, data, sheet)
    axes.set_ylabel(SHARE_OF_FIRSTS)
    sheet.time_axis(axes)
    sheet.name_lines(lines)


def _share_axis(axes: Axes, data: pl.DataFrame, sheet: Sheet) -> None:
    axes.set_ylim(0, min(1.0, 1.05 * float(np.nanmax(data["high"].to_numpy()))))
    sheet.number_ticks(axes.yaxis)
    axes.grid(axis="y")


def caption(context: ReportContext) -> str:
    out = len(context.estimates.algorithms if context.estimates else ()) - len(context.remaining)
    brackets = " Algorithms in brackets are eliminated." if out > 0 else ""
    sums = field_of_firsts(context) or "At each time the means sum to one."
    known = len(context.times) > 1 and truth_now(context) is not None
    dotted = " Dotted: the truth." if known else ""
    return (
        f"{WHAT} ({estimates_source(context)}): posterior mean and central 95 % interval (drawn "
        f"for up to {MAX_BANDS} algorithms).{brackets} {sums}{dotted}"
    )


def field_of_firsts(context: ReportContext) -> str:
    """The field of first places, where eliminated algorithms no longer compete for them."""
    estimates = context.estimates
    if estimates is None or np.allclose(estimates.mean.sum(axis=0), 1, atol=0.01):
        return ""
    return (
        "Candidates compete with each other, and their means sum to one at each time; the share of "
        "an eliminated algorithm is that among them and itself."
    )


RATINGS = Figure("ratings", TITLE, caption, lacks_estimates, data, draw)


MAX_PANELS = 6


def key_rounds(context: ReportContext, most: int) -> list[Round]:
    """The rounds in which an algorithm was eliminated or settled, and the last."""
    resolved = set(resolved_in(context).values())
    found = [
        entry
        for entry in context.rounds
        if entry.record.decisions.eliminated
        or entry.number in resolved
        or entry is context.rounds[-1]
    ]
    return [found[i] for i in spread(len(found), most)]


def _title(own: pl.DataFrame, labels: Mapping[str, str]) -> str:
    """The decisions of a round, in a few words."""
    if own["round"][0] is None:
        return "truth"
    parts = []
    for what, words in (("put_out", "eliminated"), ("settled", "settled")):
        names = own.filter(what)["algorithm"].unique(maintain_order=True)
        if len(names):
            parts.append(f"{words}: {joined([labels[name] for name in names])}")
    return f"round {own['round'][0]}{': ' if parts else ''}{'; '.join(parts)}"


def key_data(context: ReportContext) -> pl.DataFrame:
    """The truth, where it is known, and the estimates after each key round.

    ``panel`` counts from 0, and the truth has no ``round``. ``put_out`` and ``settled`` mark the
    algorithms that the round decided, ``in`` the candidates after it; ``truth`` is the true value
    of ``mean``.
    """
    truth, resolved = truth_of(context), resolved_in(context)
    rows: list[dict[str, object]] = []
    for name, values in (truth or {}).items():
        row = {"panel": 0, "round": None, "algorithm": name, "t": context.times}
        curve = {"mean": values, "low": values, "high": values, "truth": None}
        rows.append({**row, **curve, "put_out": False, "settled": False, "in": True})
    shown = key_rounds(context, MAX_PANELS - (truth is not None))
    for panel, entry in enumerate(shown, start=int(truth is not None)):
        seen = entry.estimates
        known = truth_after(context, entry)
        gone = {one.algorithm for one in entry.record.decisions.eliminated}
        for i, name in enumerate(seen.algorithms):
            rows.append(
                {
                    "panel": panel,
                    "round": entry.number,
                    "algorithm": name,
                    "t": seen.times,
                    "mean": seen.mean[i],
                    "low": seen.low[i],
                    "high": seen.high[i],
                    "truth": None if known is None else known[name],
                    "put_out": name in gone,
                    "settled": resolved.get(name) == entry.number,
                    "in": name in entry.state.candidates,
                }
            )
    kinds = {"panel": pl.Int32, "round": pl.Int64, "truth": pl.Float64}
    return pl.concat(pl.DataFrame(row, schema_overrides=kinds) for row in rows)


def draw_key_rounds(
    canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style
) -> None:
    shown = data["panel"].unique().sort().to_list()
    columns = min(len(shown), 2 if style.is_narrow else 3)
    height = 0.7 * style.width / columns + 3.2 * style.line
    sheet = Sheet.of(canvas, context, style)
    panels = sheet.panels(len(shown), columns, height, share=True)
    letters = int((style.width - 0.5) / columns * 72 / (0.6 * style.small))
    looks: dict[str, Look] = {}
    for place, (axes, panel) in enumerate(zip(panels, shown, strict=True)):
        own = data.filter(pl.col("panel") == panel)
        for name, rows, look in sheet.by_algorithm(own, pl.col("mean").max()):
            looks.setdefault(name, look)
            alpha, width = (0.2, 1.2) if rows["in"][0] else (0.08, 0.6)
            alpha = alpha if own["algorithm"].n_unique() <= MAX_BANDS else 0.0
            draw_estimate(axes, rows, look, name, alpha=alpha, width=width)
        text = f"({'abcdef'[place]}) {_title(own, context.labels)}"
        text = fill(text, letters, max_lines=2, placeholder="…", break_on_hyphens=False)
        axes.set_title(text, fontsize=style.small)
        axes.grid(axis="y")
    sheet.time_axes(panels, columns)
    _share_axis(panels[0], data, sheet)
    canvas.supylabel(SHARE_OF_FIRSTS, fontsize=style.font_size)
    short = sheet.names(list(looks))
    sheet.name_lines([Line(short[name], look) for name, look in looks.items()], below=True)


def key_caption(context: ReportContext) -> str:
    dotted = ""
    if truth_of(context) is not None:
        dotted = " Dotted: the truth, which is shown alone first."
    return (
        f"Key rounds of the race: the {SHARE_OF_FIRSTS} of each algorithm over {context.axis}, "
        "posterior mean and central 95 % interval, after rounds in which an algorithm was "
        f"eliminated or settled, and after the last. Thin lines: eliminated.{dotted}"
    )


KEY_ROUNDS = Figure("key-rounds", "Key rounds", key_caption, lacks_race, key_data, draw_key_rounds)
