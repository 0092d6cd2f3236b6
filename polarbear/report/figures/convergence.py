"""Diagnostics of the posterior: convergence of the draws, and problems of each round."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from polarbear.inference.chain_diagnostics import convergence_of
from polarbear.inference.posterior_draws import MIN_ESS
from polarbear.report.context import ReportContext
from polarbear.report.figures.axes import (
    each_algorithm,
    number_ticks,
    panel_grid,
    round_ticks,
    time_axis,
)
from polarbear.report.figures.base import NOTHING_INFERRED, Figure
from polarbear.report.figures.style import Keywords, Style
from polarbear.selection.posterior_source import Basis
from polarbear.wording import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

INDEPENDENT = "draws are independent resamples of the instances: there is no chain that has to mix"
MAX_TIMES = 24  # of a fine grid: diagnostics take longer than drawing


def data(context: ReportContext) -> pl.DataFrame:
    """One row a diagnostic: ``what``, where, its ``value``, and its ``limit`` if any.

    r_hat, ess_bulk and ess_tail are of one algorithm at one time (some times of a fine grid), where
    draws come from chains; worst_... are of all kept draws; draws, problems and evidence_weight of
    a round or of the posterior. The ``value`` of problems is their number, ``words`` lists them.
    """
    rows: list[dict[str, Any]] = []
    for entry in context.rounds:
        problems = entry.record.problems
        rows.append({"what": "draws", "round": entry.number, "value": entry.record.draws})
        row = {"what": "problems", "round": entry.number, "value": len(problems), "limit": 0.0}
        rows.append({**row, "words": "; ".join(problems)})
    basis = context.draws
    if basis is not None:
        posterior, judged = basis.posterior, basis.posterior.diagnostics
        rows += [
            {"what": "worst_r_hat", "value": judged.r_hat, "limit": judged.r_hat_limit},
            {"what": "worst_ess_bulk", "value": judged.ess_bulk, "limit": MIN_ESS},
            {"what": "worst_ess_tail", "value": judged.ess_tail, "limit": MIN_ESS},
            {"what": "divergences", "value": judged.divergences, "limit": 0.0},
            {"what": "evidence_weight", "value": posterior.evidence_weight},
            {"what": "kept_draws", "value": posterior.n_draws},
        ]
        if judged.pareto_k is not None:
            rows.append({"what": "pareto_k", "value": judged.pareto_k, "limit": 0.7})
        if _has_chains(basis):
            rows += list(_over_times(basis))
    text, number = pl.String, pl.Float64
    schema = {"what": text, "round": pl.Int64, "t": number, "algorithm": text}
    return pl.DataFrame(rows, schema={**schema, "value": number, "limit": number, "words": text})


def _has_chains(basis: Basis) -> bool:
    """Whether draws come from chains; resamples of the instances are independent."""
    return basis.posterior.options.plackett_luce


def _over_times(basis: Basis) -> Iterator[dict[str, Any]]:
    """R-hat and effective sample sizes of each algorithm at each time."""
    posterior = basis.posterior
    places = np.unique(np.linspace(0, len(basis.times) - 1, MAX_TIMES).round().astype(int))
    draws = posterior.theta[:, places].reshape(posterior.n_draws, -1)
    found = convergence_of(draws, posterior.chains).reshape(len(places), -1, 3)
    limits = {"r_hat": posterior.diagnostics.r_hat_limit, "ess_bulk": MIN_ESS, "ess_tail": MIN_ESS}
    for k, (what, limit) in enumerate(limits.items()):
        for j, name in enumerate(basis.algorithms):
            row = {"what": what, "algorithm": name, "limit": limit}
            for t, value in zip(basis.times[places].tolist(), found[:, j, k].tolist(), strict=True):
                yield {**row, "t": t, "value": value}


def draw(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    drawings = {"r_hat": _mixing, "ess_bulk": _effective_draws, "draws": _rounds}
    shown = [drawing for what, drawing in drawings.items() if what in set(data["what"])]
    grid = panel_grid(canvas, len(shown), 1 if style.width < 5 else len(shown), 1.55, style)
    for axes, drawing in zip(grid, shown, strict=True):
        drawing(axes, data, context, style)
        axes.grid(axis="y")


def _mixing(axes: Axes, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    """R-hat of each algorithm over time; its limit is dashed."""
    rows = data.filter(pl.col("what") == "r_hat")
    lowest, highest = _lines(axes, rows, context, style)
    limit = rows["limit"][0]
    axes.set_ylim(min(0.999, lowest - 0.0005), max(limit + 0.0015, highest + 0.001))
    axes.set_ylabel("R-hat")


def _effective_draws(axes: Axes, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    """The effective sample size of each algorithm over time; its limit is dashed."""
    _lines(axes, data.filter(pl.col("what") == "ess_tail"), context, style, width=0.5)
    bulk = data.filter(pl.col("what") == "ess_bulk")
    _, highest = _lines(axes, bulk, context, style)
    axes.set_ylim(0, 1.1 * max(highest, 1.2 * MIN_ESS))
    axes.set_ylabel("effective draws")
    number_ticks(axes, "y", False, axes.get_ylim(), style)


def _lines(
    axes: Axes, rows: pl.DataFrame, context: ReportContext, style: Style, width: float = 1.0
) -> tuple[float, float]:
    """A line an algorithm, and the limit; returns the lowest and the highest value."""
    for _, one, look in each_algorithm(rows, context, style):
        marker = look.marker if len(one) == 1 else ""
        axes.plot(one["t"], one["value"], **look.line, lw=width, marker=marker)
    axes.axhline(rows["limit"][0], color=style.inks.alarm, linewidth=0.9, linestyle=(0, (4, 2)))
    time_axis(axes, context, style)
    values = rows["value"].to_numpy()
    values = values[np.isfinite(values)]  # draws that never change have no R-hat
    return (float(values.min()), float(values.max())) if len(values) else (1.0, 1.0)


def _rounds(axes: Axes, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    """Draws of each round; a cross marks rounds whose posterior was not usable."""
    draws = data.filter(pl.col("what") == "draws")
    bad = data.filter((pl.col("what") == "problems") & (pl.col("value") > 0))["round"].to_list()
    drawn: Keywords = {"marker": "o", "markersize": 2.4, "drawstyle": "steps-mid"}
    axes.plot(draws["round"], draws["value"], color=style.inks.ink, linewidth=0.8, **drawn)
    wrong = draws.filter(pl.col("round").is_in(bad))
    drawn = {"marker": "X", "markersize": 7, "markeredgecolor": style.inks.paper}
    axes.plot(wrong["round"], wrong["value"], color=style.inks.alarm, linestyle="", **drawn)
    axes.set_ylim(0, 1.15 * float(draws["value"].max()))  # type: ignore[arg-type]
    axes.set_ylabel("draws")
    round_ticks(axes, 6)
    number_ticks(axes, "y", False, axes.get_ylim(), style)


def missing(context: ReportContext) -> str | None:
    if context.rounds:
        return None
    if context.basis is None:
        return NOTHING_INFERRED
    return None if _has_chains(context.basis) else INDEPENDENT


def caption(context: ReportContext) -> str:
    parts = []
    basis = context.draws
    if basis is not None:
        judged = basis.posterior.diagnostics
        verdict = "all within their limits" if judged.passed else "; ".join(judged.problems)
        mixing = (
            f"How well the draws of the {basis.posterior.model} posterior mix: R-hat and effective "
            "draws (thick: bulk, thin: tail) of each algorithm over time, with their limits "
            f"dashed; {verdict}."
        )
        parts.append(mixing if _has_chains(basis) else f"{INDEPENDENT}.".capitalize())
        if basis.posterior.evidence_weight < 1:
            parts.append(
                f"Each ranking was counted at {percent(basis.posterior.evidence_weight)} of its "
                "face value, since those of one instance resemble each other."
            )
    if context.rounds:
        bad = sum(bool(entry.record.problems) for entry in context.rounds)
        trusted = "none of them had problems" if not bad else f"{bad} had problems (crosses)"
        parts.append(f"Draws of each round, more where a decision was close; {trusted}.")
    return " ".join(parts)


DIAGNOSTICS = Figure("diagnostics", "Whether to believe it", caption, missing, data, draw)
