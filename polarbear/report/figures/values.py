"""What each candidate is worth under several preferences, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from polarbear.preferences import Context, Preference
from polarbear.preferences.parsing import parse_preference
from polarbear.report.drawing.axes import note_below, number_ticks
from polarbear.report.drawing.style import Style
from polarbear.report.figures.base import Figure, lacks_draws, moment_of_draws
from polarbear.report.material import Material
from polarbear.report.moment import draws_now, still_in
from polarbear.select import judge
from polarbear.settings.options import Source
from polarbear.wording import P_BEST, SHARE_OF_FIRSTS, probability_mark, tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

POINTS = 80  # of a density
MOST = 10  # candidates that are drawn
LEVELS = (0.025, 0.5, 0.975)


def preferences(material: Material) -> dict[str, Preference]:
    """What budgets are like, by what a reader calls it: from all alike to the worst time."""
    times = material.times
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


def data(material: Material) -> pl.DataFrame:
    """For each preference and candidate: a smooth density of its value, and what sums it up.

    ``value`` and ``density`` are the curve; ``p_best``, ``mean``, ``low``, ``median`` and ``high``
    (central 95 % interval) stand beside each of its points. A value that is the same in every draw
    has one point, without a density.
    """
    basis = draws_now(material)
    assert basis is not None
    names = [name for name in basis.algorithms if name in still_in(material)]
    theta = basis.posterior.theta[:, :, [basis.algorithms.index(name) for name in names]]
    context = Context(basis.times, basis.axis, joint=basis.posterior.joint)
    frames = []
    for title, preference in preferences(material).items():
        values = preference.on(context).values(theta)
        criteria = judge(values)
        for item, name in enumerate(names):
            low, median, high = np.quantile(values[:, item], LEVELS)
            x, density = smooth(values[:, item])
            frames.append(
                pl.DataFrame({"value": x, "density": density}).select(
                    pl.lit(preference.text).alias("preference"),
                    pl.lit(title).alias("title"),
                    pl.lit(name).alias("algorithm"),
                    "value",
                    "density",
                    pl.lit(float(criteria.p2bb[item])).alias("p_best"),
                    pl.lit(float(criteria.mean[item])).alias("mean"),
                    pl.lit(float(low)).alias("low"),
                    pl.lit(float(median)).alias("median"),
                    pl.lit(float(high)).alias("high"),
                )
            )
    return pl.concat(frames)


def smooth(values: np.ndarray) -> tuple[np.ndarray, np.ndarray | list[Any]]:
    """A Gaussian kernel density over the range of the values, by Silverman's rule.

    Values are shares: what a kernel would put below 0 or above 1 is folded back.
    """
    spread = float(values.std())
    if spread <= 1e-9 * max(1.0, abs(float(values.mean()))):
        return values[:1], [None]
    low, high = np.quantile(values, (0.25, 0.75))
    width = 0.9 * min(spread, (high - low) / 1.34 or spread) * len(values) ** -0.2
    bins = np.linspace(values.min() - 3 * width, values.max() + 3 * width, 1025)
    counts, _ = np.histogram(values, bins)
    centres = (bins[1:] + bins[:-1]) / 2
    x = np.linspace(max(bins[0], 0.0), min(bins[-1], 1.0), POINTS)
    kernel = sum(np.exp(-0.5 * ((seen[:, None] - centres) / width) ** 2) for seen in (x, -x, 2 - x))
    return x, kernel @ counts / (len(values) * width * np.sqrt(2 * np.pi))


def draw(canvas: Canvas, data: pl.DataFrame, material: Material, style: Style) -> None:
    titles = data["title"].unique(maintain_order=True).to_list()
    everyone = data["algorithm"].unique(maintain_order=True).to_list()
    chances = dict(data.group_by("algorithm").agg(pl.col("p_best").max()).iter_rows())
    likeliest = sorted(everyone, key=lambda name: -chances[name])[:MOST]
    names = [name for name in everyone if name in likeliest]
    columns = 1 if style.width < 5 or len(titles) == 1 else 2
    rows = -(-len(titles) // columns)
    row = max((1.45 if len(names) <= 5 else 1.2) * style.line, 0.14)
    canvas.set_size_inches(style.width, rows * (row * (len(names) + 0.4) + 0.42) + 0.25)
    grid = canvas.subplots(rows, columns, squeeze=False)
    panels = list(grid.ravel())
    for axes, title in zip(panels, titles, strict=False):
        _panel(axes, data.filter(pl.col("title") == title), names, material, style)
        axes.set_title(title, fontsize=style.font_size, pad=3)
    for axes in panels[len(titles) :]:
        axes.remove()
    for axes in panels[max(0, len(titles) - columns) : len(titles)]:
        axes.set_xlabel(f"value ({SHARE_OF_FIRSTS} over time)")
    for axes in panels[:columns]:
        axes.text(
            1.02,
            1.0,
            P_BEST,
            transform=axes.transAxes,
            fontsize=style.small,
            va="bottom",
            color=style.inks.faint,
        )
    if len(names) < len(everyone):
        text = f"{len(names)} of {len(everyone)} candidates, those most likely to be the best"
        note_below(canvas, text, style)


def _panel(
    axes: Axes, data: pl.DataFrame, names: list[str], material: Material, style: Style
) -> None:
    """One preference: a hill for each candidate, its median and interval, and P(best) beside it."""
    short = style.names(material.labels, names, 0.18)
    for place, name in enumerate(names):
        rows = data.filter(pl.col("algorithm") == name)
        look = style.look(material.colour_index(name))
        first = rows.row(0, named=True)
        low, median, high, p_best = (first[k] for k in ("low", "median", "high", "p_best"))
        foot = place + 0.3
        if first["density"] is not None:
            hill = rows["density"].to_numpy()
            axes.fill_between(
                rows["value"],
                foot,
                foot - 0.75 * hill / hill.max(),
                color=look.colour,
                alpha=0.35,
                linewidth=0,
            )
        axes.plot([low, high], [foot, foot], color=look.colour, linewidth=1.2)
        axes.plot([median], [foot], marker="o", color=look.colour, markersize=3.2)
        axes.text(
            1.02,
            foot - 0.15,
            probability_mark(p_best),
            transform=axes.get_yaxis_transform(),
            va="center",
            fontsize=style.small,
            color=look.text,
        )
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_yticks(np.arange(len(names)) + 0.15, [short[name] for name in names])
    axes.tick_params(axis="y", length=0)
    for label, name in zip(axes.get_yticklabels(), names, strict=True):
        label.set_color(style.look(material.colour_index(name)).text)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    axes.margins(x=0.03)
    number_ticks(axes, "x", False, axes.get_xlim(), style)


def missing(material: Material) -> str | None:
    inside = still_in(material)
    if lacks_draws(material) is None and len(inside) == 1:
        return f"nobody competes with {inside[0]}, which is first whatever the preference"
    return lacks_draws(material)


def caption(material: Material) -> str:
    basis = material.basis
    independent = (
        f" The {basis.posterior.model} model knows each time for itself, so values over several "
        "times look surer than they are."
        if basis is not None and not basis.posterior.joint and len(basis.times) > 1
        else ""
    )
    return (
        "What each candidate is worth under several preferences "
        f"({moment_of_draws(material)}): the posterior of its value, a mean {SHARE_OF_FIRSTS} or, "
        "at its worst time, the lowest, "
        f"with median and central 95 % interval, and beside it {P_BEST}: how sure it is that this "
        f"value is the highest of all.{independent}"
    )


VALUES = Figure("values", "Values under preferences", caption, missing, data, draw)
