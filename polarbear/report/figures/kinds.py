"""Shares of duels won on each kind of instance, or in each group by a feature.

The kind of an instance is the feature 'family'.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from polarbear.facts.evidence import Evidence, evidence_of
from polarbear.facts.features import features
from polarbear.problems.specs import FAMILY
from polarbear.rankings.duels import duels_of
from polarbear.report.context import ReportContext, once
from polarbear.report.figures.base import Figure, by_algorithm, grid_axis
from polarbear.report.figures.chart import Axis, Chart, Line, Panel, Rule, Title, isolated
from polarbear.wording import counted, percent, timed

WON = "share of duels won"
MAX_KINDS = 12  # more panels cannot be compared


@once
def instances_by_kind(context: ReportContext) -> dict[str, Sequence[str]]:
    """The instances of each kind; empty if some have none, or all the same one.

    With a feature for groups they are the instances of each group.
    """
    if context.by is not None:
        return {group.label: group.instances for group in context.grouping.groups}
    known = features(context.store)
    if FAMILY not in known.names or known.column(FAMILY).is_missing.any():
        return {}
    kinds: dict[str, list[str]] = {}
    for row, instance in enumerate(known.instances):
        kinds.setdefault(str(known.column(FAMILY).value(row)), []).append(instance)
    return dict(kinds) if 1 < len(kinds) <= MAX_KINDS else {}


def missing(context: ReportContext) -> str | None:
    """Why there are no kinds to compare."""
    if len(context.algorithms) < 2:
        return "there is only one algorithm"
    if not instances_by_kind(context):
        return "the instances are not of several kinds"
    return None


def data(context: ReportContext) -> pl.DataFrame:
    """The share of duels that each algorithm wins at each time, on each kind of instance.

    Its rivals are the candidates; all algorithms, if there is only one candidate.
    """
    names = context.remaining if len(context.remaining) > 1 else context.algorithms
    evidence = evidence_of(context.store, names)
    frames = []
    for kind, instances in instances_by_kind(context).items():
        rows = [i for i, instance in enumerate(evidence.grid.instances) if instance in {*instances}]
        n_problems, rates = shares_won(evidence, rows)
        for index, name in enumerate(evidence.grid.algorithms):
            frame = {
                "kind": kind,
                "instances": n_problems,
                "algorithm": name,
                "t": evidence.grid.times,
                "won": rates[:, index],
            }
            frames.append(pl.DataFrame(frame))
    return pl.concat(frames).with_columns(pl.col("won").fill_nan(None))


def shares_won(evidence: Evidence, rows: list[int]) -> tuple[int, np.ndarray]:
    """The number of problems on these rows, and the shares of duels won: [time, algorithm].

    A share is averaged over the rivals that an algorithm has met; NaN if there is none.
    """
    problems = np.array(evidence.problem_names)[rows]
    weights = None if evidence.weights is None else evidence.weights[rows]
    results = None if evidence.results is None else evidence.results[rows]
    record = duels_of(evidence.positions[rows], problems, weights, results).record()
    won = record.won()
    lost = won.swapaxes(1, 2)
    draws = np.zeros_like(won)
    a, b = np.triu_indices(record.algorithms, 1)
    draws[:, a, b] = record.draws
    draws[:, b, a] = record.draws
    n_duels = won + lost + draws
    has_met = n_duels > 0
    shares = np.where(has_met, (won + draws / 2) / np.where(has_met, n_duels, 1), 0)
    n_rivals = has_met.sum(axis=2)
    rates = np.where(n_rivals > 0, shares.sum(axis=2) / np.maximum(n_rivals, 1), np.nan)
    return len(set(problems)), rates


def chart(data: pl.DataFrame, context: ReportContext) -> Chart:
    """A panel for each kind, with a line for each algorithm."""
    axis = grid_axis(context)
    panels = []
    for (kind, n_problems), rows_of_kind in data.group_by("kind", "instances", maintain_order=True):
        lines = []
        for name, rows, is_muted in by_algorithm(rows_of_kind, pl.col("won").max()):
            known_rows = rows.drop_nulls()
            words = [
                f"{isolated(context.labels[name])}\n{timed(t, axis.title)}\n"
                f"{WON} {percent(rate)} on {kind}"
                for t, rate in known_rows.select("t", "won").iter_rows()
            ]
            line = Line(
                x=known_rows["t"].to_list(),
                y=known_rows["won"].to_list(),
                algorithm=name,
                is_named=True,
                is_muted=is_muted,
                hover=words,
            )
            lines.append(line)
        name = kind if context.by is None else f"{context.grouping.feature} {kind}"
        title = Title(f"{name}, {counted(n_problems, 'instance')}")
        y = Axis(WON, low=0, high=1)
        panels.append(Panel(x=axis, y=y, series=(Rule(0.5), *lines), titles=(title,)))
    return Chart(
        tuple(panels),
        context.labels,
        columns=min(3, len(panels)),
        shares_axes=True,
        legend="below",
    )


def caption(context: ReportContext) -> str:
    if context.by is not None:
        return (
            f"The share of its duels that each algorithm wins, by {context.grouping.feature}, "
            "averaged over its rivals, a draw counting half. Each group has its own problems only."
        )
    return (
        "The share of its duels that each algorithm wins on each kind of instance, averaged over "
        "its rivals, a draw counting half. An algorithm may be among the best for one kind alone."
    )


KINDS = Figure("kinds", "Duels won by kind of instance", caption, missing, data, chart)
