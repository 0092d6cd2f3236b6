"""EAF: the share of runs that have attained each target by each time, and differences of pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl

from polarbear.classical.attainment import EAF_LEVELS
from polarbear.classical.view import Scale, View
from polarbear.report.context import ReportContext
from polarbear.report.figures.base import Figure, names_in
from polarbear.report.figures.chart import (
    Axis,
    Cells,
    Chart,
    Dash,
    Ink,
    Line,
    Panel,
    Tick,
    Title,
    edges,
    isolated,
    time_axis,
)
from polarbear.report.figures.ecdf import basis_words, lacks_values
from polarbear.wording import percent_cell, power_of_ten, tick, timed

MAX_PANELS = 12
QUARTILES: tuple[tuple[float, float, Dash], ...] = (
    (0.25, 0.6, "dotted"),
    (0.5, 1.2, "solid"),
    (0.75, 0.6, "dashed"),
)  # shares of runs, with the width and the dash of their line


def lacks_plane(context: ReportContext) -> str | None:
    """Why there is no plane of times and targets to draw."""
    reason = lacks_values(context)
    if reason is not None:
        return reason
    if len(context.classical.grid) == 1:
        return "the grid has one time only, and a plane of times and targets needs more"
    return None


def _plane(view: View, values: np.ndarray, name: str) -> pl.DataFrame:
    """Values[level, time] in long form, as rows of kind grid."""
    levels = EAF_LEVELS
    times = view.times
    targets = [view.scale.target(level) for level in levels]
    return pl.DataFrame(
        {
            "kind": "grid",
            "t": np.tile(times, len(levels)),
            "level": np.repeat(levels, len(times)),
            "target": [target for target in targets for _ in times],
            name: values.ravel(),
        },
        schema_overrides={"target": pl.Float64},
    )


def _contours(view: View, name: str) -> pl.DataFrame:
    """The lines that shares of the runs of an algorithm have attained, as rows of kind contour."""
    rows = [
        ("contour", name, t, level, percentile / 100)
        for percentile, line in view.eaf.contours[view.index(name)].items()
        for t, level in line.tolist()
    ]
    schema = {
        "kind": pl.String,
        "algorithm": pl.String,
        "t": pl.Float64,
        "level": pl.Float64,
        "share": pl.Float64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def data(context: ReportContext) -> pl.DataFrame:
    """For each algorithm the share of runs on a grid of the plane, and its quartile lines.

    ``kind`` is grid, or contour: from t on, until the next row, ``share`` of the runs have attained
    ``level``. Levels run from 0, the easiest target, to 1; ``target`` is null where the targets
    differ between instances.
    """
    view = context.classical
    frames = []
    for a, name in enumerate(view.algorithms):
        grid = _plane(view, view.eaf.attained[a], "share")
        frames.append(grid.with_columns(algorithm=pl.lit(name)))
        frames.append(_contours(view, name))
    columns = ("kind", "algorithm", "t", "level", "target", "share")
    return pl.concat(frames, how="diagonal").select(*columns)


def chart(data: pl.DataFrame, context: ReportContext) -> Chart:
    """A plane of times and targets for each algorithm, with its quartile lines."""
    names = names_in(data)
    drawn = names[:MAX_PANELS]
    panels = []
    for name in drawn:
        rows = data.filter(pl.col("algorithm") == name)
        words = ("share of runs {value}",)
        cells = _plane_cells(rows, "share", context, value_words=words, bar_title="share of runs")
        lines = [
            _contour(rows, share, width, dash, context, ink="alarm")
            for share, width, dash in QUARTILES
        ]
        panels.append(_plane_panel(cells, lines, (Title(name, name),), (name,), context))
    left_out = ""
    if len(drawn) < len(names):
        left_out = f"; {len(drawn)} of {len(names)} algorithms"
    note = f"lines: a quarter (dotted), half, three quarters (dashed) of runs{left_out}"
    columns = 4 if len(drawn) > 6 else 3
    return _chart_of_planes(panels, columns, 2, (note,), context)


def _chart_of_planes(
    panels: list[Panel],
    columns: int,
    narrow_columns: int,
    notes: tuple[str, ...],
    context: ReportContext,
    notes_in_print: tuple[str, ...] = (),
) -> Chart:
    return Chart(
        tuple(panels),
        context.labels,
        columns=columns,
        narrow_columns=narrow_columns,
        shares_axes=True,
        notes=notes,
        notes_in_print=notes_in_print,
    )


def _plane_panel(
    cells: Cells,
    lines: list[Line],
    titles: tuple[Title, ...],
    algorithms: tuple[str, ...],
    context: ReportContext,
) -> Panel:
    """A plane with targets from the easiest, at the top, to the hardest: a run goes down."""
    view = context.classical
    title = "distance to the optimum" if view.scale.has_common_targets else "progress"
    ticks = _target_ticks(view.scale)
    return Panel(
        x=time_axis(view.grid, context.log_times, view.axis),
        y=Axis(title, low=1.0, high=0.0, has_grid=False, ticks=ticks),
        series=(cells, *lines),
        titles=titles,
        aspect=0.6,
        algorithms=algorithms,
    )


def _plane_cells(
    data: pl.DataFrame,
    column: str,
    context: ReportContext,
    *,
    value_words: tuple[str, ...],
    least: float = 0.0,
    most: float = 1.0,
    ahead: tuple[str, ...] = (),
    bar_title: str = "",
) -> Cells:
    """A column of the data as colours; a level stands for the targets between it and the last."""
    grid = data.filter(pl.col("kind") == "grid").sort("level", "t")
    times = grid["t"].unique().sort().to_numpy()
    levels = grid["level"].unique().sort().to_numpy()
    axis = context.classical.axis
    return Cells(
        columns=edges(times, context.log_times),
        rows=np.concatenate([[0.0], levels]),
        values=grid[column].to_numpy().reshape(len(levels), len(times)),
        least=least,
        most=most,
        ahead=ahead,
        bar_title=bar_title,
        hover=([timed(t, axis) for t in times.tolist()],),
        value_words=value_words,
    )


def _contour(
    data: pl.DataFrame,
    share: float,
    width: float,
    dash: Dash,
    context: ReportContext,
    ink: Ink = "ink",
) -> Line:
    """The line that a share of the runs has attained, as steps to the end of the grid."""
    has_share = (pl.col("share") - share).abs() < 1e-9
    points = data.filter((pl.col("kind") == "contour") & has_share).sort("t")
    times = points["t"].to_list()
    levels = points["level"].to_list()
    if times:
        times = [times[0], *times, float(context.classical.grid[-1])]
        levels = [0.0, *levels, levels[-1]]
    return Line(x=times, y=levels, ink=ink, width=width, dash=dash, step="after")


def _target_ticks(scale: Scale) -> tuple[Tick, ...]:
    """Ticks at round targets: whole powers of ten, or even steps."""
    first = scale.target(0.0)
    last = scale.target(1.0)
    steps = (0.0, 0.25, 0.5, 0.75, 1.0)
    if first is None or last is None:
        words = ("worst", "0.25", "0.5", "0.75", "best")
        return tuple(Tick(step, text) for step, text in zip(steps, words, strict=True))
    if not scale.log:
        return tuple(Tick(step, tick(first + step * (last - first))) for step in steps)
    high, low = np.log10([first, last])
    powers = np.arange(np.floor(high + 1e-9), np.ceil(low - 1e-9) - 1, -1)
    stride = max(1, round(len(powers) / 6))
    return tuple(
        Tick(float((high - power) / (high - low)), power_of_ten(int(power)))
        for power in powers[::stride]
    )


def caption(context: ReportContext) -> str:
    return (
        "Empirical attainment function: the share of runs that have attained a target (down: "
        "harder) by a time, pooled over instances. Averaged over the targets it is the ECDF, and "
        f"averaged over time, too, the AOCC. {basis_words(context.classical)} Lines: a quarter "
        f"(dotted), half, and three quarters (dashed) of the runs. At most {MAX_PANELS} algorithms "
        "are drawn, the data has all."
    )


EAF = Figure("eaf", "Empirical attainment", caption, lacks_plane, data, chart)


MAX_PAIRS = 6
LEAST_REACH = 0.01  # the range of colours is at least this wide, since all differences may be zero


def pairs(context: ReportContext) -> list[tuple[str, str]]:
    """The requested pair; otherwise pairs of candidates; otherwise the best two by AOCC."""
    if context.comparison.pair is not None:
        return [context.comparison.pair]
    view = context.classical
    names = [name for name in view.algorithms if name in context.remaining]
    if len(names) < 2:
        names = [view.algorithms[a] for a in view.aocc.order()[:2]]
    return list(combinations(names, 2))[:MAX_PAIRS]


def difference_data(context: ReportContext) -> pl.DataFrame:
    """For each pair the difference of shares of runs on a grid of the plane, and median lines.

    ``difference`` is above 0 where a is ahead. Rows of kind contour hold the line that half of
    ``algorithm``'s runs have passed. ``instances`` counts those the pair has in common.
    """
    frames = []
    for a, b in pairs(context):
        view = context.classical_view((a, b))
        grid = _plane(view, view.eaf_difference(a, b), "difference")
        is_half = (pl.col("share") - 0.5).abs() < 1e-9
        lines = [_contours(view, name).filter(is_half) for name in (a, b)]
        frame = pl.concat([grid, *lines], how="diagonal").with_columns(
            a=pl.lit(a), b=pl.lit(b), instances=pl.lit(len(view.common.instances))
        )
        frames.append(frame)
    columns = ("a", "b", "instances", "kind", "algorithm", "t", "level", "target")
    return pl.concat(frames).select(*columns, "difference", "share")


def difference_chart(data: pl.DataFrame, context: ReportContext) -> Chart:
    """A plane for each pair, with the line that half of the runs of each have attained."""
    compared = data.select("a", "b", "instances").unique(maintain_order=True).rows()
    differences = data["difference"].fill_null(0.0).to_numpy()
    reach = max(float(np.nanmax(np.abs(differences))), LEAST_REACH)
    panels = []
    for a, b, instances in compared:
        rows = data.filter((pl.col("a") == a) & (pl.col("b") == b))
        words = tuple(
            f"{isolated(context.labels[name])} is ahead in {{value}} of the runs" for name in (a, b)
        )
        cells = _plane_cells(
            rows,
            "difference",
            context,
            value_words=words,
            least=-reach,
            most=reach,
            ahead=(a, b),
        )
        dashes: tuple[tuple[str, Dash], ...] = ((a, "dashed"), (b, "dotted"))
        lines = [
            _contour(rows.filter(pl.col("algorithm") == name), 0.5, 1.0, dash, context)
            for name, dash in dashes
        ]
        titles = (
            Title(a, a, "left"),
            Title(f"n = {instances}", side="center", is_small=True),
            Title(b, b, "right"),
        )
        panels.append(_plane_panel(cells, lines, titles, (a, b), context))
    columns = 2 if len(panels) in (2, 4) else 3
    attained = f"has attained it more often, at most by {percent_cell(reach)} of the runs"
    lines_words = "lines: what half of the runs have attained, dashed left, dotted right"
    return _chart_of_planes(
        panels,
        columns,
        1,
        (f"colour: the algorithm that {attained}", lines_words),
        context,
        notes_in_print=(f"dark: the left one {attained}", lines_words),
    )


def lacks_pairs(context: ReportContext) -> str | None:
    """Why there is no pair to draw."""
    reason = lacks_plane(context)
    if reason is None and len(context.classical.algorithms) < 2:
        return "a difference needs two algorithms, and one is compared"
    return reason


def difference_caption(context: ReportContext) -> str:
    words = context.classical.scale.words
    return (
        "Differences of empirical attainment functions: where in the plane of times and targets "
        "(down: harder) one of a pair has attained targets in more runs than the other, on the "
        f"instances these two have in common (n). {words[0].upper()}{words[1:]}. Each place has "
        "the colour of the one that is ahead. Lines: what half of the runs have attained, dashed "
        "of the left one, dotted of the right one."
    )


EAF_DIFFERENCE = Figure(
    "eaf-difference",
    "Attainment differences",
    difference_caption,
    lacks_pairs,
    difference_data,
    difference_chart,
)
