"""The runs on one instance drawn: the best value so far of each algorithm, over time.

It shows one instance and is drawn where that is asked for (`polarbear show --instance --png`);
figures in the registry show a store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from polarbear.driver.inspect import InstanceRuns
from polarbear.report.drawing.axes import note_below, number_ticks
from polarbear.report.drawing.files import save, styled
from polarbear.report.drawing.style import Style
from polarbear.wording import tick

LOG_FROM = 100.0  # values that span this factor, none of them negative, are drawn on a log scale


def floor_of(values: Sequence[float]) -> float | None:
    """Where zero stands on a log scale of these values; None if a linear one shows them better."""
    positive = [value for value in values if value > 0]
    if not positive or min(values) < 0 or max(positive) <= LOG_FROM * min(positive):
        return None
    return min(positive) if min(values) > 0 else min(positive) / 10


def draw_runs(
    told: InstanceRuns, labels: Mapping[str, str], log_time: bool, path: Path, format: str
) -> None:
    """Write the figure.

    ``labels`` are those of all algorithms of the store, in the order of their looks.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    style = Style()
    with styled(style):
        figure = Figure(figsize=(style.width, 0.55 * style.width), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        values = [y for run in told.runs for y in run.y]
        floor = floor_of(values)
        log_values = floor is not None
        for run in told.runs:
            if not run.t:
                continue
            best = [max(y, floor or y) for y in run.y]
            look = style.look(list(labels).index(run.algorithm))
            end = max(run.reached, run.t[-1])
            axes.step(
                [*run.t, end],
                [*best, best[-1]],
                where="post",
                color=look.colour,
                linestyle=look.dash,
                label=labels[run.algorithm],
            )
        starts = [run.t[0] for run in told.runs if run.t]
        log_time = log_time and min(starts, default=0.0) > 0
        axes.set_xscale("log" if log_time else "linear")
        axes.set_yscale("log" if log_values else "linear")
        axes.set_xlim(min(starts, default=0.0), told.times[-1])
        number_ticks(axes, "x", log_time, axes.get_xlim(), style)
        number_ticks(axes, "y", log_values, axes.get_ylim(), style)
        axes.set_xlabel(told.axis)
        axes.set_ylabel(f"best value so far ({told.better})")
        axes.set_title(told.instance)
        if values:
            axes.legend(loc="best")
        if floor is not None and min(values) == 0:
            note_below(figure, f"zero is drawn at {tick(floor)}", style)
        save(figure, path, format, style)
