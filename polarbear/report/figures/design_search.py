"""The search of a design: its path, its configurations, and which parameters mattered when."""

from __future__ import annotations

import json

import numpy as np
import polars as pl

from polarbear.facts.design_facts import (
    MEMBER,
    MIN_CONFIGURATIONS,
    importances,
    scaled_value,
    spaces_of,
    tried_configurations,
)
from polarbear.report.context import ReportContext, once
from polarbear.report.figures.base import Figure, grid_axis
from polarbear.report.figures.chart import (
    Axis,
    Cells,
    Chart,
    Line,
    Panel,
    Points,
    Row,
    Rule,
    Series,
    Tick,
    Title,
    edges,
    row_axis,
    row_edges,
)
from polarbear.wording import percent, percent_cell, short, timed

NO_DESIGN = "no `polarbear design` has searched in this store"
SPREAD = 0.35  # of the candidates of a generation, to both sides of its number
MOST_PARAMETERS = 30  # of an algorithm; more axes cannot be told apart


@once
def tried(context: ReportContext) -> pl.DataFrame:
    """Every configuration and program of the search, in its order."""
    rows = [
        {
            "name": item.name,
            "algorithm": item.algorithm,
            "generation": item.generation,
            "verdict": item.verdict,
            "score": item.score,
            "in_set": item.is_in_set,
            "values": json.dumps(dict(item.values)),
        }
        for item in tried_configurations(context.store)
    ]
    return pl.DataFrame(rows, schema_overrides={"algorithm": pl.String, "score": pl.Float64})


def lacks_design(context: ReportContext) -> str | None:
    """Why there is no path of a search."""
    if not context.store.generations.numbers():
        return NO_DESIGN
    judged = tried(context)
    if judged.is_empty() or judged["score"].null_count() == len(judged):
        return "no candidate of the search has been judged yet"
    return None


def search_data(context: ReportContext) -> pl.DataFrame:
    """The candidates that were judged, with their score and verdict."""
    return tried(context).filter(pl.col("score").is_not_null())


def search_chart(data: pl.DataFrame, context: ReportContext) -> Chart:
    """A point for each candidate, in its generation."""
    series: list[Series] = [Rule(0.5, ink="faint")]
    places = data.with_columns(
        place=pl.col("generation")
        + SPREAD
        * (2 * (pl.int_range(pl.len()).over("generation") + 0.5) / pl.len().over("generation") - 1)
    )
    for verdict, marker, ink, size in (
        ("failed", "cross", "alarm", 3.5),
        ("eliminated", "dot", "rest", 2.5),
        ("no gain", "dot", "faint", 3.0),
        (MEMBER, "diamond", "ink", 5.0),
    ):
        rows = places.filter(pl.col("verdict") == verdict)
        if rows.is_empty():
            continue
        series.append(
            Points(
                x=rows["place"].to_list(),
                y=rows["score"].to_list(),
                ink=ink,  # type: ignore[arg-type]
                marker=marker,  # type: ignore[arg-type]
                size=size,
                hover=[_words(*row) for row in rows.select(WORDED).iter_rows()],
            )
        )
    last = int(data["generation"].max())  # type: ignore[arg-type]
    panel = Panel(
        x=Axis("generation", low=0.5, high=last + 0.5, has_whole_ticks=True, has_grid=False),
        y=Axis("lowest win rate against a member", low=0, high=1),
        series=tuple(series),
        titles=(Title("diamonds became members, crosses failed", is_small=True),),
    )
    return Chart((panel,), context.labels)


WORDED = ("name", "verdict", "score", "values")


def _words(name: str, verdict: str, score: float | None, values: str) -> str:
    """A candidate in words."""
    options = ", ".join(f"{key}={value}" for key, value in json.loads(values).items())
    lines = [f"{name}: {verdict}"]
    if score is not None:
        lines.append(f"win rate {percent_cell(score)}")
    return "\n".join([*lines, options] if options else lines)


def search_caption(context: ReportContext) -> str:
    return (
        "Each candidate of the search in its generation: the lowest of its expected win rates, "
        "over all times, against the members of the set that it met. A member may have less than "
        "50 % there: it is the best at some budgets only."
    )


def lacks_spaces(context: ReportContext) -> str | None:
    """Why there are no configurations to draw."""
    if not spaces_of(context.store):
        return NO_DESIGN
    if len(tried(context).filter(pl.col("algorithm").is_not_null())) < 2:
        return "the search has tried fewer than two configurations"
    return None


