"""One budget: shares of duels won on a line, with bars over algorithms that are not separated.

It reads like a critical-difference diagram, with posterior probabilities instead of a test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.report.context import ReportContext
from polarbear.report.figures.axes import number_ticks
from polarbear.report.figures.base import Figure, lacks_draws, moment_of_draws
from polarbear.report.figures.style import Keywords, Style
from polarbear.wording import short, timed

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

LEVELS = (0.025, 0.975)


def place(context: ReportContext) -> int:
    """The index of the shown time: the nearest to the requested one, or the last of the grid."""
    basis = context.draws
    assert basis is not None
    if context.at is None:
        return len(basis.times) - 1
    return int(np.abs(basis.times - context.at).argmin())


def caption(context: ReportContext) -> str:
    basis = context.draws
    assert basis is not None
    t = timed(float(basis.times[place(context)]), context.axis)
    return (
        f"At {t} ({moment_of_draws(context)}): the share of its duels with all others that each "
        "algorithm wins, posterior mean and central 95 % interval, the best on the left. A bar "
        "joins algorithms of which none is better than another with probability "
        f"{short(context.rules.alpha)} or more."
    )


def missing(context: ReportContext) -> str | None:
    reason = lacks_draws(context)
    if reason is None and context.basis is not None and len(context.basis.algorithms) < 2:
        return "there is one algorithm only"
    return reason


def data(context: ReportContext) -> pl.DataFrame:
    """Each algorithm, the best first: its share of duels won, and the groups it belongs to.

    ``groups`` are numbers of bars, with a blank between them.
    """
    basis = context.draws
    assert basis is not None
    n, posterior, at = len(basis.algorithms), basis.posterior, place(context)
    won = np.zeros((n, posterior.n_draws))
    better = np.zeros((n, n))
    for a in range(n):
        for b in range(n):
            if a != b:
                won[a] += posterior.head_to_head(a, b)[:, at] / (n - 1)
                better[a, b] = posterior.beats(a, b)[:, at].mean()
    order = np.argsort(-won.mean(axis=1), kind="stable")
    bars = groups(better[np.ix_(order, order)] >= context.rules.alpha)
    low, high = np.quantile(won, LEVELS, axis=1)
    return pl.DataFrame(
        {
            "t": [float(basis.times[at])] * n,
            "algorithm": [basis.algorithms[i] for i in order],
            "mean": won.mean(axis=1)[order],
            "low": low[order],
            "high": high[order],
            "groups": [
                " ".join(str(bar) for bar, (first, last) in enumerate(bars) if first <= i <= last)
                for i in range(n)
            ],
        }
    )


def groups(better: np.ndarray) -> list[tuple[int, int]]:
    """Longest runs of neighbours of which none is better[a, b] than another: first and last."""
    apart = better | better.T
    made: list[tuple[int, int]] = []
    for first in range(len(apart)):
        last = first
        while last + 1 < len(apart) and not apart[first : last + 1, last + 1].any():
            last += 1
        if last > first and (not made or last > made[-1][1]):
            made.append((first, last))
    return made


def draw(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    names, mean = data["algorithm"].to_list(), data["mean"].to_numpy()
    bars = _bars(data)
    left = -(-len(names) // 2)  # the better half is named on the left
    rows = len(names)  # those of the two sides take turns, so that no interval covers another
    step = 0.8 * style.line
    depth = 0.12 + 0.09 * len(bars)
    canvas.set_size_inches(style.width, 0.55 + depth + rows * step)
    axes = canvas.subplots()
    low, high = float(data["low"].min()), float(data["high"].max())  # type: ignore[arg-type]
    axes.set_xlim(min(1.0, high + 0.02), max(0.0, low - 0.02))  # the best stands on the left
    axes.set_ylim(depth + rows * step, -0.06)
    short = style.names(context.labels, names, 0.25)
    font: Keywords = {"va": "center", "fontsize": style.small}
    font["transform"] = axes.get_yaxis_transform()
    for place, name in enumerate(names):
        look = style.look(context.colour_index(name))
        row = 2 * place if place < left else 2 * (len(names) - 1 - place) + 1
        y = depth + (row + 0.5) * step
        edge = axes.get_xlim()[0 if place < left else 1]
        axes.plot([mean[place]] * 2 + [edge], [0, y, y], color=look.colour, linewidth=0.8)
        spread = [data["low"][place], data["high"][place]]
        axes.plot(spread, [y, y], color=look.colour, linewidth=2.6, alpha=0.45)
        axes.plot([mean[place]], [0], marker="o", color=look.colour, clip_on=False, markersize=3)
        x, side = (-0.01, "right") if place < left else (1.01, "left")
        text = f"{short[name]} {mean[place]:.2f}"
        axes.text(x, y, text, ha=side, color=look.text, **font)
    for number, (first, last) in enumerate(bars):
        y = 0.09 + 0.09 * number
        axes.plot([mean[first], mean[last]], [y, y], color=style.inks.ink, linewidth=2.4)
    axes.xaxis.set_ticks_position("top")
    axes.xaxis.set_label_position("top")
    axes.set_xlabel("share of duels won")
    axes.spines["top"].set_visible(True)
    axes.spines["bottom"].set_visible(False)
    axes.spines["left"].set_visible(False)
    axes.spines["top"].set_position(("data", 0))
    axes.set_yticks([])
    number_ticks(axes, "x", False, axes.get_xlim()[::-1], style)


def _bars(data: pl.DataFrame) -> list[tuple[int, int]]:
    held: dict[str, list[int]] = {}
    for place, numbers in enumerate(data["groups"].to_list()):
        for number in numbers.split():
            held.setdefault(number, []).append(place)
    return [(places[0], places[-1]) for places in held.values()]


ONE_BUDGET = Figure("one-budget", "One budget", caption, missing, data, draw)
