"""The race, round by round: evidence, settled pairs, and whether to trust its posteriors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from polarbear.inference.chain_diagnostics import convergence_of
from polarbear.inference.posterior_draws import MIN_ESS
from polarbear.numerics.arrays import spread
from polarbear.racing import Threat
from polarbear.report.context import ReportContext, Round
from polarbear.report.figures.base import (
    NOTHING_INFERRED,
    Figure,
    by_algorithm,
    grid_axis,
    lacks_race,
)
from polarbear.report.figures.chart import (
    Axis,
    Chart,
    Line,
    Marker,
    Panel,
    Points,
    Rule,
    Series,
    Tick,
    isolated,
    round_axis,
)
from polarbear.report.words import deciding_probability, evidence, evidence_needed
from polarbear.selection.posterior_source import Basis
from polarbear.wording import counted, percent, short, timed

BEND = 0.9  # above it, the axis is logarithmic in 1 - p
DECADE = 0.3  # length of a power of ten on the axis, whose linear part is 0.9 long
TICKS = (0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999)
MOST_DRAWS = 1e5
NO_OTHER_CANDIDATE = Threat(by="", probability=0.0, sceptical=0.0)
EVENTS: tuple[tuple[str, Marker, float], ...] = (
    ("eliminated", "cross", 6.5),
    ("resolved", "diamond", 5.0),
)  # with the marker and its size


def data(context: ReportContext) -> pl.DataFrame:
    """For each round and algorithm: the one that comes nearest to eliminating it, and the evidence.

    ``probability`` is P(dominated), ``sceptical`` and ``wealth`` are the evidence that decides, as
    the round recorded them: null where its posterior was not usable. Probabilities are 0 where no
    other candidate is left.
    ``event`` is eliminated, resolved (nothing about it is open from there on) or empty;
    ``share_settled`` is the share of all pairs that are settled.
    """
    rows: list[dict[str, object]] = []
    resolved = resolved_in(context)
    before: tuple[str, ...] = ()
    for entry in context.rounds:
        rows += _rows_of_round(entry, before, resolved)
        before = entry.state.algorithms
    numbers = dict.fromkeys(("probability", "sceptical", "wealth"), pl.Float64)
    return pl.DataFrame(rows, schema_overrides={"by": pl.String, **numbers})


def _rows_of_round(
    entry: Round, before: tuple[str, ...], resolved: dict[str, int]
) -> Iterator[dict[str, object]]:
    """A row for each algorithm of a round; ``before`` are those of the round before it."""
    state = entry.state
    eliminated = {
        elimination.algorithm: elimination
        for elimination in state.eliminated
        if elimination.round == entry.number
    }
    is_alone = len(state.candidates) == 1 and entry.estimates.trusted
    for name in state.algorithms:
        if name not in eliminated and name not in state.candidates:
            continue
        event = ""
        if name in eliminated:
            event = "eliminated"
        elif resolved.get(name) == entry.number:
            event = "resolved"
        nearest = eliminated.get(name) or entry.record.threats.get(name)
        by = None if nearest is None else nearest.by
        if nearest is None and is_alone:
            nearest = NO_OTHER_CANDIDATE
        yield {
            "round": entry.number,
            "instances": state.instances,
            "algorithm": name,
            "by": by,
            "probability": None if nearest is None else nearest.probability,
            "sceptical": None if nearest is None else nearest.sceptical,
            "wealth": None if nearest is None else nearest.wealth,
            "event": event,
            "entered": bool(before) and name not in before,
            "share_settled": state.share_settled,
        }


def resolved_in(context: ReportContext) -> dict[str, int]:
    """The round from which on nothing was open about each candidate."""
    rounds: dict[str, int] = {}
    for entry in context.rounds:
        settled = set(entry.state.candidates) - set(entry.state.unresolved)
        rounds = {name: rounds.get(name, entry.number) for name in settled}
    return rounds


def stretched(p: np.ndarray, top: float = 1 - 1 / MOST_DRAWS) -> np.ndarray:
    """The position of a probability on the axis: linear up to 0.9, then logarithmic in 1 - p.

    Probabilities above ``top`` are drawn there.
    """
    p = np.minimum(np.asarray(p, dtype=float), top)
    with np.errstate(invalid="ignore"):
        beyond = BEND - DECADE * np.log10((1 - p) / (1 - BEND))
    return np.where(p > BEND, beyond, p)


def chart(data: pl.DataFrame, context: ReportContext) -> Chart:
    """The evidence against each algorithm in each round, and the share of settled pairs."""
    data = data.with_columns(pl.coalesce("sceptical", "probability").alias("deciding"))
    first = data["round"][0]
    last = data["round"][-1]
    # The axis ends at the first tick beyond all probabilities and the threshold.
    highest = max([context.rules.alpha, *data["deciding"].drop_nulls()])
    top = next((tick for tick in TICKS[5:] if tick >= highest), TICKS[-1])
    threshold = float(stretched(np.array(context.rules.alpha)))
    series: list[Series] = [Rule(threshold)]
    series += _lines_of_algorithms(data, top, context)
    probabilities = Panel(
        x=round_axis(first, last, is_labelled=False),
        y=Axis(
            deciding_probability(context.rounds[-1].record.settings),
            low=-0.04,
            high=float(stretched(np.array(top))) + 0.06,
            ticks=tuple(
                Tick(float(stretched(np.array(tick))), short(tick)) for tick in TICKS if tick <= top
            ),
        ),
        series=tuple(series),
        aspect=0.4,
    )
    settled = Panel(
        x=round_axis(first, last),
        y=Axis(
            "pairs\nsettled",
            low=0,
            high=1,
            ticks=(Tick(0, "0"), Tick(0.5, "0.5"), Tick(1, "1")),
        ),
        series=(_settled_line(data),),
        lines=4.5,
    )
    return Chart((probabilities, settled), context.labels, legend="beside")


def _lines_of_algorithms(data: pl.DataFrame, top: float, context: ReportContext) -> list[Series]:
    """A line per algorithm: a cross where it is eliminated, a diamond where it is settled."""
    longest_in_race = 2 * pl.col("round").max() - pl.col("deciding").last()
    series: list[Series] = []
    for name, rows, is_muted in by_algorithm(data.drop_nulls("deciding"), longest_in_race):
        rounds = rows["round"].to_numpy()
        positions = stretched(rows["deciding"].to_numpy(), top)
        hover = _words_on_rounds(name, rows, context)
        line = Line(
            x=rounds,
            y=positions,
            algorithm=name,
            width=1.1,
            marker="own",
            is_named=True,
            is_bracketed=rows["event"][-1] == "eliminated",
            is_muted=is_muted,
            hover=hover,
        )
        series.append(line)
        for event, marker, size in EVENTS:
            indices = np.flatnonzero((rows["event"] == event).to_numpy())
            if len(indices):
                points = Points(
                    x=rounds[indices],
                    y=positions[indices],
                    algorithm=name,
                    marker=marker,
                    size=size,
                    hover=[hover[index] for index in indices],
                )
                series.append(points)
    return series


def _words_on_rounds(name: str, rows: pl.DataFrame, context: ReportContext) -> list[str]:
    """The evidence against an algorithm in each round, and by which other one."""
    words = []
    settings = context.rounds[-1].record.settings
    columns = ("round", "instances", "by", "probability", "sceptical", "wealth", "event")
    for number, instances, *threat, event in rows.select(columns).iter_rows():
        label = isolated(context.labels[name])
        lines = [f"{label}, round {number} ({counted(instances, 'instance')})"]
        nearest = Threat(*threat)
        if nearest.by is not None:
            lines.append(
                f"by {isolated(context.labels[nearest.by])}: {evidence(nearest, settings)}"
            )
        if event:
            lines.append(event)
        words.append("\n".join(lines))
    return words


def _settled_line(data: pl.DataFrame) -> Line:
    """The share of settled pairs in each round."""
    settled = data.unique("round", maintain_order=True).sort("round")
    return Line(
        x=settled["round"].to_list(),
        y=settled["share_settled"].to_list(),
        width=1.2,
        marker="dot",
        hover=[
            f"round {number}: {percent(share)} of pairs settled"
            for number, share in settled.select("round", "share_settled").iter_rows()
        ],
    )


def caption(context: ReportContext) -> str:
    last = context.rounds[-1]
    settings = last.record.settings
    needed = evidence_needed(settings)
    and_needed = f", and {needed}" if needed else ""
    return (
        f"For each algorithm and round, the {deciding_probability(settings)} of the other one that "
        f"comes nearest to eliminating it, over {counted(last.number, 'round')} and "
        f"{counted(last.state.instances, 'instance')}; the dashed line is alpha"
        f"{and_needed}. A cross marks an elimination, a "
        "diamond that no pair of an algorithm is open any more; names in brackets "
        "are eliminated. The axis turns logarithmic above 0.9. Below, the share of pairs that are "
        f"settled: {percent(last.state.share_settled)} in the end."
    )


ROUNDS = Figure("rounds", "The race, round after round", caption, lacks_race, data, chart)


INDEPENDENT = "draws are independent resamples of the instances: there is no chain that has to mix"
MAX_TIMES = 24  # diagnostics take longer than drawing, so a fine grid is thinned to this
MAX_PARETO_K = 0.7
DIAGNOSTIC_WORDS = {
    "r_hat": "R-hat",
    "ess_bulk": "effective draws (bulk)",
    "ess_tail": "effective draws (tail)",
}


def diagnostics_data(context: ReportContext) -> pl.DataFrame:
    """One row a diagnostic: ``what``, where, its ``value``, and its ``limit`` if any.

    r_hat, ess_bulk and ess_tail are of one algorithm at one time (some times of a fine grid), where
    draws come from chains; worst_... are of all kept draws; draws, problems and evidence_weight of
    a round or of the posterior. The ``value`` of problems is their number, ``words`` lists them.
    """
    rows: list[dict[str, object]] = []
    for entry in context.rounds:
        rows += _diagnostics_of_round(entry)
    if context.draws is not None:
        rows += _diagnostics_of_draws(context.draws)
    schema = {
        "what": pl.String,
        "round": pl.Int64,
        "t": pl.Float64,
        "algorithm": pl.String,
        "value": pl.Float64,
        "limit": pl.Float64,
        "words": pl.String,
    }
    return pl.DataFrame(rows, schema=schema)


def _diagnostics_of_round(entry: Round) -> list[dict[str, object]]:
    """The number of draws of a round, and its problems."""
    problems = entry.record.problems
    draws = {"what": "draws", "round": entry.number, "value": entry.record.draws}
    listed = {
        "what": "problems",
        "round": entry.number,
        "value": len(problems),
        "limit": 0.0,
        "words": "; ".join(problems),
    }
    return [draws, listed]


def _diagnostics_of_draws(basis: Basis) -> list[dict[str, object]]:
    """The diagnostics of all draws that are kept; of chains, over time, too."""
    posterior = basis.posterior
    diagnostics = posterior.diagnostics
    rows: list[dict[str, object]] = [
        {"what": "worst_r_hat", "value": diagnostics.r_hat, "limit": diagnostics.r_hat_limit},
        {"what": "worst_ess_bulk", "value": diagnostics.ess_bulk, "limit": MIN_ESS},
        {"what": "worst_ess_tail", "value": diagnostics.ess_tail, "limit": MIN_ESS},
        {"what": "divergences", "value": diagnostics.divergences, "limit": 0.0},
        {"what": "evidence_weight", "value": posterior.evidence_weight},
        {"what": "kept_draws", "value": posterior.draws},
    ]
    if diagnostics.pareto_k is not None:
        pareto_k = {"what": "pareto_k", "value": diagnostics.pareto_k, "limit": MAX_PARETO_K}
        rows.append(pareto_k)
    if _has_chains(basis):
        rows += _diagnostics_over_time(basis)
    return rows


def _has_chains(basis: Basis) -> bool:
    """Whether draws come from chains; resamples of the instances are independent."""
    return basis.posterior.options.plackett_luce


def _diagnostics_over_time(basis: Basis) -> Iterator[dict[str, object]]:
    """R-hat and effective sample sizes of each algorithm at each time."""
    posterior = basis.posterior
    time_indices = spread(len(basis.times), MAX_TIMES)
    times = basis.times[time_indices].tolist()
    draws = posterior.theta[:, time_indices].reshape(posterior.draws, -1)
    diagnostics = convergence_of(draws, posterior.chains).reshape(len(times), -1, 3)
    limits = {"r_hat": posterior.diagnostics.r_hat_limit, "ess_bulk": MIN_ESS, "ess_tail": MIN_ESS}
    for k, (kind, limit) in enumerate(limits.items()):
        for j, name in enumerate(basis.algorithms):
            for t, value in zip(times, diagnostics[:, j, k].tolist(), strict=True):
                yield {"what": kind, "algorithm": name, "limit": limit, "t": t, "value": value}


def diagnostics_chart(data: pl.DataFrame, context: ReportContext) -> Chart:
    """R-hat and effective draws over time, and the draws of each round."""
    kinds = set(data["what"])
    panels = []
    if "r_hat" in kinds:
        panels.append(_panel_over_time("R-hat", {"r_hat": 1.0}, data, context))
        widths = {"ess_tail": 0.5, "ess_bulk": 1.0}
        panels.append(_panel_over_time("effective draws", widths, data, context, low=0.0))
    if "draws" in kinds:
        panels.append(_panel_of_draws(data))
    return Chart(tuple(panels), context.labels, columns=len(panels))


def _panel_over_time(
    title: str,
    widths: dict[str, float],
    data: pl.DataFrame,
    context: ReportContext,
    low: float | None = None,
) -> Panel:
    """Diagnostics of each algorithm over time as lines of some widths; their limit is dashed."""
    series: list[Series] = []
    for kind, width in widths.items():
        diagnostics = data.filter(pl.col("what") == kind)
        for name, rows, _ in by_algorithm(diagnostics):
            label = isolated(context.labels[name])
            line = Line(
                x=rows["t"].to_list(),
                y=rows["value"].to_list(),
                algorithm=name,
                width=width,
                hover=[
                    f"{label}\n{timed(t, context.axis)}\n{DIAGNOSTIC_WORDS[kind]} {value:,.4g}"
                    for t, value in rows.select("t", "value").iter_rows()
                ],
            )
            series.append(line)
        series.append(Rule(diagnostics["limit"][0], ink="alarm", width=0.9))
    return Panel(x=grid_axis(context), y=Axis(title, low=low), series=tuple(series), aspect=0.5)


def _panel_of_draws(data: pl.DataFrame) -> Panel:
    """Draws of each round; a cross marks rounds whose posterior was not usable."""
    draws = data.filter(pl.col("what") == "draws")
    problems = data.filter((pl.col("what") == "problems") & (pl.col("value") > 0))
    unusable = draws.filter(pl.col("round").is_in(problems["round"].to_list()))
    hover = [
        f"round {number}: {counted(int(count), 'draw')}"
        for number, count in draws.select("round", "value").iter_rows()
    ]
    line = Line(
        x=draws["round"].to_list(),
        y=draws["value"].to_list(),
        width=0.8,
        step="middle",
        marker="dot",
        hover=hover,
    )
    crosses = Points(
        x=unusable["round"].to_list(),
        y=unusable["value"].to_list(),
        ink="alarm",
        marker="cross",
        size=7,
        hover=[f"round {number}: not usable" for number in unusable["round"]],
    )
    most = float(draws.select(pl.col("value").max()).item())
    return Panel(
        x=round_axis(draws["round"][0], draws["round"][-1]),
        y=Axis("draws", low=0, high=1.15 * most),
        series=(line, crosses),
        lines=9,
    )


def lacks_diagnostics(context: ReportContext) -> str | None:
    """Why there is nothing to diagnose."""
    if context.rounds:
        return None
    if context.basis is None:
        return NOTHING_INFERRED
    return None if _has_chains(context.basis) else INDEPENDENT


def diagnostics_caption(context: ReportContext) -> str:
    sentences = []
    if context.draws is not None:
        sentences.append(_words_on_mixing(context.draws))
        weight = context.draws.posterior.evidence_weight
        if weight < 1:
            sentences.append(
                f"Each ranking was counted at {percent(weight)} of its face value, since those of "
                "one instance resemble each other."
            )
    if context.rounds:
        n_unusable = sum(bool(entry.record.problems) for entry in context.rounds)
        trusted = "none of them had problems"
        if n_unusable:
            trusted = f"{n_unusable} had problems (crosses)"
        sentences.append(f"Draws of each round, more where a decision was close; {trusted}.")
    return " ".join(sentences)


def _words_on_mixing(basis: Basis) -> str:
    """How well the draws of chains mix; of independent draws, that there is nothing to mix."""
    if not _has_chains(basis):
        return f"{INDEPENDENT}.".capitalize()
    diagnostics = basis.posterior.diagnostics
    result = "all within their limits" if diagnostics.passed else "; ".join(diagnostics.problems)
    return (
        f"How well the draws of the {basis.posterior.model} posterior mix: R-hat and effective "
        "draws (thick: bulk, thin: tail) of each algorithm over time, with their limits "
        f"dashed; {result}."
    )


DIAGNOSTICS = Figure(
    "diagnostics",
    "Whether to believe it",
    diagnostics_caption,
    lacks_diagnostics,
    diagnostics_data,
    diagnostics_chart,
)
