"""EAF: the share of runs that have attained each target by each time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.classical import View
from polarbear.report.context import ReportContext
from polarbear.report.figures.axes import edges, note_below, on_log_time, panel_grid, time_axis
from polarbear.report.figures.base import Figure
from polarbear.report.figures.ecdf import lacks_values, on_what
from polarbear.report.figures.style import Style
from polarbear.wording import power_of_ten, tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

ONE_TIME = "the grid has one time only, and a plane of times and targets needs more"


def lacks_plane(context: ReportContext) -> str | None:
    return lacks_values(context) or (ONE_TIME if len(context.times) == 1 else None)


def panel_style(style: Style, columns: int) -> Style:
    """The style for one of several panels side by side: its width is the panel's."""
    return style.model_copy(update={"width": 0.95 * style.width / columns})


def level_axis(axes: Axes, data: pl.DataFrame, label: bool = True) -> None:
    """Targets from the easiest, at the top, to the hardest: a run goes down as it gets better."""
    axes.set_ylim(1.0, 0.0)
    if data["target"].is_null().all():
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["worst", "0.25", "0.5", "0.75", "best"])
        if label:
            axes.set_ylabel("progress")
        return
    levels, targets = _targets(data)
    axes.set_yticks(levels, targets)
    if label:
        axes.set_ylabel("distance to the optimum")


def _targets(data: pl.DataFrame) -> tuple[list[float], list[str]]:
    """Ticks at round targets: whole powers of ten, or even steps."""
    ends = data.filter(pl.col("kind") == "grid").sort("level")
    level, target = ends["level"].to_numpy(), ends["target"].to_numpy()
    low, high = (float(level[0]), float(target[0])), (float(level[-1]), float(target[-1]))
    middle = float(target[len(target) // 2])
    is_log = middle < 0.4 * (low[1] + high[1]) and high[1] > 0
    if not is_log:
        slope = (high[1] - low[1]) / (high[0] - low[0])
        easiest = low[1] - slope * low[0]
        steps = [0.0, 0.25, 0.5, 0.75, 1.0]
        return steps, [tick(easiest + slope * step) for step in steps]
    slope = (np.log10(high[1]) - np.log10(low[1])) / (high[0] - low[0])
    first = np.log10(low[1]) - slope * low[0]
    last = first + slope
    powers = np.arange(np.floor(first + 1e-9), np.ceil(last - 1e-9) - 1, -1)
    powers = powers[:: max(1, round(len(powers) / 6))]
    words = [power_of_ten(int(power)) for power in powers]
    return [float((power - first) / slope) for power in powers], words


MAX_PANELS = 12
LINES = {25.0: (0.6, ":"), 50.0: (1.2, "-"), 75.0: (0.6, "--")}


def data(context: ReportContext) -> pl.DataFrame:
    """For each algorithm the share of runs on a grid of the plane, and its quartile lines.

    ``kind`` is grid, or contour: from t on, until the next row, ``share`` of the runs have attained
    ``level``. Levels run from 0, the easiest target, to 1; ``target`` is null where the targets
    differ between instances.
    """
    view = context.classical
    frames = []
    for a, name in enumerate(view.algorithms):
        frames.append(
            plane(view, view.eaf.attained[a]).select(
                pl.lit("grid").alias("kind"), pl.lit(name).alias("algorithm"), pl.all()
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
    """The edges of cells: a level stands for the targets from the one before up to it."""
    return np.concatenate([[0.0], levels])


def draw(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    names = data["algorithm"].unique(maintain_order=True).to_list()
    shown = names[:MAX_PANELS]
    columns = _columns(len(shown), style)
    height = max(1.5, 0.72 * style.width / columns)
    panels = panel_grid(canvas, len(shown), columns, height, style, 0.35, share=True)
    shades = LinearSegmentedColormap.from_list("shares", style.inks.shades)
    short = style.names(context.labels, shown, 0.8 / columns)
    last_row = (len(shown) - 1) // columns
    for place, (axes, name) in enumerate(zip(panels, shown, strict=True)):
        mine = data.filter(pl.col("algorithm") == name)
        times, levels, share = grid_of(mine, "share")
        cells = edges(times, on_log_time(context, style)), level_edges(levels), share
        image = axes.pcolormesh(*cells, cmap=shades, vmin=0, vmax=1, rasterized=True)
        contour_lines(axes, mine, style.inks.alarm, float(times[-1]))
        time_axis(axes, context, panel_style(style, columns), label=place // columns == last_row)
        axes.tick_params(axis="x", labelbottom=place + columns >= len(shown))
        level_axis(axes, data, label=place % columns == 0)
        look = style.look(context.colour_index(name))
        axes.set_title(short[name], color=look.text, fontsize=style.font_size, pad=3)
    bar = canvas.colorbar(image, ax=panels, fraction=0.03, pad=0.02, aspect=30)
    bar.set_label("share of runs")
    bar.outline.set_visible(False)
    rest = f"; {len(shown)} of {len(names)} algorithms" if len(shown) < len(names) else ""
    words = f"lines: a quarter (dotted), half, three quarters (dashed) of runs{rest}"
    note_below(canvas, words, style)


def _columns(panels: int, style: Style) -> int:
    """The number of columns that are wide enough and leave the fewest places empty."""
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
        x, y = [t[0], *t, last], [0.0, *level, level[-1]]
        axes.step(x, y, where="post", color=colour, linewidth=width, linestyle=dash)


def caption(context: ReportContext) -> str:
    return (
        "Empirical attainment function: the share of runs that have attained a target (down: "
        "harder) by a time, pooled over instances. Averaged over the targets it is the ECDF, and "
        f"averaged over time, too, the AOCC. {on_what(context.classical)}"
    )


EAF = Figure("eaf", "Empirical attainment", caption, lacks_plane, data, draw)
