"""Fronts of runs with several objectives: on an instance, and attainment surfaces over instances.

Attainment surfaces need objectives that can be pooled over instances. Each value is therefore its
rank among the values of all fronts on its instance, from 0 for the best to 1: this needs no
reference point, and does not change if an objective is transformed by an increasing function.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from polarbear.numerics.arrays import Floats
from polarbear.rankings import GridValues
from polarbear.report.context import ReportContext, once
from polarbear.report.figures.base import Figure, by_algorithm
from polarbear.report.figures.chart import (
    MAX_NAMED,
    Axis,
    Cells,
    Chart,
    Line,
    Panel,
    Title,
    isolated,
)
from polarbear.wording import counted, percent, percent_cell, short, timed

MAX_INSTANCES = 4  # whose fronts are drawn
DRAWN_OBJECTIVES = (2, 3)
MARGIN = 0.5  # around the best front, as a share of its range; points further away are not drawn
SHARES = (0.25, 0.5, 0.75)  # of instances
LEVELS = 50  # of ranks on each axis of a difference
MAX_PAIRS = 6
LEAST_REACH = 0.01  # the range of colours is at least this wide, since all differences may be zero


@dataclass(frozen=True)
class FrontsAtTime:
    """The fronts of some algorithms on the instances on which all of them were run until a time.

    ``points`` has an array [point, objective] for each instance and algorithm, with values of the
    problem.
    """

    t: float
    instances: tuple[str, ...]
    algorithms: tuple[str, ...]
    points: np.ndarray
    sign: int

    def ranks(self, row: int) -> list[Floats]:
        """The fronts on an instance with the rank of each value, from 0 for the best to 1."""
        fronts = [self.sign * front for front in self.points[row]]
        all_points = np.concatenate(fronts)
        columns = []
        for values in all_points.T:
            distinct = np.unique(values)
            columns.append(np.searchsorted(distinct, values) / max(1, len(distinct) - 1))
        ends = np.cumsum([len(front) for front in fronts])[:-1]
        return np.split(np.stack(columns, axis=1), ends)


@once
def fronts_in(context: ReportContext) -> FrontsAtTime:
    """The fronts of the candidates, or of all algorithms if there is only one candidate."""
    names = context.remaining if len(context.remaining) > 1 else context.algorithms
    t = float(context.times[-1]) if context.at is None else context.at
    grid: GridValues = context.store.on_grid(np.array([t]), names)
    assert grid.fronts is not None
    is_common = grid.present[:, :, 0].all(axis=1)
    rows = np.flatnonzero(is_common).tolist()
    points = np.empty((len(rows), len(names)), dtype=object)
    for k, row in enumerate(rows):
        for a in range(len(names)):
            points[k, a] = context.store.sign * grid.fronts[row, a, 0]
    instances = tuple(grid.instances[row] for row in rows)
    return FrontsAtTime(t, instances, tuple(names), points, context.store.sign)


def lacks_fronts(context: ReportContext) -> str | None:
    """Why there are no fronts to draw."""
    n_objectives = context.store.n_objectives
    if n_objectives == 1:
        return "the problems have one objective, so there are no fronts"
    if n_objectives not in DRAWN_OBJECTIVES:
        return f"fronts are drawn for two or three objectives, and there are {n_objectives}"
    if not fronts_in(context).instances:
        return "there is no instance on which all algorithms were run until then"
    return None


def data(context: ReportContext) -> pl.DataFrame:
    """The points of all fronts on the first instances: one row for each point."""
    fronts = fronts_in(context)
    frames = []
    for row, instance in enumerate(fronts.instances[:MAX_INSTANCES]):
        for a, name in enumerate(fronts.algorithms):
            points = fronts.points[row, a]
            columns = {f"y{k}": values for k, values in enumerate(points.T, 1)}
            frame = pl.DataFrame({**columns}).with_columns(
                instance=pl.lit(instance), algorithm=pl.lit(name), t=pl.lit(fronts.t)
            )
            frames.append(frame)
    objectives = [f"y{k}" for k in range(1, context.store.n_objectives + 1)]
    return pl.concat(frames).select("instance", "algorithm", "t", *objectives)


def chart(data: pl.DataFrame, context: ReportContext) -> Chart:
    """A panel for each instance, or for each pair of three objectives on the first instance."""
    objectives = [column for column in data.columns if column.startswith("y")]
    instances = data["instance"].unique(maintain_order=True).to_list()
    panels = []
    for instance in instances if len(objectives) == 2 else instances[:1]:
        rows = data.filter(pl.col("instance") == instance)
        for x, y in combinations(objectives, 2):
            title = Title(instance, is_small=True)
            panels.append(_panel(rows, x, y, title, context))
    columns = 2 if len(panels) in (2, 4) else 3
    return Chart(tuple(panels), context.labels, columns=columns, legend="below")


def _panel(rows: pl.DataFrame, x: str, y: str, title: Title, context: ReportContext) -> Panel:
    """The points of all algorithms on an instance in the plane of two objectives."""
    sign = context.store.sign
    points = sign * rows.select(x, y).to_numpy()
    best = _staircase(points)
    low = best.min(axis=0)
    high = best.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    limits = np.sort(sign * np.stack([low - 0.1 * span, high + MARGIN * span]), axis=0)
    is_joined = context.store.n_objectives == 2 and sign == 1
    lines = []
    for name, of_algorithm, is_muted in by_algorithm(rows, pl.len()):
        own = of_algorithm.select(x, y).to_numpy()
        inside = own[((own >= limits[0]) & (own <= limits[1])).all(axis=1)]
        inside = inside[np.argsort(inside[:, 0])]
        if len(inside) == 1:
            inside = np.repeat(inside, 2, axis=0)  # a line of a single point has an error bar
        line = Line(
            x=inside[:, 0],
            y=inside[:, 1],
            algorithm=name,
            step="after",
            width=0.8 if is_joined else 0.0,
            dash="solid",
            marker="dot",
            is_named=True,
            is_muted=is_muted,
            hover=[_words(name, point, (x, y), context) for point in inside.tolist()],
        )
        lines.append(line)
    return Panel(
        x=Axis(x, low=float(limits[0, 0]), high=float(limits[1, 0])),
        y=Axis(y, low=float(limits[0, 1]), high=float(limits[1, 1])),
        series=tuple(lines),
        titles=(title,),
        aspect=0.75,
    )


def _staircase(points: Floats) -> Floats:
    """The points in a plane that no other one dominates."""
    ordered = points[np.lexsort((points[:, 1], points[:, 0]))]
    lowest_before = np.minimum.accumulate(np.concatenate([[np.inf], ordered[:-1, 1]]))
    return np.asarray(ordered[ordered[:, 1] < lowest_before])


def _words(
    name: str, point: list[float], objectives: tuple[str, str], context: ReportContext
) -> str:
    """The algorithm and the values of a point."""
    values = [
        f"{objective} = {short(value)}" for objective, value in zip(objectives, point, strict=True)
    ]
    return "\n".join([isolated(context.labels[name]), *values])


def caption(context: ReportContext) -> str:
    fronts = fronts_in(context)
    drawn = len(fronts.instances[:MAX_INSTANCES])
    scope = "two of three objectives in each panel, of the first instance"
    if context.store.n_objectives == 2:
        scope = f"the first {counted(drawn, 'instance')}"
    return (
        f"The points that each algorithm has found until {timed(fronts.t, context.axis)} and that "
        f"none of its other points dominates: {scope}, of {len(fronts.instances)} on which all of "
        "these algorithms were run until then. Points further from the best front than half of its "
        "range are in the data, but not in the drawing."
    )


FRONTS = Figure("fronts", "Fronts on single instances", caption, lacks_fronts, data, chart)


def lacks_surfaces(context: ReportContext) -> str | None:
    """Why there are no attainment surfaces to draw."""
    reason = lacks_fronts(context)
    if reason is None and context.store.n_objectives > 2:
        return "attainment surfaces are drawn for two objectives, and there are three"
    return reason


def surface_data(context: ReportContext) -> pl.DataFrame:
    """The points at the corners of each algorithm's surfaces, in ranks.

    On ``share`` of the instances the algorithm has a point that is at least as good in both.
    """
    import moocore  # Reports of one objective do not load it.

    fronts = fronts_in(context)
    n_instances = len(fronts.instances)
    ranks = [fronts.ranks(row) for row in range(n_instances)]
    frames = []
    for a, name in enumerate(fronts.algorithms):
        own = [ranks[row][a] for row in range(n_instances)]
        sets = np.repeat(np.arange(n_instances), [len(front) for front in own])
        # Instances without a point count, too.
        n_found = len(np.unique(sets))
        for share in SHARES:
            n_needed = max(1, int(np.ceil(share * n_instances - 1e-9)))
            if n_needed > n_found:
                continue
            percentile = 100 * n_needed / n_found
            surface = moocore.eaf(np.concatenate(own), sets, percentiles=[percentile])
            corners = surface[np.argsort(surface[:, 0])]
            frame = pl.DataFrame({"rank1": corners[:, 0], "rank2": corners[:, 1]}).with_columns(
                algorithm=pl.lit(name), share=pl.lit(share)
            )
            frames.append(frame)
    return pl.concat(frames).select("algorithm", "share", "rank1", "rank2")


def surface_chart(data: pl.DataFrame, context: ReportContext) -> Chart:
    """A panel for each share of the instances, with a line for each algorithm."""
    panels = []
    for share in SHARES:
        of_share = data.filter(pl.col("share") == share)
        lines = []
        for name, rows, is_muted in by_algorithm(of_share, -pl.col("rank2").mean()):
            first = rows["rank1"].to_list()
            second = rows["rank2"].to_list()
            line = Line(
                x=[first[0], *first, 1.0],
                y=[1.0, *second, second[-1]],
                algorithm=name,
                step="after",
                is_named=True,
                is_muted=is_muted,
            )
            lines.append(line)
        panel = Panel(
            x=_rank_axis("y1"),
            y=_rank_axis("y2"),
            series=tuple(lines),
            titles=(Title(f"{percent(share)} of instances", is_small=True),),
            aspect=0.9,
        )
        panels.append(panel)
    return Chart(
        tuple(panels),
        context.labels,
        columns=3,
        shares_axes=True,
        legend="below",
    )


def _rank_axis(objective: str) -> Axis:
    return Axis(f"{objective}, rank (0: best)", low=0.0, high=1.0)


def surface_caption(context: ReportContext) -> str:
    fronts = fronts_in(context)
    return (
        f"Empirical attainment surfaces at {timed(fronts.t, context.axis)}, of "
        f"{counted(len(fronts.instances), 'instance')}: on a quarter, half, and three quarters of "
        "them an algorithm has found a point at least as good in both objectives as each point of "
        f"its line. {_rank_words()}"
    )


def _rank_words() -> str:
    return (
        "A value is its rank among the values of all fronts on its instance, from 0 for the best "
        "to 1, which no increasing transformation of an objective changes."
    )


SURFACES = Figure(
    "surfaces", "Attainment surfaces", surface_caption, lacks_surfaces, surface_data, surface_chart
)


def difference_data(context: ReportContext) -> pl.DataFrame:
    """For each pair the difference of the shares of instances on a grid of ranks.

    ``difference`` is above 0 where a has attained the ranks on more instances.
    """
    fronts = fronts_in(context)
    levels = np.arange(1, LEVELS + 1) / LEVELS
    attained = attained_shares(fronts, levels)
    frames = []
    for a, b in _pairs(context):
        difference = attained[fronts.algorithms.index(a)] - attained[fronts.algorithms.index(b)]
        frame = pl.DataFrame(
            {
                "rank1": np.tile(levels, LEVELS),
                "rank2": np.repeat(levels, LEVELS),
                "difference": difference.T.ravel(),
            }
        ).with_columns(a=pl.lit(a), b=pl.lit(b), instances=pl.lit(len(fronts.instances)))
        frames.append(frame)
    return pl.concat(frames).select("a", "b", "instances", "rank1", "rank2", "difference")


def attained_shares(fronts: FrontsAtTime, levels: Floats) -> Floats:
    """The share of instances on which each algorithm attains ranks: [algorithm, rank1, rank2]."""
    n_instances = len(fronts.instances)
    shares = np.zeros((len(fronts.algorithms), len(levels), len(levels)))
    for row in range(n_instances):
        for a, ranks in enumerate(fronts.ranks(row)):
            best = np.full((len(levels) + 1, len(levels) + 1), False)
            index = np.searchsorted(levels, ranks - 1e-12)
            best[index[:, 0], index[:, 1]] = True
            attained = np.maximum.accumulate(np.maximum.accumulate(best, axis=0), axis=1)
            shares[a] += attained[:-1, :-1] / n_instances
    return shares


def _pairs(context: ReportContext) -> list[tuple[str, str]]:
    """The requested pair; otherwise pairs of the algorithms whose fronts are drawn."""
    names = fronts_in(context).algorithms
    requested = context.comparison.pair
    if requested is not None and {*requested} <= {*names}:
        return [requested]
    return list(combinations(names[:MAX_NAMED], 2))[:MAX_PAIRS]


def difference_chart(data: pl.DataFrame, context: ReportContext) -> Chart:
    """A plane of ranks for each pair."""
    reach = max(float(data["difference"].abs().max() or 0.0), LEAST_REACH)  # type: ignore[arg-type]
    panels = []
    for a, b in data.select("a", "b").unique(maintain_order=True).rows():
        rows = data.filter((pl.col("a") == a) & (pl.col("b") == b))
        edges = np.arange(LEVELS + 1) / LEVELS
        texts = [f"y1 up to rank {level:.2f}" for level in edges[1:].tolist()]
        cells = Cells(
            columns=edges,
            rows=edges,
            values=rows["difference"].to_numpy().reshape(LEVELS, LEVELS),
            least=-reach,
            most=reach,
            ahead=(a, b),
            hover=(texts,),
            value_words=tuple(
                f"{isolated(context.labels[name])} is ahead on {{value}} of the instances"
                for name in (a, b)
            ),
        )
        panel = Panel(
            x=_rank_axis("y1"),
            y=_rank_axis("y2"),
            series=(cells,),
            titles=(Title(a, a, "left"), Title(b, b, "right")),
            aspect=0.9,
            algorithms=(a, b),
        )
        panels.append(panel)
    attained = f"has attained it more often, at most by {percent_cell(reach)} of the instances"
    return Chart(
        tuple(panels),
        context.labels,
        columns=2 if len(panels) in (2, 4) else 3,
        shares_axes=True,
        notes=(f"colour: the algorithm that {attained}",),
        notes_in_print=(f"dark: the left one {attained}",),
    )


def lacks_differences(context: ReportContext) -> str | None:
    """Why there is no pair to draw."""
    reason = lacks_surfaces(context)
    if reason is None and len(fronts_in(context).algorithms) < 2:
        return "a difference needs two algorithms, and there is one"
    return reason


def difference_caption(context: ReportContext) -> str:
    fronts = fronts_in(context)
    return (
        f"Differences of empirical attainment at {timed(fronts.t, context.axis)}: where in the "
        "plane of both objectives one of a pair has found a point at least as good on more "
        f"instances than the other, of {len(fronts.instances)}. {_rank_words()}"
    )


SURFACE_DIFFERENCE = Figure(
    "surface-difference",
    "Differences of attainment surfaces",
    difference_caption,
    lacks_differences,
    difference_data,
    difference_chart,
)
