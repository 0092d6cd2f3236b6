"""Figures of several stores, a panel for each algorithm, a colour for each store."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

import numpy as np
import polars as pl

from polarbear.errors import ReportError
from polarbear.report.figures.base import Figure
from polarbear.report.figures.chart import Axis, Chart, Line, Panel, Rule, Series, Title, time_axis
from polarbear.report.figures.short_names import labels
from polarbear.report.stores.differences import StoreComparison
from polarbear.settings.options import unknown

SMALLEST_REACH = 0.1  # how far an axis of differences reaches at least


def _duels_chart(data: pl.DataFrame, comparison: StoreComparison) -> Chart:
    axis = Axis("share of duels won", low=0.0, high=1.0)
    return _chart(data, comparison, "mean", axis, 0.5)


def _differences_chart(data: pl.DataFrame, comparison: StoreComparison) -> Chart:
    data = data.filter(pl.col("at").is_not_null(), pl.col("against").is_null())
    largest = float(np.abs(data.select("low", "high").to_numpy()).max())
    reach = 1.05 * max(SMALLEST_REACH, largest)
    title = f"share of duels won, minus that in {comparison.sides[0].name}"
    return _chart(data, comparison, "difference", Axis(title, low=-reach, high=reach), 0.0)


def _chart(
    data: pl.DataFrame, comparison: StoreComparison, middle: str, axis: Axis, level: float
) -> Chart:
    """A panel for each algorithm, all with the same axes; a line at ``level``, a colour a store."""
    label_of = labels(comparison.algorithms)
    panels = []
    for name in comparison.algorithms:
        rows = data.filter(pl.col("algorithm") == name, pl.col("against").is_null())
        panel = Panel(
            x=time_axis(comparison.moments.at, comparison.moments.is_log, comparison.moments.label),
            y=axis,
            series=(Rule(level, ink="faint", dash="solid", width=0.6), *_lines(rows, middle)),
            titles=(Title(label_of[name]),),
            aspect=0.6,
        )
        panels.append(panel)
    return Chart(
        tuple(panels),
        labels([side.name for side in comparison.sides]),
        columns=3,
        narrow_columns=2,
        shares_axes=True,
        legend="below",
    )


def _lines(rows: pl.DataFrame, middle: str) -> list[Series]:
    """A line with its band for each store."""
    lines: list[Series] = []
    for store in rows["store"].unique(maintain_order=True):
        of_store = rows.filter(pl.col("store") == store)
        line = Line(
            x=of_store["at"].to_list(),
            y=of_store[middle].to_list(),
            low=of_store["low"].to_list(),
            high=of_store["high"].to_list(),
            algorithm=store,
            is_named=True,
        )
        lines.append(line)
    return lines


def _lacks_duels(comparison: StoreComparison) -> str | None:
    return "the stores share one algorithm only" if len(comparison.algorithms) == 1 else None


def _caption_duels(comparison: StoreComparison) -> str:
    return (
        "A panel for each algorithm, a colour for each store: the share of its duels with the "
        f"other algorithms shown that it wins, {comparison.moments.words()}; posterior mean and "
        "central 95 % interval."
    )


def _caption_differences(comparison: StoreComparison) -> str:
    return (
        f"The same, minus what it is in {comparison.sides[0].name}: above zero, the algorithm wins "
        "more of its duels there. Mean and central 95 % interval, from the draws of both "
        "posteriors."
    )


DUELS = Figure(
    "duels", "Share of duels won", _caption_duels, _lacks_duels, attrgetter("levels"), _duels_chart
)
DIFFERENCES = Figure(
    "differences",
    "What differs",
    _caption_differences,
    _lacks_duels,
    attrgetter("differences"),
    _differences_chart,
)
FIGURES_OF_STORES = {figure.name: figure for figure in (DUELS, DIFFERENCES)}


def chosen(
    comparison: StoreComparison, only: Sequence[str] | None = None
) -> list[Figure[StoreComparison]]:
    """The requested figures, or all that have data."""
    if not only:
        return [
            figure for figure in FIGURES_OF_STORES.values() if figure.missing(comparison) is None
        ]
    for name in only:
        if name not in FIGURES_OF_STORES:
            raise ReportError(unknown("figure of several stores", name, FIGURES_OF_STORES))
        reason = FIGURES_OF_STORES[name].missing(comparison)
        if reason:
            raise ReportError(f"there is no figure '{name}' for these stores: {reason}")
    return [figure for name, figure in FIGURES_OF_STORES.items() if name in only]
