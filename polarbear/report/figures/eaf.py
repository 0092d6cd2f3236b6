"""EAF: how many runs have attained which target by which time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.classical import View
from polarbear.report.context import ReportContext
from polarbear.report.drawing.axes import edges, note_below, on_log_time, time_axis
from polarbear.report.drawing.style import Style
from polarbear.report.figures.base import Figure
from polarbear.report.figures.classical import lacks_plane, level_axis, on_what, panel_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

MOST = 12  # panels
LINES = {25.0: (0.6, ":"), 50.0: (1.2, "-"), 75.0: (0.6, "--")}


def data(context: ReportContext) -> pl.DataFrame:
    """For each algorithm the share of runs on a grid of the plane, and its quartile lines.

    ``kind`` is grid, or contour: from t on, until the next row, ``share`` of the runs have attained
    ``level``. Levels run from 0, the easiest target, to 1; ``target`` is null where instances have
    targets of their own.
    """
    view = context.classical
    frames = []
    for a, name in enumerate(view.algorithms):
        frames.append(
            plane(view, view.eaf.attained[a]).select(
                pl.lit("grid").alias("kind"),
                pl.lit(name).alias("algorithm"),
                "t",
                "level",
                "target",
                "share",
            )
        )
        frames.append(contour_rows(view, name))
    return pl.concat(frames)


def plane(view: View, values: np.ndarray) -> pl.DataFrame:
    """Values[level, time] in long form, as ``share``."""
    levels, times = view.eaf.levels, view.eaf.times
    targets = [view.scale.target(level) for level in levels]
    return pl.DataFrame(
        {
            "t": np.tile(times, len(levels)),
            "level": np.repeat(levels, len(times)),
            "target": [target for target in targets for _ in times],
            "share": values.ravel(),
        },
        schema_overrides={"target": pl.Float64},
    )


def contour_rows(view: View, name: str) -> pl.DataFrame:
    rows = [
        {"kind": "contour", "algorithm": name, "t": t, "level": level, "share": percentile / 100}
        for percentile, line in view.contours(name).items()
        for t, level in line.tolist()
    ]
    schema = {"kind": pl.String, "algorithm": pl.String, "t": pl.Float64, "level": pl.Float64}
    made = pl.DataFrame(rows, schema={**schema, "share": pl.Float64})
    target = pl.lit(None, pl.Float64).alias("target")
    return made.select("kind", "algorithm", "t", "level", target, "share")


def grid_of(data: pl.DataFrame, value: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, levels and values[level, time] of a plane in long form."""
    rows = data.filter(pl.col("kind") == "grid").sort("level", "t")
    times, levels = (rows[name].unique().sort().to_numpy() for name in ("t", "level"))
    return times, levels, rows[value].to_numpy().reshape(len(levels), len(times))


def level_edges(levels: np.ndarray) -> np.ndarray:
    """A level stands for the targets up to it, down from the one before."""
    return np.concatenate([[0.0], levels])


def draw(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    names = data["algorithm"].unique(maintain_order=True).to_list()
    shown = names[:MOST]
    columns = _columns(len(shown), style)
    rows = -(-len(shown) // columns)
    canvas.set_size_inches(style.width, rows * max(1.5, 0.72 * style.width / columns) + 0.35)
    grid = canvas.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    panels = list(grid.ravel())
    shades = LinearSegmentedColormap.from_list("shares", style.inks.shades)
    short = style.names(context.labels, shown, 0.8 / columns)
    for place, (axes, name) in enumerate(zip(panels, shown, strict=False)):
        mine = data.filter(pl.col("algorithm") == name)
        times, levels, share = grid_of(mine, "share")
        borders = edges(times, on_log_time(context, style))
        image = axes.pcolormesh(
            borders, level_edges(levels), share, cmap=shades, vmin=0, vmax=1, rasterized=True
        )
        contour_lines(axes, mine, style.inks.alarm, float(times[-1]))
        below = place + columns >= len(shown)
        time_axis(axes, context, panel_style(style, columns), label=place // columns == rows - 1)
        axes.tick_params(axis="x", labelbottom=below)
        level_axis(axes, data, style, label=place % columns == 0)
        look = style.look(context.colour_index(name))
        axes.set_title(short[name], color=look.text, fontsize=style.font_size, pad=3)
    for axes in panels[len(shown) :]:
        axes.remove()
    bar = canvas.colorbar(image, ax=panels[: len(shown)], fraction=0.03, pad=0.02, aspect=30)
    bar.set_label("share of runs")
    bar.outline.set_visible(False)
    rest = f"; {len(shown)} of {len(names)} algorithms" if len(shown) < len(names) else ""
    note_below(
        canvas, f"lines: a quarter (dotted), half, three quarters (dashed) of runs{rest}", style
    )


def _columns(panels: int, style: Style) -> int:
    """As many as are wide enough, with the fewest places left empty."""
    choices = (2,) if style.width < 5 else (4, 3, 2)
    fitting = [columns for columns in choices if columns <= panels] or [1]
    return min(fitting, key=lambda columns: (-panels % columns, -columns))


def contour_lines(
    axes: Axes,
    data: pl.DataFrame,
    colour: str,
    last: float,
    styles: dict[float, tuple[float, str]] = LINES,
) -> None:
    """Quartile lines as steps that go on to the end of the grid."""
    lines = data.filter(pl.col("kind") == "contour")
    for percentile, (width, dash) in styles.items():
        line = lines.filter((pl.col("share") - percentile / 100).abs() < 1e-9).sort("t")
        if line.is_empty():
            continue
        t, level = line["t"].to_list(), line["level"].to_list()
        axes.step(
            [t[0], *t, last], [0.0, *level, level[-1]], where="post", color=colour,
            linewidth=width, linestyle=dash,
        )  # fmt: skip


def caption(context: ReportContext) -> str:
    return (
        "Empirical attainment function: the share of runs that have attained a target (down: "
        "harder) by a time, pooled over instances. Averaged over the targets it is the ECDF, and "
        f"averaged over time, too, the AOCC. {on_what(context.classical)}"
    )


EAF = Figure("eaf", "Empirical attainment", caption, lacks_plane, data, draw)
