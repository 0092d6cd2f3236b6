"""The best algorithm: P(best) at each time, shares of duels won at one, values of preferences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.report.context import ReportContext
from polarbear.report.figures.base import Figure, draws_source, lacks_draws
from polarbear.report.figures.sheet import Line, Sheet, names_in, without_frame
from polarbear.report.figures.style import Style
from polarbear.selection.criteria import Criteria, draws_of_values
from polarbear.selection.preference import Preference
from polarbear.selection.preference_parsing import parse_preference
from polarbear.settings.options import Source
from polarbear.wording import P_BEST, WIN_RATE, probability_mark, short, tick, timed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

LEVELS = (0.025, 0.5, 0.975)


def data(context: ReportContext) -> pl.DataFrame:
    """P(best of all candidates) at each time, from the posterior's draws; ties are shared."""
    basis = context.draws
    assert basis is not None
    names, p_best = context.p_best
    return pl.DataFrame(
        {
            "t": np.repeat(basis.times, len(names)),
            "algorithm": list(names) * len(basis.times),
            "p_best": p_best.ravel(),
            "leads": (np.arange(len(names)) == p_best.argmax(axis=1)[:, None]).ravel(),
        }
    )


def draw(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    draw_leaders(Sheet.of(canvas, context, style), data, "leader")


def draw_leaders(sheet: Sheet, data: pl.DataFrame, leader: str) -> None:
    """P(best) over time, and below it a band with the colour of the leader at each time."""
    style = sheet.style
    band_height, height = 1.3 * style.line, max(2.3, 0.45 * style.width)
    sheet.canvas.set_size_inches(style.width, height + band_height)
    axes, band = sheet.canvas.subplots(2, 1, sharex=True, height_ratios=[height - 0.6, band_height])
    short, borders, lines = sheet.names(names_in(data)), sheet.time_edges, []
    for name, rows, look in sheet.by_algorithm(data, pl.col("p_best").max()):
        p, marker = rows["p_best"].to_numpy(), look.marker if len(rows) == 1 else ""
        axes.plot(rows["t"], p, **look.line, marker=marker, clip_on=False)
        lines.append(Line(short[name], look, float(p[-1]), marker))
        for k in np.flatnonzero(rows["leads"]):
            area = sheet.look(name).area
            band.axvspan(borders[k], borders[k + 1], **area, linewidth=0, antialiased=False)
    axes.set_ylim(0, 1)
    axes.set_ylabel(P_BEST)
    axes.grid(axis="y")
    band.set_yticks([])
    band.set_ylabel(leader, rotation=0, ha="right", va="center", fontsize=style.small)
    without_frame(band)
    sheet.time_axis(band)
    sheet.name_lines(lines)


def caption(context: ReportContext) -> str:
    return (
        f"{P_BEST}: the probability that a candidate has the highest {WIN_RATE} at each time "
        f"({draws_source(context)}); the band below has the colour of the one with the highest "
        f"{P_BEST}."
    )


LEADERS = Figure("leaders", "Best algorithm by budget", caption, lacks_draws, data, draw)


def _shown_time(context: ReportContext) -> int:
    """The index of the shown time: the nearest to the requested one, or the last of the grid."""
    basis = context.draws
    assert basis is not None
    if context.at is None:
        return len(basis.times) - 1
    return int(np.abs(basis.times - context.at).argmin())


def one_data(context: ReportContext) -> pl.DataFrame:
    """Each algorithm, the best first: its share of duels won, and the groups it belongs to.

    ``groups`` are numbers of bars, with a blank between them.
    """
    basis = context.draws
    assert basis is not None
    n, posterior, at = len(basis.algorithms), basis.posterior, _shown_time(context)
    won = np.zeros((n, posterior.draws))
    better = np.zeros((n, n))
    for a in range(n):
        for b in range(n):
            if a != b:
                won[a] += posterior.head_to_head(a, b)[:, at] / (n - 1)
                better[a, b] = posterior.beats(a, b)[:, at].mean()
    order = np.argsort(-won.mean(axis=1), kind="stable")
    bars = groups(better[np.ix_(order, order)] >= context.rules.alpha)
    low, _, high = np.quantile(won, LEVELS, axis=1)
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


def draw_one(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    canvas.set_size_inches(style.width, len(data) * max(1.5 * style.line, 0.18) + 0.55)
    members = data.with_row_index("place").with_columns(pl.col("groups").str.split(" "))
    bars = members.explode("groups").filter(pl.col("groups") != "").group_by("groups")
    ends = bars.agg(first=pl.col("place").min(), last=pl.col("place").max()).sort("first")
    widths = [style.width, 0.12 * len(ends)] if len(ends) else [style.width]
    axes, *side = canvas.subplots(1, len(widths), squeeze=False, sharey=True, width_ratios=widths)[
        0
    ]
    sheet = Sheet.of(canvas, context, style)
    for place, (_, rows, look) in enumerate(sheet.by_algorithm(data)):
        low, mean, high = rows.select("low", "mean", "high").row(0)
        axes.plot([low, high], [place, place], color=look.colour, linewidth=2.6, alpha=0.45)
        axes.plot([mean], [place], marker="o", color=look.colour)
        sheet.write_beside(axes, place, f"{mean:.2f}", look.text)
    for x, (first, last) in enumerate(ends.select("first", "last").iter_rows()):
        side[0].plot([x, x], [first - 0.25, last + 0.25], color=style.inks.ink, linewidth=2.4)
        side[0].set_axis_off()
    sheet.number_rows(axes, data["algorithm"].to_list())
    axes.set_xlabel("share of duels won")


def one_caption(context: ReportContext) -> str:
    basis = context.draws
    assert basis is not None
    t = timed(float(basis.times[_shown_time(context)]), context.axis)
    return (
        f"At {t} ({draws_source(context)}): the share of its duels with all others that each "
        "algorithm wins, posterior mean and central 95 % interval, the best on top. A bar on the "
        "right joins algorithms of which none is better than another with probability "
        f"{short(context.rules.alpha)} or more."
    )


ONE_BUDGET = Figure("one-budget", "One budget", one_caption, lacks_draws, one_data, draw_one)


DENSITY_POINTS = 80
MAX_CANDIDATES = 10  # with a row in each panel


def preferences(context: ReportContext) -> dict[str, Preference]:
    """Preferences by their titles, from equal weights to the worst time."""
    first, last = float(context.times[0]), float(context.times[-1])
    wanted = {f"at {tick(last)}": "final"}
    if len(context.times) > 1:
        several = {"any budget": "uniform", "short and long budgets alike": "log-uniform"}
        at_first = {f"at {tick(first)}": f"at {first!r}"}
        wanted = {**several, **at_first, **wanted, "its worst time": "worst-case"}
    return {title: parse_preference(text, Source("figure")) for title, text in wanted.items()}


def values_data(context: ReportContext) -> pl.DataFrame:
    """For each preference and candidate: the density of its value, and summary statistics.

    ``value`` and ``density`` are the curve; ``p_best``, ``mean``, ``low``, ``median`` and ``high``
    (central 95 % interval) are repeated in each row. A value that is the same in every draw has one
    point, without a density.
    """
    basis = context.draws
    assert basis is not None
    names = [name for name in basis.algorithms if name in context.remaining]
    items = [basis.algorithms.index(name) for name in names]
    frames = []
    for title, preference in preferences(context).items():
        values = draws_of_values(basis.posterior, items, preference.on(basis.context()), "duels")
        values = values.astype(np.float64)
        criteria = Criteria(values)
        for item, name in enumerate(names):
            low, median, high = np.quantile(values[:, item], LEVELS)
            x, density = smooth(values[:, item])
            frames.append(
                pl.DataFrame(
                    {
                        "preference": preference.text,
                        "title": title,
                        "algorithm": name,
                        "value": x,
                        "density": density,
                        "p_best": float(criteria.p2bb[item]),
                        "mean": float(criteria.mean[item]),
                        "low": low,
                        "median": median,
                        "high": high,
                    },
                    schema_overrides={"density": pl.Float64},
                )
            )
    return pl.concat(frames)


def smooth(values: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """A Gaussian kernel density over the range of the values, by Silverman's rule.

    Values are shares: density below 0 or above 1 is folded back. None if all values are the same.
    """
    spread = float(values.std())
    if spread <= 1e-9 * max(1.0, abs(float(values.mean()))):
        return values[:1], None
    low, high = np.quantile(values, (0.25, 0.75))
    width = 0.9 * min(spread, (high - low) / 1.34 or spread) * len(values) ** -0.2
    ends = float(values.min()) - 3 * width, float(values.max()) + 3 * width
    counts, bins = np.histogram(values, 1024, ends)
    centres = (bins[1:] + bins[:-1]) / 2
    x = np.linspace(max(ends[0], 0.0), min(ends[1], 1.0), DENSITY_POINTS)
    kernel = sum(np.exp(-0.5 * ((seen[:, None] - centres) / width) ** 2) for seen in (x, -x, 2 - x))
    return x, kernel @ counts / (len(values) * width * np.sqrt(2 * np.pi))


def draw_values(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    titles = data["title"].unique(maintain_order=True).to_list()
    all_names = names_in(data)
    chances = dict(data.group_by("algorithm").agg(pl.col("p_best").max()).iter_rows())
    likeliest = sorted(all_names, key=lambda name: -chances[name])[:MAX_CANDIDATES]
    names = [name for name in all_names if name in likeliest]
    columns = 1 if style.is_narrow or len(titles) == 1 else 2
    row = max((1.45 if len(names) <= 5 else 1.2) * style.line, 0.14)
    height = row * (len(names) + 0.4) + 0.42
    sheet = Sheet.of(canvas, context, style)
    panels = sheet.panels(len(titles), columns, height, 0.25)
    for axes, title in zip(panels, titles, strict=True):
        _panel(axes, data.filter(pl.col("title") == title), names, sheet)
        axes.set_title(title)
    for axes in panels[-columns:]:
        axes.set_xlabel(f"value ({WIN_RATE})")
    for axes in panels[:columns]:
        sheet.write_head(axes, P_BEST)
    if len(names) < len(all_names):
        text = f"{len(names)} of {len(all_names)} candidates, those most likely to be the best"
        sheet.note(text)


def _panel(axes: Axes, data: pl.DataFrame, names: list[str], sheet: Sheet) -> None:
    """One preference: density, median and interval of each candidate, and P(best) beside it."""
    for place, name in enumerate(names):
        rows = data.filter(pl.col("algorithm") == name)
        look = sheet.look(name)
        first = rows.row(0, named=True)
        low, median, high, p_best = (first[k] for k in ("low", "median", "high", "p_best"))
        foot = place + 0.3
        if first["density"] is not None:
            hill = rows["density"].to_numpy()
            top = foot - 0.75 * hill / hill.max()
            axes.fill_between(rows["value"], foot, top, color=look.colour, alpha=0.35, linewidth=0)
        axes.plot([low, high], [foot, foot], color=look.colour, linewidth=1.2)
        axes.plot([median], [foot], marker="o", color=look.colour, markersize=3.2)
        sheet.write_beside(axes, foot - 0.15, probability_mark(p_best), look.text)
    axes.margins(x=0.03)
    sheet.number_rows(axes, names, 0.18, shift=0.15)
    axes.set_ylim(len(names) - 0.4, -0.6)


def lacks_choice(context: ReportContext) -> str | None:
    inside = context.remaining
    if lacks_draws(context) is None and len(inside) == 1:
        return f"{inside[0]} is the only candidate, whatever the preference"
    return lacks_draws(context)


def values_caption(context: ReportContext) -> str:
    basis = context.basis
    independent = (
        f" The {basis.posterior.model} model treats times as independent, so values over several "
        "times look more certain than they are."
        if basis is not None and not basis.posterior.joint and len(basis.times) > 1
        else ""
    )
    return (
        f"Values of the candidates under several preferences ({draws_source(context)}): the "
        f"posterior of the {WIN_RATE}, on average over the budgets or at the worst time, with "
        f"median and central 95 % interval, and {P_BEST}, the probability that this value is the "
        f"highest.{independent}"
    )


VALUES = Figure(
    "values", "Values under preferences", values_caption, lacks_choice, values_data, draw_values
)
