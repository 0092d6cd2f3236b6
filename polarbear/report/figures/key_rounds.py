"""Key rounds of a race as small multiples: what was believed when something was decided."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.report.context import ReportContext, Round
from polarbear.report.figures.axes import (
    End,
    legend_below,
    number_ticks,
    on_log_time,
    panel_grid,
    time_axis,
)
from polarbear.report.figures.base import Figure, lacks_race
from polarbear.report.figures.round_history import resolved_in
from polarbear.report.figures.style import Style
from polarbear.report.findings import same_grid, truth_after, truth_of
from polarbear.wording import SHARE_OF_FIRSTS, joined

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

MAX_PANELS = 6
LABEL = 0.5  # inches beside them


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
    if len(found) <= most:
        return found
    return [found[i] for i in np.linspace(0, len(found) - 1, most).round().astype(int)]


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


def data(context: ReportContext) -> pl.DataFrame:
    """The truth, where it is known, and the estimates after each key round.

    ``panel`` counts from 0, and the truth has no ``round``. ``put_out`` and ``settled`` mark the
    algorithms that the round decided, ``in`` the candidates after it; ``truth`` is the true value
    of ``mean``.
    """
    frames = []
    truth = truth_of(context)
    if truth is not None:
        frames += [
            _frame(0, name, context.times, values, values, values).with_columns(
                pl.lit(None, pl.Int64).alias("round")
            )
            for name, values in truth.items()
        ]
    resolved = resolved_in(context)
    shown = key_rounds(context, MAX_PANELS - (truth is not None))
    for panel, entry in enumerate(shown, start=int(truth is not None)):
        seen = entry.believed
        known = truth_after(context, entry) if same_grid(context, entry) else None
        gone = {one.algorithm for one in entry.record.decisions.eliminated}
        for i, name in enumerate(seen.algorithms):
            frame = _frame(panel, name, seen.times, seen.mean[i], seen.low[i], seen.high[i])
            facts = {
                "round": pl.lit(entry.number, pl.Int64),
                "put_out": pl.lit(name in gone),
                "settled": pl.lit(resolved.get(name) == entry.number),
                "in": pl.lit(name in entry.state.candidates),
            }
            own = [None] * len(seen.times) if known is None else known[name].tolist()
            frames.append(frame.with_columns(pl.Series("truth", own, pl.Float64), **facts))
    return pl.concat(frames)


def _frame(
    panel: int, name: str, times: np.ndarray, mean: np.ndarray, low: np.ndarray, high: np.ndarray
) -> pl.DataFrame:
    """One algorithm in one panel, in which nothing was decided."""
    return pl.DataFrame({"t": times, "mean": mean, "low": low, "high": high}).select(
        pl.lit(panel).alias("panel"),
        pl.lit(0, pl.Int64).alias("round"),
        pl.lit(name).alias("algorithm"),
        pl.all(),
        pl.lit(None, pl.Float64).alias("truth"),
        pl.lit(False).alias("put_out"),
        pl.lit(False).alias("settled"),
        pl.lit(True).alias("in"),
    )


def draw(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    shown = data["panel"].unique().sort().to_list()
    columns = min(len(shown), 2 if style.width < 5 else 3)
    height = 0.7 * style.width / columns + 3.2 * style.line
    panels = panel_grid(canvas, len(shown), columns, height, style, share=True)
    narrow = style.model_copy(update={"width": style.width / columns})
    letters = int((style.width - LABEL) / columns * 72 / (0.6 * style.small))
    for place, (axes, panel) in enumerate(zip(panels, shown, strict=True)):
        own = data.filter(pl.col("panel") == panel)
        _panel(axes, own, context, style)
        text = f"({'abcdefghijkl'[place]}) {_title(own, context.labels)}"
        text = fill(text, letters, max_lines=2, placeholder="…", break_on_hyphens=False)
        axes.set_title(text, fontsize=style.small, pad=3)
        time_axis(axes, context, narrow, label=place + columns >= len(shown))
        axes.tick_params(labelbottom=place + columns >= len(shown))
    top = float(np.nanmax(data["high"].to_numpy()))
    panels[0].set_ylim(0, min(1.0, 1.05 * top))
    number_ticks(panels[0], "y", False, panels[0].get_ylim(), style)
    canvas.supylabel(SHARE_OF_FIRSTS, fontsize=style.font_size)
    names = data["algorithm"].unique(maintain_order=True).to_list()
    short = style.names(context.labels, names)
    ends = [End(0.0, short[n], style.look(context.colour_index(n))) for n in names]
    legend_below(canvas, ends, style)


def _panel(axes: Axes, own: pl.DataFrame, context: ReportContext, style: Style) -> None:
    for (name,), rows in own.group_by("algorithm", maintain_order=True):
        look = style.look(context.colour_index(str(name)))
        t, mean = rows["t"].to_numpy(), rows["mean"].to_numpy()
        inside = bool(rows["in"][0])
        marker = look.marker if len(t) == 1 else ""
        alpha, width = (0.2, 1.2) if inside else (0.08, 0.6)
        axes.fill_between(t, rows["low"], rows["high"], color=look.colour, alpha=alpha, lw=0)
        axes.plot(t, mean, **look.line, linewidth=width, marker=marker)
        if rows["truth"].is_not_null().all():
            axes.plot(t, rows["truth"], color=look.colour, linestyle=":", linewidth=0.9)
    axes.grid(axis="y")
    if on_log_time(context, style):
        axes.set_xscale("log")


def caption(context: ReportContext) -> str:
    dotted = ""
    if truth_of(context) is not None:
        dotted = " Dotted: the truth, which is shown alone first."
    return (
        f"Key rounds of the race: the {SHARE_OF_FIRSTS} of each algorithm over {context.axis}, "
        "posterior mean and central 95 % interval, after rounds in which an algorithm was "
        f"eliminated or settled, and after the last. Thin lines: eliminated.{dotted}"
    )


KEY_ROUNDS = Figure("key-rounds", "Key rounds", caption, lacks_race, data, draw)
