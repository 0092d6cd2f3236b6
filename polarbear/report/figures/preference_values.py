"""Values of the candidates under several preferences: win rates against the strongest rival."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from polarbear.report.context import ReportContext
from polarbear.report.figures.axes import (
    name_rows,
    note_below,
    number_ticks,
    panel_grid,
    write_beside,
    write_head,
)
from polarbear.report.figures.base import Figure, lacks_draws, moment_of_draws
from polarbear.report.figures.style import Style
from polarbear.selection.criteria import draws_of_values, judge
from polarbear.selection.preference import Context, Preference
from polarbear.selection.preference_parsing import parse_preference
from polarbear.settings.options import Source
from polarbear.wording import P_BEST, WIN_RATE, probability_mark, tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

DENSITY_POINTS = 80
MAX_CANDIDATES = 10
LEVELS = (0.025, 0.5, 0.975)


def preferences(context: ReportContext) -> dict[str, Preference]:
    """Preferences by their titles, from equal weights to the worst time."""
    times = context.times
    wanted = {f"at {tick(float(times[-1]))}": "final"}
    if len(times) > 1:
        wanted = {
            "any budget": "uniform",
            "short and long budgets alike": "log-uniform",
            f"at {tick(float(times[0]))}": f"at {float(times[0])!r}",
            f"at {tick(float(times[-1]))}": "final",
            "its worst time": "worst-case",
        }
    return {title: parse_preference(text, Source("figure")) for title, text in wanted.items()}


def data(context: ReportContext) -> pl.DataFrame:
    """For each preference and candidate: the density of its value, and summary statistics.

    ``value`` and ``density`` are the curve; ``p_best``, ``mean``, ``low``, ``median`` and ``high``
    (central 95 % interval) are repeated in each row. A value that is the same in every draw has one
    point, without a density.
    """
    basis = context.draws
    assert basis is not None
    names = [name for name in basis.algorithms if name in context.remaining]
    items = [basis.algorithms.index(name) for name in names]
    grid = Context(basis.times, basis.axis, joint=basis.posterior.joint)
    frames = []
    for title, preference in preferences(context).items():
        values = draws_of_values(basis.posterior, items, preference.on(grid), "duels")
        values = values.astype(np.float64)
        criteria = judge(values)
        for item, name in enumerate(names):
            low, median, high = np.quantile(values[:, item], LEVELS)
            x, density = smooth(values[:, item])
            labels = {"preference": preference.text, "title": title, "algorithm": name}
            facts = {"p_best": criteria.p2bb[item], "mean": criteria.mean[item]}
            facts |= {"low": low, "median": median, "high": high}
            frames.append(
                pl.DataFrame({"value": x, "density": density}).select(
                    *(pl.lit(text).alias(key) for key, text in labels.items()),
                    pl.all(),
                    *(pl.lit(float(fact)).alias(key) for key, fact in facts.items()),
                )
            )
    return pl.concat(frames)


def smooth(values: np.ndarray) -> tuple[np.ndarray, np.ndarray | list[Any]]:
    """A Gaussian kernel density over the range of the values, by Silverman's rule.

    Values are shares: density below 0 or above 1 is folded back.
    """
    spread = float(values.std())
    if spread <= 1e-9 * max(1.0, abs(float(values.mean()))):
        return values[:1], [None]
    low, high = np.quantile(values, (0.25, 0.75))
    width = 0.9 * min(spread, (high - low) / 1.34 or spread) * len(values) ** -0.2
    bins = np.linspace(values.min() - 3 * width, values.max() + 3 * width, 1025)
    counts, _ = np.histogram(values, bins)
    centres = (bins[1:] + bins[:-1]) / 2
    x = np.linspace(max(bins[0], 0.0), min(bins[-1], 1.0), DENSITY_POINTS)
    kernel = sum(np.exp(-0.5 * ((seen[:, None] - centres) / width) ** 2) for seen in (x, -x, 2 - x))
    return x, kernel @ counts / (len(values) * width * np.sqrt(2 * np.pi))


def draw(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    titles = data["title"].unique(maintain_order=True).to_list()
    everyone = data["algorithm"].unique(maintain_order=True).to_list()
    chances = dict(data.group_by("algorithm").agg(pl.col("p_best").max()).iter_rows())
    likeliest = sorted(everyone, key=lambda name: -chances[name])[:MAX_CANDIDATES]
    names = [name for name in everyone if name in likeliest]
    columns = 1 if style.width < 5 or len(titles) == 1 else 2
    row = max((1.45 if len(names) <= 5 else 1.2) * style.line, 0.14)
    height = row * (len(names) + 0.4) + 0.42
    panels = panel_grid(canvas, len(titles), columns, height, style, 0.25)
    for axes, title in zip(panels, titles, strict=True):
        _panel(axes, data.filter(pl.col("title") == title), names, context, style)
        axes.set_title(title, fontsize=style.font_size, pad=3)
    for axes in panels[-columns:]:
        axes.set_xlabel(f"value ({WIN_RATE})")
    for axes in panels[:columns]:
        write_head(axes, P_BEST, style)
    if len(names) < len(everyone):
        text = f"{len(names)} of {len(everyone)} candidates, those most likely to be the best"
        note_below(canvas, text, style)


def _panel(
    axes: Axes, data: pl.DataFrame, names: list[str], context: ReportContext, style: Style
) -> None:
    """One preference: density, median and interval of each candidate, and P(best) beside it."""
    for place, name in enumerate(names):
        rows = data.filter(pl.col("algorithm") == name)
        look = style.look(context.colour_index(name))
        first = rows.row(0, named=True)
        low, median, high, p_best = (first[k] for k in ("low", "median", "high", "p_best"))
        foot = place + 0.3
        if first["density"] is not None:
            hill = rows["density"].to_numpy()
            top = foot - 0.75 * hill / hill.max()
            axes.fill_between(rows["value"], foot, top, color=look.colour, alpha=0.35, linewidth=0)
        axes.plot([low, high], [foot, foot], color=look.colour, linewidth=1.2)
        axes.plot([median], [foot], marker="o", color=look.colour, markersize=3.2)
        write_beside(axes, foot - 0.15, probability_mark(p_best), look.text, style)
    name_rows(axes, names, context, style, 0.18, shift=0.15)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    axes.margins(x=0.03)
    number_ticks(axes, "x", False, axes.get_xlim(), style)


def missing(context: ReportContext) -> str | None:
    inside = context.remaining
    if lacks_draws(context) is None and len(inside) == 1:
        return f"{inside[0]} is the only candidate, whatever the preference"
    return lacks_draws(context)


def caption(context: ReportContext) -> str:
    basis = context.basis
    independent = (
        f" The {basis.posterior.model} model treats times as independent, so values over several "
        "times look more certain than they are."
        if basis is not None and not basis.posterior.joint and len(basis.times) > 1
        else ""
    )
    return (
        f"Values of the candidates under several preferences ({moment_of_draws(context)}): the "
        f"posterior of the {WIN_RATE}, on average over the budgets or at the worst time, with "
        f"median and central 95 % interval, and {P_BEST}, the probability that this value is the "
        f"highest.{independent}"
    )


VALUES = Figure("values", "Values under preferences", caption, missing, data, draw)
