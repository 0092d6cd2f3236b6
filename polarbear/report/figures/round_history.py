"""P(dominated) of each algorithm and the share of settled pairs, round by round."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.report.context import ReportContext
from polarbear.report.figures import plotting
from polarbear.report.figures.base import Figure, lacks_race
from polarbear.report.figures.style import Keywords, Style
from polarbear.wording import counted, percent, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

BEND = 0.9  # above it, the axis is logarithmic in 1 - p
DECADE = 0.3  # length of a power of ten on the axis, whose linear part is 0.9 long
TICKS = (0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999)
MOST_DRAWS = 1e5


def data(context: ReportContext) -> pl.DataFrame:
    """For each round and algorithm: the one most likely to dominate it, and P(dominated).

    ``probability`` is the one that the round recorded, as `polarbear status` shows it; where it
    recorded none, the highest over A of the lowest P(A above this one) at any time, A among the
    candidates when the round began. It is null where the round's posterior was not usable.
    ``event`` is eliminated, resolved (nothing about it is open from there on) or empty;
    ``share_settled`` is the share of all pairs that are settled.
    """
    rows = []
    resolved = resolved_in(context)
    running: tuple[str, ...] = ()
    for entry in context.rounds:
        state, believed = entry.state, entry.believed
        entered = set(state.algorithms) - set(running)
        out = {e.algorithm: e for e in state.eliminated if e.round == entry.number}
        inside = [n for n in state.algorithms if n in out or n in state.candidates]
        probability = believed.dominance()
        for name in inside:
            others = [n for n in inside if n != name]
            p = [float(probability[believed.place(n), believed.place(name)]) for n in others]
            by, highest = None, None
            if p and not np.isnan(p).all():
                by, highest = others[int(np.nanargmax(p))], float(np.nanmax(p))
            recorded = out.get(name) or (entry.record.threats.get(name) if by else None)
            if recorded is not None:
                by, highest = recorded.by, recorded.probability
            is_resolved = resolved.get(name) == entry.number
            rows.append(
                {
                    "round": entry.number,
                    "instances": state.instances,
                    "algorithm": name,
                    "by": by,
                    "probability": highest,
                    "event": "eliminated" if name in out else "resolved" if is_resolved else "",
                    "entered": name in entered and bool(running),
                    "share_settled": state.share_settled,
                }
            )
        running = state.algorithms
    return pl.DataFrame(rows, schema_overrides={"by": pl.String, "probability": pl.Float64})


def resolved_in(context: ReportContext) -> dict[str, int]:
    """The round from which on nothing was open about each candidate."""
    found: dict[str, int] = {}
    for entry in reversed(context.rounds):
        settled = set(entry.state.candidates) - set(entry.state.unresolved)
        if entry is context.rounds[-1]:
            found = dict.fromkeys(settled, entry.number)
        for name in list(found):
            if name in settled and found[name] == entry.number + 1:
                found[name] = entry.number
    return found


def stretched(p: np.ndarray, top: float = 1 - 1 / MOST_DRAWS) -> np.ndarray:
    """The place of a probability on the axis: linear up to 0.9, then logarithmic in 1 - p.

    Probabilities above ``top`` are drawn there.
    """
    p = np.minimum(np.asarray(p, dtype=float), top)
    with np.errstate(invalid="ignore"):
        beyond = BEND - DECADE * np.log10((1 - p) / (1 - BEND))
    return np.where(p > BEND, beyond, p)


def draw(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    height, alpha = max(2.6, 0.5 * style.width), context.rules.alpha
    canvas.set_size_inches(style.width, height + 0.6)
    axes, share = canvas.subplots(2, 1, sharex=True, height_ratios=[height - 0.5, 0.6])
    first, last = data["round"][0], data["round"][-1]
    pad = max(0.5, 0.02 * (last - first))
    axes.set_xlim(first - pad, last + pad)
    # The axis ends at the first tick beyond all values and the threshold.
    highest = max([alpha, *data["probability"].drop_nulls()])
    top = next((tick for tick in TICKS[5:] if tick >= highest), TICKS[-1])
    threshold = float(stretched(np.array(alpha)))
    axes.axhline(threshold, color=style.inks.ink, linewidth=0.7, linestyle=(0, (4, 3)))
    plotting.name_lines(canvas, _lines(axes, data, top, context, style), style)
    ticks = [tick for tick in TICKS if tick <= top]
    axes.set_yticks(stretched(np.array(ticks)), [short(tick) for tick in ticks])
    axes.set_ylim(-0.04, float(stretched(np.array(top))) + 0.06)
    axes.set_ylabel("P(dominated)")
    axes.grid(axis="y")
    _share(share, data, style)


def _lines(
    axes: Axes, data: pl.DataFrame, top: float, context: ReportContext, style: Style
) -> list[plotting.Line]:
    """A line per algorithm: a cross where it is eliminated, a diamond where it is settled."""
    short = style.names(context.labels, data["algorithm"].unique(maintain_order=True).to_list())
    rank = 2 * pl.col("round").max() - pl.col("probability").last()  # the longest in the race
    lines = []
    for name, rows, look in plotting.each_algorithm(
        data.drop_nulls("probability"), context, style, rank
    ):
        x, y = rows["round"].to_numpy(), stretched(rows["probability"].to_numpy(), top)
        markers: Keywords = {"marker": look.marker, "markevery": max(1, len(x) // 12)}
        axes.plot(x, y, **look.line, **markers, markersize=2.6, linewidth=1.1, clip_on=False)
        drawn: Keywords = {"linestyle": "", "clip_on": False, "zorder": 3, "markeredgewidth": 0.6}
        drawn |= {"markerfacecolor": look.colour, "markeredgecolor": style.inks.paper}
        for event, marker, size in (("eliminated", "X", 6.5), ("resolved", "D", 5.0)):
            here = (rows["event"] == event).to_numpy()
            if here.any():  # an empty line would spoil the layout
                axes.plot(x[here], y[here], marker=marker, markersize=size, **drawn)
        text = f"({short[name]})" if rows["event"][-1] == "eliminated" else short[name]
        lines.append(plotting.Line(text, look, float(y[-1]), look.marker))
    return lines


def _share(axes: Axes, data: pl.DataFrame, style: Style) -> None:
    """The share of settled pairs in each round."""
    settled = data.unique("round", maintain_order=True).sort("round")
    drawn: Keywords = {"linewidth": 1.2, "marker": "o", "markersize": 2.2, "clip_on": False}
    axes.plot(settled["round"], settled["share_settled"], color=style.inks.ink, **drawn)
    axes.set_ylim(0, 1)
    axes.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
    axes.grid(axis="y")
    axes.set_ylabel("pairs\nsettled")
    axes.set_xlabel("round")
    plotting.whole_ticks(axes.xaxis, 8)


def caption(context: ReportContext) -> str:
    last = context.rounds[-1]
    when = "at every time" if last.record.joint else "at each time, at the least"
    return (
        f"For each algorithm and round, how probably some other is better {when}, over "
        f"{counted(last.number, 'round')} and {counted(last.state.instances, 'instance')}. A cross "
        f"marks an elimination, above the dashed threshold of {short(context.rules.alpha)}; a "
        "diamond that nothing about a member of the Pareto set is open any more; names in brackets "
        "are eliminated. The axis turns logarithmic above 0.9. Below, the share of pairs that are "
        f"settled: {percent(last.state.share_settled)} in the end."
    )


ROUNDS = Figure("rounds", "The race, round after round", caption, lacks_race, data, draw)