def configurations_chart(data: pl.DataFrame, context: ReportContext) -> Chart:
    """Parallel coordinates: an axis for each parameter, a line for each configuration."""
    panels = []
    for algorithm, parameters in spaces_of(context.store).items():
        drawn = parameters[:MOST_PARAMETERS]
        rows = data.filter(pl.col("algorithm") == algorithm).sort("in_set")
        lines: list[Series] = []
        for name, verdict, score, values, in_set in rows.select(*WORDED, "in_set").iter_rows():
            options = json.loads(values)
            is_coloured = in_set and name in context.labels
            lines.append(
                Line(
                    x=list(range(len(drawn))),
                    y=[
                        scaled_value(parameter, options[parameter["name"]])
                        if parameter["name"] in options
                        else None
                        for parameter in drawn
                    ],
                    algorithm=name if is_coloured else "",
                    ink="faint",
                    width=1.8 if is_coloured else 0.5,
                    marker="dot" if is_coloured else "",
                    is_named=is_coloured,
                    hover=[_words(name, verdict, score, values)] * len(drawn),
                )
            )
        columns = row_axis([Row(text=parameter["name"]) for parameter in drawn])
        ends = (Tick(0.0, "lowest"), Tick(1.0, "highest"))
        panel = Panel(
            x=columns,
            y=Axis(low=-0.05, high=1.05, ticks=ends),
            series=tuple(lines),
            titles=(Title(algorithm),),
        )
        panels.append(panel)
    return Chart(tuple(panels), context.labels, legend="beside")


def configurations_data(context: ReportContext) -> pl.DataFrame:
    """The configurations of all spaces, with their verdicts."""
    return tried(context).filter(pl.col("algorithm").is_not_null())


def configurations_caption(context: ReportContext) -> str:
    leads = "; ".join(
        f"{lead.algorithm} from {short(lead.from_)} to {timed(lead.to, context.axis)}"
        for lead in (() if context.race is None else context.race.best)
    )
    leading = f" Best: {leads}." if leads else ""
    return (
        "Every configuration that was tried, as a line through its values, from the lowest to the "
        "highest of each parameter (categories in their order). Those in the set have the colours "
        f"that they have in all figures.{leading}"
    )


@once
def importance_data(context: ReportContext) -> pl.DataFrame:
    """The share of differences that each parameter explains at each time."""
    return importances(context.store, context.times)


def lacks_importance(context: ReportContext) -> str | None:
    """Why there is no importance to draw."""
    if not spaces_of(context.store):
        return NO_DESIGN
    if importance_data(context).is_empty():
        return f"the search has tried fewer than {MIN_CONFIGURATIONS} configurations"
    return None


def importance_chart(data: pl.DataFrame, context: ReportContext) -> Chart:
    """A row for each parameter, the most important one first."""
    panels = []
    for (algorithm,), rows in data.group_by("algorithm", maintain_order=True):
        order = (
            rows.group_by("parameter", maintain_order=True)
            .agg(pl.col("explained").mean())
            .sort("explained", descending=True, nulls_last=True, maintain_order=True)
        )
        names = order["parameter"].to_list()[:MOST_PARAMETERS]
        values = np.stack(
            [
                rows.filter(pl.col("parameter") == name)["explained"].cast(pl.Float64).to_numpy()
                for name in names
            ]
        )
        words = [
            [
                f"{name}, {timed(t, context.axis)}\n"
                + ("unknown" if np.isnan(share) else f"explains {percent(float(share))}")
                for t, share in zip(context.times.tolist(), values[row], strict=True)
            ]
            for row, name in enumerate(names)
        ]
        cells = Cells(
            columns=edges(context.times, context.log_times),
            rows=row_edges(len(names)),
            values=values,
            bar_title="share explained",
            gaps="rows",
            hover=words,
        )
        panel = Panel(
            x=grid_axis(context),
            y=row_axis([Row(text=name) for name in names]),
            series=(cells,),
            titles=(Title(str(algorithm)),),
            lines=1.6 * len(names),
        )
        panels.append(panel)
    return Chart(tuple(panels), context.labels)


def importance_caption(context: ReportContext) -> str:
    return (
        "The share of the differences between configurations that each parameter explains at each "
        "time (epsilon squared of the shares of duels won, in thirds of the values of a number). "
        "It is zero on average for a parameter that does not matter; parameters that matter only "
        "together are not seen."
    )


SEARCH = Figure(
    "search", "Path of the search", search_caption, lacks_design, search_data, search_chart
)
CONFIGURATIONS = Figure(
    "configurations",
    "Configurations",
    configurations_caption,
    lacks_spaces,
    configurations_data,
    configurations_chart,
)
IMPORTANCE = Figure(
    "importance",
    "Which parameters matter when",
    importance_caption,
    lacks_importance,
    importance_data,
    importance_chart,
)
