"""Shares of firsts over time with 95 % intervals: at present, and in the key rounds of a race."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.report.context import ReportContext, Round
from polarbear.report.figures.axes import (
    End,
    draw_estimate,
    each_algorithm,
    label_ends,
    legend_below,
    number_ticks,
    on_log_time,
    panel_grid,
    shift_from_only_time,
    time_axis,
)
from polarbear.report.figures.base import Figure, lacks_beliefs, lacks_race, moment
from polarbear.report.figures.round_history import resolved_in
from polarbear.report.figures.style import Style
from polarbear.report.findings import instances_at, same_grid, truth_after, truth_now, truth_of
from polarbear.wording import SHARE_OF_FIRSTS, joined

if TYPE_CHECKING:
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
    believed = context.believed
    assert believed is not None
    size, seen, truth = len(believed.times), instances_at(context), truth_now(context)
    frames = [
        pl.DataFrame(
            {
                "algorithm": [name] * size,
                "t": believed.times,
                "mean": believed.mean[i],
                "low": believed.low[i],
                "high": believed.high[i],
                "instances": None if seen is None else seen.get(name, np.zeros(size)),
                "in": [name in context.remaining] * size,
                "truth": None if truth is None else truth[name],
            },
            schema_overrides={"instances": pl.Int64, "truth": pl.Float64},
        )
        for i, name in enumerate(believed.algorithms)
    ]
    return pl.concat(frames)


def draw(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    canvas.set_size_inches(style.width, max(2.3, 0.5 * style.width))
    axes = canvas.subplots()
    short = style.names(context.labels, data["algorithm"].unique(maintain_order=True).to_list())
    is_log = on_log_time(context, style)
    ends = []
    # Candidates are named first, and lie above eliminated algorithms.
    ordered = data.sort("in", descending=True, maintain_order=True)
    for place, (name, rows, look) in enumerate(each_algorithm(ordered, context, style)):
        is_in = bool(rows["in"][0])
        alpha, width, above = (0.2, 1.5, 2.5) if is_in else (0.1, 0.8, 2.0)
        shift = shift_from_only_time(place, len(short), context.times, is_log)
        draw_estimate(axes, rows, look, "mean", alpha, width, shift, above)
        text = short[name] if is_in else f"({short[name]})"
        ends.append(End(float(rows["mean"][-1]), text, look))
    axes.set_ylim(0, min(1.0, 1.05 * float(np.nanmax(data["high"].to_numpy()))))
    number_ticks(axes, "y", False, axes.get_ylim(), style)
    axes.set_ylabel(SHARE_OF_FIRSTS)
    axes.grid(axis="y")
    time_axis(axes, context, style)
    label_ends(canvas, axes, ends, style)


def caption(context: ReportContext) -> str:
    out = len(context.believed.algorithms if context.believed else ()) - len(context.remaining)
    brackets = " Algorithms in brackets are eliminated." if out > 0 else ""
    sums = field_of_firsts(context) or "At each time the means sum to one."
    known = len(context.times) > 1 and truth_now(context) is not None
    dotted = " Dotted: the truth." if known else ""
    return (
        f"{WHAT} ({moment(context)}): posterior mean and central 95 % interval.{brackets} {sums}"
        f"{dotted}"
    )


def field_of_firsts(context: ReportContext) -> str:
    """The field of first places, where eliminated algorithms no longer compete for them."""
    believed = context.believed
    if believed is None or np.allclose(believed.mean.sum(axis=0), 1, atol=0.01):
        return ""
    return (
        "Candidates compete with each other, and their means sum to one at each time; the share of "
        "an eliminated algorithm is that among them and itself."
    )


RATINGS = Figure("ratings", TITLE, caption, lacks_beliefs, data, draw)


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


def key_data(context: ReportContext) -> pl.DataFrame:
    """The truth, where it is known, and the estimates after each key round.

    ``panel`` counts from 0, and the truth has no ``round``. ``put_out`` and ``settled`` mark the
    algorithms that the round decided, ``in`` the candidates after it; ``truth`` is the true value
    of ``mean``.
    """
    frames = []
    truth = truth_of(context)
    for name, values in (truth or {}).items():
        frames.append(_frame(0, None, name, context.times, (values, values, values)))
    resolved = resolved_in(context)
    shown = key_rounds(context, MAX_PANELS - (truth is not None))
    for panel, entry in enumerate(shown, start=int(truth is not None)):
        seen = entry.believed
        known = truth_after(context, entry) if same_grid(context, entry) else None
        gone = {one.algorithm for one in entry.record.decisions.eliminated}
        for i, name in enumerate(seen.algorithms):
            curves = seen.mean[i], seen.low[i], seen.high[i]
            own = None if known is None else known[name]
            decided = name in gone, resolved.get(name) == entry.number
            is_in = name in entry.state.candidates
            frames.append(
                _frame(panel, entry.number, name, seen.times, curves, own, decided, is_in)
            )
    return pl.concat(frames)


def _frame(
    panel: int,
    number: int | None,
    name: str,
    times: np.ndarray,
    curves: tuple[np.ndarray, np.ndarray, np.ndarray],
    truth: np.ndarray | None = None,
    decided: tuple[bool, bool] = (False, False),
    is_in: bool = True,
) -> pl.DataFrame:
    """One algorithm in one panel."""
    size = len(times)
    return pl.DataFrame(
        {
            "panel": [panel] * size,
            "round": [number] * size,
            "algorithm": [name] * size,
            "t": times,
            **dict(zip(("mean", "low", "high"), curves, strict=True)),
            "truth": truth,
            "put_out": [decided[0]] * size,
            "settled": [decided[1]] * size,
            "in": [is_in] * size,
        },
        schema_overrides={"panel": pl.Int32, "round": pl.Int64, "truth": pl.Float64},
    )


def draw_key_rounds(
    canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style
) -> None:
    shown = data["panel"].unique().sort().to_list()
    columns = min(len(shown), 2 if style.width < 5 else 3)
    height = 0.7 * style.width / columns + 3.2 * style.line
    panels = panel_grid(canvas, len(shown), columns, height, style, share=True)
    narrow = style.model_copy(update={"width": style.width / columns})
    letters = int((style.width - LABEL) / columns * 72 / (0.6 * style.small))
    for place, (axes, panel) in enumerate(zip(panels, shown, strict=True)):
        own = data.filter(pl.col("panel") == panel)
        for _, rows, look in each_algorithm(own, context, style):
            alpha, width = (0.2, 1.2) if rows["in"][0] else (0.08, 0.6)
            draw_estimate(axes, rows, look, "mean", alpha, width)
        axes.grid(axis="y")
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
