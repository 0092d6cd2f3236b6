"""Diagnostics of the posterior: convergence of the draws, and problems of each round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from polarbear.inference.chain_diagnostics import convergence_of
from polarbear.inference.posterior_draws import MIN_ESS
from polarbear.report.context import ReportContext
from polarbear.report.figures import plotting
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
    has_chains, has_rounds = (what in set(data["what"]) for what in ("r_hat", "draws"))
    count = 2 * has_chains + has_rounds
    panels = plotting.panel_grid(canvas, count, 1 if style.is_narrow else count, 1.55, style)
    if has_chains:
        _over_time(panels[0], data, "R-hat", {"r_hat": 1.0}, context, style)
        widths = {"ess_tail": 0.5, "ess_bulk": 1.0}
        _over_time(panels[1], data, "effective draws", widths, context, style)
        panels[1].set_ylim(bottom=0)
    if has_rounds:
        _rounds(panels[-1], data, style)
    for axes in panels:
        plotting.number_ticks(axes.yaxis, style)
        axes.grid(axis="y")


def _over_time(
    axes: Axes,
    data: pl.DataFrame,
    label: str,
    widths: Mapping[str, float],
    context: ReportContext,
    style: Style,
) -> None:
    """Diagnostics of each algorithm over time as lines of some widths; their limit is dashed."""
    for what, width in widths.items():
        found = data.filter(pl.col("what") == what)
        for _, rows, look in plotting.each_algorithm(found, context, style):
            marker = look.marker if len(rows) == 1 else ""
            axes.plot(rows["t"], rows["value"], **look.line, lw=width, marker=marker)
    axes.axhline(found["limit"][0], color=style.inks.alarm, linewidth=0.9, linestyle=(0, (4, 2)))
    plotting.time_axis(axes, context, style)
    axes.set_ylabel(label)


def _rounds(axes: Axes, data: pl.DataFrame, style: Style) -> None:
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
    axes.set_xlabel("round")
    plotting.whole_ticks(axes.xaxis, 6)


def missing(context: ReportContext) -> str | None:
    if context.rounds:
        return None
    if context.basis is None:
        return NOTHING_INFERRED
    return None if _has_chains(context.basis) else INDEPENDENT


def caption(context: ReportContext) -> str:
    parts = []
    if context.draws is not None:
        posterior = context.draws.posterior
        judged, weight = posterior.diagnostics, posterior.evidence_weight
        parts.append(f"{INDEPENDENT}.".capitalize())
        if _has_chains(context.draws):
            verdict = "all within their limits" if judged.passed else "; ".join(judged.problems)
            parts = [
                f"How well the draws of the {posterior.model} posterior mix: R-hat and effective "
                "draws (thick: bulk, thin: tail) of each algorithm over time, with their limits "
                f"dashed; {verdict}."
            ]
        if weight < 1:
            parts.append(
                f"Each ranking was counted at {percent(weight)} of its face value, since those of "
                "one instance resemble each other."
            )
    if context.rounds:
        bad = sum(bool(entry.record.problems) for entry in context.rounds)
        trusted = "none of them had problems" if not bad else f"{bad} had problems (crosses)"
        parts.append(f"Draws of each round, more where a decision was close; {trusted}.")
    return " ".join(parts)


DIAGNOSTICS = Figure("diagnostics", "Whether to believe it", caption, missing, data, draw)
