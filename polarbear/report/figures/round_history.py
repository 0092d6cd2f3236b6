"""The race, round by round: P(dominated), settled pairs, and whether to trust its posteriors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.inference.chain_diagnostics import convergence_of
from polarbear.inference.posterior_draws import MIN_ESS
from polarbear.numerics.arrays import spread
from polarbear.report.context import ReportContext
from polarbear.report.figures.base import NOTHING_INFERRED, Figure, lacks_race
from polarbear.report.figures.sheet import Line, Sheet, names_in, whole_ticks
from polarbear.report.figures.style import Keywords, Style
from polarbear.selection.posterior_source import Basis
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

    ``probability`` is the one that the round recorded, as `polarbear status` shows it: null where
    its posterior was not usable, and 0 where no other candidate is left.
    ``event`` is eliminated, resolved (nothing about it is open from there on) or empty;
    ``share_settled`` is the share of all pairs that are settled.
    """
    rows = []
    resolved = resolved_in(context)
    running: tuple[str, ...] = ()
    for entry in context.rounds:
        state = entry.state
        entered = set(state.algorithms) - set(running)
        out = {e.algorithm: e for e in state.eliminated if e.round == entry.number}
        is_alone = len(state.candidates) == 1 and entry.estimates.trusted
        for name in state.algorithms:
            if name not in out and name not in state.candidates:
                continue
            nearest = out.get(name) or entry.record.threats.get(name)
            is_resolved = resolved.get(name) == entry.number
            rows.append(
                {
                    "round": entry.number,
                    "instances": state.instances,
                    "algorithm": name,
                    "by": nearest.by if nearest else None,
                    "probability": nearest.probability if nearest else 0.0 if is_alone else None,
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
    for entry in context.rounds:
        settled = set(entry.state.candidates) - set(entry.state.unresolved)
        found = {name: found.get(name, entry.number) for name in settled}
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
    sheet = Sheet.of(canvas, context, style)
    sheet.name_lines(_lines(axes, data, top, sheet))
    ticks = [tick for tick in TICKS if tick <= top]
    axes.set_yticks(stretched(np.array(ticks)), [short(tick) for tick in ticks])
    axes.set_ylim(-0.04, float(stretched(np.array(top))) + 0.06)
    axes.set_ylabel("P(dominated)")
    axes.grid(axis="y")
    _share(share, data, style)


def _lines(axes: Axes, data: pl.DataFrame, top: float, sheet: Sheet) -> list[Line]:
    """A line per algorithm: a cross where it is eliminated, a diamond where it is settled."""
    short, paper = sheet.names(names_in(data)), sheet.style.inks.paper
    rank = 2 * pl.col("round").max() - pl.col("probability").last()  # the longest in the race
    lines = []
    for name, rows, look in sheet.by_algorithm(data.drop_nulls("probability"), rank):
        x, y = rows["round"].to_numpy(), stretched(rows["probability"].to_numpy(), top)
        markers: Keywords = {"marker": look.marker, "markevery": max(1, len(x) // 12)}
        axes.plot(x, y, **look.line, **markers, markersize=2.6, linewidth=1.1, clip_on=False)
        drawn: Keywords = {"linestyle": "", "clip_on": False, "zorder": 3, "markeredgewidth": 0.6}
        drawn |= {"markerfacecolor": look.colour, "markeredgecolor": paper}
        for event, marker, size in (("eliminated", "X", 6.5), ("resolved", "D", 5.0)):
            here = (rows["event"] == event).to_numpy()
            if here.any():  # an empty line would spoil the layout
                axes.plot(x[here], y[here], marker=marker, markersize=size, **drawn)
        text = f"({short[name]})" if rows["event"][-1] == "eliminated" else short[name]
        lines.append(Line(text, look, float(y[-1]), look.marker))
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
    whole_ticks(axes.xaxis, 8)


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


INDEPENDENT = "draws are independent resamples of the instances: there is no chain that has to mix"
MAX_TIMES = 24  # of a fine grid: diagnostics take longer than drawing


def diagnostics_data(context: ReportContext) -> pl.DataFrame:
    """One row a diagnostic: ``what``, where, its ``value``, and its ``limit`` if any.

    r_hat, ess_bulk and ess_tail are of one algorithm at one time (some times of a fine grid), where
    draws come from chains; worst_... are of all kept draws; draws, problems and evidence_weight of
    a round or of the posterior. The ``value`` of problems is their number, ``words`` lists them.
    """
    rows: list[dict[str, object]] = []
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
            {"what": "kept_draws", "value": posterior.draws},
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


def _over_times(basis: Basis) -> Iterator[dict[str, object]]:
    """R-hat and effective sample sizes of each algorithm at each time."""
    posterior = basis.posterior
    places = spread(len(basis.times), MAX_TIMES)
    draws = posterior.theta[:, places].reshape(posterior.draws, -1)
    found = convergence_of(draws, posterior.chains).reshape(len(places), -1, 3)
    limits = {"r_hat": posterior.diagnostics.r_hat_limit, "ess_bulk": MIN_ESS, "ess_tail": MIN_ESS}
    for k, (what, limit) in enumerate(limits.items()):
        for j, name in enumerate(basis.algorithms):
            row = {"what": what, "algorithm": name, "limit": limit}
            for t, value in zip(basis.times[places].tolist(), found[:, j, k].tolist(), strict=True):
                yield {**row, "t": t, "value": value}


def draw_diagnostics(
    canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style
) -> None:
    has_chains, has_rounds = (what in set(data["what"]) for what in ("r_hat", "draws"))
    count = 2 * has_chains + has_rounds
    sheet = Sheet.of(canvas, context, style)
    panels = sheet.panels(count, 1 if style.is_narrow else count, 1.55)
    if has_chains:
        _over_time(panels[0], data, "R-hat", {"r_hat": 1.0}, sheet)
        widths = {"ess_tail": 0.5, "ess_bulk": 1.0}
        _over_time(panels[1], data, "effective draws", widths, sheet)
        panels[1].set_ylim(bottom=0)
    if has_rounds:
        _draws_of_rounds(panels[-1], data, style)
    for axes in panels:
        sheet.number_ticks(axes.yaxis)
        axes.grid(axis="y")


def _over_time(
    axes: Axes, data: pl.DataFrame, label: str, widths: Mapping[str, float], sheet: Sheet
) -> None:
    """Diagnostics of each algorithm over time as lines of some widths; their limit is dashed."""
    for what, width in widths.items():
        found = data.filter(pl.col("what") == what)
        for _, rows, look in sheet.by_algorithm(found):
            marker = look.marker if len(rows) == 1 else ""
            axes.plot(rows["t"], rows["value"], **look.line, lw=width, marker=marker)
    alarm = sheet.style.inks.alarm
    axes.axhline(found["limit"][0], color=alarm, linewidth=0.9, linestyle=(0, (4, 2)))
    sheet.time_axis(axes)
    axes.set_ylabel(label)


def _draws_of_rounds(axes: Axes, data: pl.DataFrame, style: Style) -> None:
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
    whole_ticks(axes.xaxis, 6)


def lacks_diagnostics(context: ReportContext) -> str | None:
    if context.rounds:
        return None
    if context.basis is None:
        return NOTHING_INFERRED
    return None if _has_chains(context.basis) else INDEPENDENT


def diagnostics_caption(context: ReportContext) -> str:
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


DIAGNOSTICS = Figure(
    "diagnostics",
    "Whether to believe it",
    diagnostics_caption,
    lacks_diagnostics,
    diagnostics_data,
    draw_diagnostics,
)
