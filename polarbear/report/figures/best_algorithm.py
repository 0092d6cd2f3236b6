"""The best algorithm: P(best) at each time, shares of duels won at one, values of preferences."""

from __future__ import annotations

import numpy as np
import polars as pl

from polarbear.inference.win_rates import WinRates
from polarbear.report.context import ReportContext
from polarbear.report.figures.base import (
    Figure,
    by_algorithm,
    draws_source,
    grid_axis,
    lacks_draws,
    names_in,
)
from polarbear.report.figures.chart import (
    Area,
    Axis,
    Boxes,
    Chart,
    Line,
    Panel,
    Points,
    Row,
    Series,
    Title,
    edges,
    isolated,
    row_axis,
)
from polarbear.selection.criteria import criteria_of
from polarbear.selection.criterion_names import ValueKind
from polarbear.selection.posterior_source import Basis
from polarbear.selection.preference import Preference
from polarbear.selection.preference_parsing import parse_preference
from polarbear.settings.options import Source
from polarbear.wording import P_BEST, WIN_RATE, probability_mark, short, tick, timed

INTERVAL_LEVELS = (0.025, 0.5, 0.975)


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


def chart(data: pl.DataFrame, context: ReportContext) -> Chart:
    """P(best) over the times of the report."""
    return leaders_chart(data, context.labels, grid_axis(context), "leader")


def leaders_chart(
    data: pl.DataFrame, labels: dict[str, str], axis: Axis, leader: str, title: str = ""
) -> Chart:
    """P(best) over time, and below it a band with the colour of the leader at each time."""
    borders = edges(data["t"].unique().sort().to_numpy(), axis.is_log)
    lines = []
    boxes = []
    for name, rows, is_muted in by_algorithm(data, pl.col("p_best").max()):
        line = Line(
            x=rows["t"].to_list(),
            y=rows["p_best"].to_list(),
            algorithm=name,
            is_named=True,
            is_muted=is_muted,
            hover=[
                f"{isolated(labels[name])}\n{timed(t, axis.title)}\n{P_BEST} {p_best:.3f}"
                for t, p_best in rows.select("t", "p_best").iter_rows()
            ],
        )
        lines.append(line)
        led_times = np.flatnonzero(rows["leads"].to_numpy())
        boxes.append(
            Boxes(
                left=borders[led_times],
                right=borders[led_times + 1],
                low=np.full(len(led_times), -0.5),
                high=np.full(len(led_times), 0.5),
                algorithm=name,
            )
        )
    probabilities = Panel(
        x=Axis(axis.title, axis.low, axis.high, axis.is_log, axis.is_time, is_labelled=False),
        y=Axis(P_BEST, low=0, high=1),
        series=tuple(lines),
        titles=(Title(title),) if title else (),
    )
    band = Panel(x=axis, y=row_axis([Row(text=leader)]), series=tuple(boxes), lines=1.3)
    return Chart((probabilities, band), labels, legend="beside")


def caption(context: ReportContext) -> str:
    return (
        f"{P_BEST}: the probability that a candidate has the highest {WIN_RATE} at each time "
        f"({draws_source(context)}); the band below has the colour of the one with the highest "
        f"{P_BEST}."
    )


LEADERS = Figure("leaders", "Best algorithm by budget", caption, lacks_draws, data, chart)


def _time_index(context: ReportContext) -> int:
    """The index of the time of the figure: the nearest to the requested one, or the last."""
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
    time_index = _time_index(context)
    rates, better = _duels_won(basis, time_index)
    means = np.concatenate([rate.mean for rate in rates])
    low, high = np.concatenate([rate.interval() for rate in rates], axis=1)
    order = np.argsort(-means, kind="stable")
    bars = groups(better[np.ix_(order, order)] >= context.rules.alpha)
    n_algorithms = len(basis.algorithms)
    numbers_of_bars = [
        " ".join(str(bar) for bar, (first, last) in enumerate(bars) if first <= rank <= last)
        for rank in range(n_algorithms)
    ]
    return pl.DataFrame(
        {
            "t": [float(basis.times[time_index])] * n_algorithms,
            "algorithm": [basis.algorithms[i] for i in order],
            "mean": means[order],
            "low": low[order],
            "high": high[order],
            "groups": numbers_of_bars,
        }
    )


def _duels_won(basis: Basis, time_index: int) -> tuple[list[WinRates], np.ndarray]:
    """The win rate of each algorithm against all others, and P(better)[a, b], at a time."""
    posterior = basis.posterior
    n_algorithms = len(basis.algorithms)
    time_indices = np.array([time_index])
    rates = []
    better = np.zeros((n_algorithms, n_algorithms))
    for a in range(n_algorithms):
        others = [b for b in range(n_algorithms) if b != a]
        rates_of_pairs = [WinRates.of_pair(posterior, a, b).at(time_indices) for b in others]
        rates.append(WinRates.average(rates_of_pairs))
        for b in others:
            better[a, b] = posterior.p_better(a, b)[time_index]
    return rates, better


