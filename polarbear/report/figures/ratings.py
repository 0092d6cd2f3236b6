"""Shares of firsts over time with 95 % intervals: at present, and in the key rounds of a race."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from polarbear.numerics.arrays import spread
from polarbear.rankings.ranking import NO_TOTAL_ORDER
from polarbear.report.context import ReportContext, Round
from polarbear.report.figures.base import (
    Figure,
    by_algorithm,
    estimates_source,
    grid_axis,
    lacks_estimates,
    lacks_race,
    names_in,
)
from polarbear.report.figures.chart import MAX_BANDS, Axis, Chart, Line, Panel, Title, isolated
from polarbear.report.figures.round_history import resolved_in
from polarbear.report.findings import instances_at, truth_after, truth_now, truth_of
from polarbear.wording import SHARE_OF_FIRSTS, joined, timed

TITLE = "Shares of firsts over time"
FIRSTS_NEED_ORDER = f"there are no shares of firsts: {NO_TOTAL_ORDER}"
WHAT = (
    f"The {SHARE_OF_FIRSTS}: on how many of all instances each algorithm has the best solution of "
    "all by each time"
)


def data(context: ReportContext) -> pl.DataFrame:
    """Mean and central 95 % interval of each share of firsts, and the number of instances.

    ``in`` is true for candidates; ``instances`` is null where it is unknown, and ``truth``
    is known in synthetic races only.
    """
    estimates = context.estimates
    assert estimates is not None
    instances = instances_at(context)
    truth = truth_now(context)
    frames = [
        pl.DataFrame(
            {
                "algorithm": name,
                "t": estimates.times,
                "mean": estimates.mean[i],
                "low": estimates.low[i],
                "high": estimates.high[i],
                "instances": None if instances is None else instances.get(name, 0),
                "in": name in context.remaining,
                "truth": None if truth is None else truth[name],
            },
            schema_overrides={"instances": pl.Int64, "truth": pl.Float64},
        )
        for i, name in enumerate(estimates.algorithms)
    ]
    return pl.concat(frames)


def chart(data: pl.DataFrame, context: ReportContext) -> Chart:
    """A line with its band for each algorithm; those of candidates lie above the others."""
    n_algorithms = data["algorithm"].n_unique()
    lines: list[Line] = []
    ordered = data.sort("in", maintain_order=True)
    for name, rows, is_muted in by_algorithm(ordered, pl.col("mean").max()):
        is_candidate = bool(rows["in"][0])
        band_opacity = 0.2 if is_candidate else 0.1
        lines += share_lines(
            name,
            rows,
            context,
            width=1.5 if is_candidate else 0.8,
            band_opacity=band_opacity if n_algorithms <= MAX_BANDS else 0.0,
            is_bracketed=not is_candidate,
            is_muted=is_muted,
        )
    panel = Panel(x=grid_axis(context), y=_share_axis(data), series=tuple(lines), aspect=0.45)
    return Chart((panel,), context.labels, legend="beside")


def share_lines(
    name: str,
    rows: pl.DataFrame,
    context: ReportContext,
    *,
    width: float,
    band_opacity: float,
    is_bracketed: bool = False,
    is_muted: bool = False,
) -> list[Line]:
    """The share of firsts of one algorithm over time, and the truth where it is known."""
    label = isolated(context.labels[name])
    hover = [
        f"{label}\n{timed(t, context.axis)}\n{SHARE_OF_FIRSTS} {mean:.3f} ({low:.3f} to {high:.3f})"
        for t, mean, low, high in rows.select("t", "mean", "low", "high").iter_rows()
    ]
    times = rows["t"].to_list()
    line = Line(
        x=times,
        y=rows["mean"].to_list(),
        low=rows["low"].to_list(),
        high=rows["high"].to_list(),
        algorithm=name,
        width=width,
        band_opacity=band_opacity,
        is_named=True,
        is_bracketed=is_bracketed,
        is_muted=is_muted,
        hover=hover,
    )
    if len(times) == 1 or rows["truth"].has_nulls():
        return [line]
    truth = rows["truth"].to_list()
    return [Line(x=times, y=truth, algorithm=name, width=0.9, dash="dotted"), line]


def _share_axis(data: pl.DataFrame) -> Axis:
    """The axis of shares, as far as the intervals reach."""
    highest = float(np.nanmax(data["high"].to_numpy()))
    return Axis(SHARE_OF_FIRSTS, low=0, high=min(1.0, 1.05 * highest))


def caption(context: ReportContext) -> str:
    algorithms = context.estimates.algorithms if context.estimates else ()
    n_eliminated = len(algorithms) - len(context.remaining)
    brackets = " Algorithms in brackets are eliminated." if n_eliminated > 0 else ""
    sums = field_of_firsts(context) or "At each time the means sum to one."
    has_truth = len(context.times) > 1 and truth_now(context) is not None
    dotted = " Dotted: the truth." if has_truth else ""
    return (
        f"{WHAT} ({estimates_source(context)}): posterior mean and central 95 % interval (drawn "
        f"for up to {MAX_BANDS} algorithms).{brackets} {sums}{dotted}"
    )


def field_of_firsts(context: ReportContext) -> str:
    """The field of first places, where eliminated algorithms no longer compete for them."""
    estimates = context.estimates
    if estimates is None or np.allclose(estimates.mean.sum(axis=0), 1, atol=0.01):
        return ""
    return (
        "Candidates compete with each other, and their means sum to one at each time; the share of "
        "an eliminated algorithm is that among them and itself."
    )


def lacks_firsts(context: ReportContext) -> str | None:
    """Why there are no shares of firsts to draw."""
    return FIRSTS_NEED_ORDER if context.store.n_objectives > 1 else lacks_estimates(context)


RATINGS = Figure("ratings", TITLE, caption, lacks_firsts, data, chart)


MAX_PANELS = 6
LETTERS_OF_PANELS = "abcdef"


def key_rounds(context: ReportContext, max_rounds: int) -> list[Round]:
    """The rounds in which an algorithm was eliminated or settled, and the last."""
    rounds_of_decisions = set(resolved_in(context).values())
    rounds = [
        entry
        for entry in context.rounds
        if entry.record.decisions.eliminated
        or entry.number in rounds_of_decisions
        or entry is context.rounds[-1]
    ]
    return [rounds[i] for i in spread(len(rounds), max_rounds)]


def _title(rows: pl.DataFrame, labels: Mapping[str, str]) -> str:
    """The decisions of a round, in a few words."""
    number = rows["round"][0]
    if number is None:
        return "truth"
    decisions = []
    for column, words in (("put_out", "eliminated"), ("settled", "settled")):
        names = rows.filter(column)["algorithm"].unique(maintain_order=True)
        if len(names):
            decisions.append(f"{words}: {joined([labels[name] for name in names])}")
    if not decisions:
        return f"round {number}"
    return f"round {number}: {'; '.join(decisions)}"


def key_data(context: ReportContext) -> pl.DataFrame:
    """The truth, where it is known, and the estimates after each key round.

    ``panel`` counts from 0, and the truth has no ``round``. ``put_out`` and ``settled`` mark the
    algorithms that the round decided, ``in`` the candidates after it; ``truth`` is the true value
    of ``mean``.
    """
    truth = truth_of(context)
    frames = []
    for name, shares in (truth or {}).items():
        frame = _key_frame(
            panel=0,
            round=None,
            algorithm=name,
            t=context.times,
            mean=shares,
            low=shares,
            high=shares,
            truth=None,
            put_out=False,
            settled=False,
            is_in=True,
        )
        frames.append(frame)
    n_truths = int(truth is not None)
    resolved = resolved_in(context)
    for panel, entry in enumerate(key_rounds(context, MAX_PANELS - n_truths), start=n_truths):
        estimates = entry.estimates
        true_shares = truth_after(context, entry)
        eliminated = {decision.algorithm for decision in entry.record.decisions.eliminated}
        for i, name in enumerate(estimates.algorithms):
            frame = _key_frame(
                panel=panel,
                round=entry.number,
                algorithm=name,
                t=estimates.times,
                mean=estimates.mean[i],
                low=estimates.low[i],
                high=estimates.high[i],
                truth=None if true_shares is None else true_shares[name],
                put_out=name in eliminated,
                settled=resolved.get(name) == entry.number,
                is_in=name in entry.state.candidates,
            )
            frames.append(frame)
    return pl.concat(frames)


def _key_frame(*, is_in: bool, **columns: object) -> pl.DataFrame:
    """The rows of one algorithm in one panel."""
    types = {"panel": pl.Int32, "round": pl.Int64, "truth": pl.Float64}
    return pl.DataFrame({**columns, "in": is_in}, schema_overrides=types)


def key_chart(data: pl.DataFrame, context: ReportContext) -> Chart:
    """A panel for the truth and for each key round, all with the same axes."""
    panels: list[Panel] = []
    y_axis = _share_axis(data)
    for number in data["panel"].unique().sort().to_list():
        rows_of_panel = data.filter(pl.col("panel") == number)
        n_algorithms = len(names_in(rows_of_panel))
        lines: list[Line] = []
        for name, rows, is_muted in by_algorithm(rows_of_panel, pl.col("mean").max()):
            is_candidate = bool(rows["in"][0])
            band_opacity = 0.2 if is_candidate else 0.08
            lines += share_lines(
                name,
                rows,
                context,
                width=1.2 if is_candidate else 0.6,
                band_opacity=band_opacity if n_algorithms <= MAX_BANDS else 0.0,
                is_muted=is_muted,
            )
        words = f"({LETTERS_OF_PANELS[len(panels)]}) {_title(rows_of_panel, context.labels)}"
        panel = Panel(
            x=grid_axis(context),
            y=y_axis,
            series=tuple(lines),
            titles=(Title(words, is_small=True),),
            aspect=0.6,
        )
        panels.append(panel)
    return Chart(
        tuple(panels),
        context.labels,
        columns=3,
        narrow_columns=2,
        shares_axes=True,
        legend="below",
    )


def key_caption(context: ReportContext) -> str:
    dotted = ""
    if truth_of(context) is not None:
        dotted = " Dotted: the truth, which is shown alone first."
    return (
        f"Key rounds of the race: the {SHARE_OF_FIRSTS} of each algorithm over {context.axis}, "
        "posterior mean and central 95 % interval, after rounds in which an algorithm was "
        f"eliminated or settled, and after the last. Thin lines: eliminated.{dotted}"
    )


def lacks_key_rounds(context: ReportContext) -> str | None:
    """Why there are no shares of firsts after rounds to draw."""
    return FIRSTS_NEED_ORDER if context.store.n_objectives > 1 else lacks_race(context)


KEY_ROUNDS = Figure("key-rounds", "Key rounds", key_caption, lacks_key_rounds, key_data, key_chart)