def groups(better: np.ndarray) -> list[tuple[int, int]]:
    """First and last of each longest run of neighbours without one that is better[a, b]."""
    differ = better | better.T
    runs: list[tuple[int, int]] = []
    for first in range(len(differ)):
        last = first
        while last + 1 < len(differ) and not differ[first : last + 1, last + 1].any():
            last += 1
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return runs


def one_chart(data: pl.DataFrame, context: ReportContext) -> Chart:
    """A row for each algorithm; bars at the right join those that are alike."""
    rows = []
    series: list[Series] = []
    for row_number, (name, low, mean, high) in enumerate(
        data.select("algorithm", "low", "mean", "high").iter_rows()
    ):
        rows.append(Row((name,), number=f"{mean:.2f}"))
        ends = (low, high)
        series.append(
            Line(x=ends, y=(row_number, row_number), algorithm=name, width=2.0, dash="solid")
        )
        series.append(Points(x=(mean,), y=(row_number,), algorithm=name, size=4.5))
    bars, right_end = _bars_of_groups(data)
    panel = Panel(
        x=Axis("share of duels won", high=right_end),
        y=row_axis(rows),
        series=(*series, *bars),
        lines=1.5 * len(data),
    )
    return Chart((panel,), context.labels)


def _bars_of_groups(data: pl.DataFrame) -> tuple[list[Series], float]:
    """Vertical bars right of all intervals, one for each group, and the end of their axis."""
    members = data.with_row_index("row").with_columns(pl.col("groups").str.split(" "))
    in_groups = members.explode("groups").filter(pl.col("groups") != "").group_by("groups")
    ends = in_groups.agg(first=pl.col("row").min(), last=pl.col("row").max()).sort("first")
    lowest = float(data.select(pl.col("low").min()).item())
    highest = float(data.select(pl.col("high").max()).item())
    gap = 0.03 * max(highest - lowest, 0.1)
    bars: list[Series] = []
    position = highest + gap
    for first, last in ends.select("first", "last").iter_rows():
        position += gap
        bars.append(Line(x=(position, position), y=(first - 0.25, last + 0.25), width=2.4))
    return bars, position + gap


def one_caption(context: ReportContext) -> str:
    basis = context.draws
    assert basis is not None
    time = timed(float(basis.times[_time_index(context)]), context.axis)
    return (
        f"At {time} ({draws_source(context)}): the share of its duels with all others that each "
        "algorithm wins, posterior mean and central 95 % interval, the best on top. A bar on the "
        "right joins algorithms of which none is better than another with probability "
        f"{short(context.rules.alpha)} or more."
    )


ONE_BUDGET = Figure("one-budget", "One budget", one_caption, lacks_draws, one_data, one_chart)


DENSITY_POINTS = 80
HISTOGRAM_BINS = 1024  # a density is this histogram, smoothed
MAX_CANDIDATES = 10  # with a row in each panel
DENSITY_HEIGHT = 0.75  # the rest of a row stays empty
DENSITY_FOOT = 0.3  # the zero of a density below the middle of its row, in rows


def preferences(context: ReportContext) -> dict[str, Preference]:
    """Preferences by their titles, from equal weights to the worst time."""
    first = float(context.times[0])
    last = float(context.times[-1])
    texts = {f"at {tick(last)}": "final"}
    if len(context.times) > 1:
        texts = {
            "any budget": "uniform",
            "short and long budgets alike": "log-uniform",
            f"at {tick(first)}": f"at {first!r}",
            **texts,
            "its worst time": "worst-case",
        }
    return {title: parse_preference(text, Source("figure")) for title, text in texts.items()}


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
        valuation = preference.on(basis.context())
        criteria = criteria_of(basis.posterior, items, valuation, ValueKind.DUELS)
        values = criteria.values.astype(np.float64)
        for item, name in enumerate(names):
            low, median, high = np.quantile(values[:, item], INTERVAL_LEVELS)
            x, density = smooth(values[:, item])
            frame = pl.DataFrame(
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
            frames.append(frame)
    return pl.concat(frames)


def smooth(values: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """A Gaussian kernel density over the range of the values, by Silverman's rule.

    Values are shares: density below 0 or above 1 is folded back. None if all values are the same.
    """
    deviation = float(values.std())
    if deviation <= 1e-9 * max(1.0, abs(float(values.mean()))):
        return values[:1], None
    low, high = np.quantile(values, (0.25, 0.75))
    scale = min(deviation, (high - low) / 1.34 or deviation)
    width = 0.9 * scale * len(values) ** -0.2
    start = float(values.min()) - 3 * width
    stop = float(values.max()) + 3 * width
    counts, borders = np.histogram(values, HISTOGRAM_BINS, (start, stop))
    centres = (borders[1:] + borders[:-1]) / 2
    x = np.linspace(max(start, 0.0), min(stop, 1.0), DENSITY_POINTS)
    kernel = np.zeros((len(x), len(centres)))
    for image in (x, -x, 2 - x):
        kernel += np.exp(-0.5 * ((image[:, None] - centres) / width) ** 2)
    return x, kernel @ counts / (len(values) * width * np.sqrt(2 * np.pi))


def values_chart(data: pl.DataFrame, context: ReportContext) -> Chart:
    """A panel for each preference, and in it a row with a density for each candidate."""
    titles = data["title"].unique(maintain_order=True).to_list()
    all_names = names_in(data)
    highest_p_best = dict(data.group_by("algorithm").agg(pl.col("p_best").max()).iter_rows())
    by_probability = sorted(all_names, key=lambda name: -highest_p_best[name])
    names = [name for name in all_names if name in by_probability[:MAX_CANDIDATES]]
    columns = 1 if len(titles) == 1 else 2
    panels = []
    for number, title in enumerate(titles):
        is_lowest = number + columns >= len(titles)
        own_rows = data.filter(pl.col("title") == title)
        panels.append(_values_panel(title, own_rows, names, context.labels, is_lowest))
    notes: tuple[str, ...] = ()
    if len(names) < len(all_names):
        notes = (f"{len(names)} of {len(all_names)} candidates, those most likely to be the best",)
    return Chart(tuple(panels), context.labels, columns=columns, notes=notes)


def _values_panel(
    title: str, data: pl.DataFrame, names: list[str], labels: dict[str, str], is_lowest: bool
) -> Panel:
    """One preference: density, median and interval of each candidate, and P(best) beside it."""
    rows = []
    series: list[Series] = []
    for row_number, name in enumerate(names):
        points = data.filter(pl.col("algorithm") == name)
        p_best = points["p_best"][0]
        rows.append(Row((name,), number=probability_mark(p_best)))
        series += _value_in_row(row_number + DENSITY_FOOT, name, points, labels[name])
    return Panel(
        x=Axis(f"value ({WIN_RATE})" if is_lowest else ""),
        y=row_axis(rows),
        series=tuple(series),
        titles=(Title(title),),
        lines=(1.6 if len(names) <= 5 else 1.3) * (len(names) + 0.2),
        head=P_BEST,
    )


def _value_in_row(foot: float, name: str, points: pl.DataFrame, label: str) -> list[Series]:
    """The density of a value above its foot, the interval and the median."""
    low, median, high, mean, p_best = points.select("low", "median", "high", "mean", "p_best").row(
        0
    )
    series: list[Series] = []
    if points["density"][0] is not None:
        density = points["density"].to_numpy()
        area = Area(
            x=points["value"].to_list(),
            low=np.full(len(density), foot),
            high=foot - DENSITY_HEIGHT * density / density.max(),
            algorithm=name,
        )
        series.append(area)
    interval = Line(x=(low, high), y=(foot, foot), algorithm=name, width=1.2, dash="solid")
    hover = (
        f"{isolated(label)}\nmedian {median:.4f}, mean {mean:.4f}\n"
        f"95 %: {low:.4f} to {high:.4f}\n{P_BEST} {p_best:.3f}"
    )
    middle = Points(x=(median,), y=(foot,), algorithm=name, size=4.2, hover=(hover,))
    return [*series, interval, middle]


def lacks_choice(context: ReportContext) -> str | None:
    """Why there is nothing to choose from."""
    candidates = context.remaining
    if lacks_draws(context) is None and len(candidates) == 1:
        return f"{candidates[0]} is the only candidate, whatever the preference"
    return lacks_draws(context)


def values_caption(context: ReportContext) -> str:
    basis = context.basis
    independent = ""
    if basis is not None and not basis.posterior.joint and len(basis.times) > 1:
        independent = (
            f" The {basis.posterior.model} model treats times as independent, so values over "
            "several times look more certain than they are."
        )
    cut = ""
    if len(context.remaining) > MAX_CANDIDATES:
        cut = f" The {MAX_CANDIDATES} most likely to be the best are drawn, the data has all."
    return (
        f"Values of the candidates under several preferences ({draws_source(context)}): the "
        f"posterior of the {WIN_RATE}, on average over the budgets or at the worst time, with "
        f"median and central 95 % interval, and {P_BEST}, the probability that this value is the "
        f"highest.{independent}{cut}"
    )


VALUES = Figure(
    "values", "Values under preferences", values_caption, lacks_choice, values_data, values_chart
)
