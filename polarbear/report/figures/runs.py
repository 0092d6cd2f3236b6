"""The runs on one instance drawn: the best value so far of each algorithm, over time.

It shows one instance and is drawn where that is asked for (`polarbear show --instance --png`);
figures in the registry show a store.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from polarbear.driver.looking import InstanceRuns
from polarbear.report.drawing.axes import number_ticks
from polarbear.report.drawing.files import save, styled
from polarbear.report.drawing.style import Style

LOG_FROM = 100.0  # values that span this factor, and are all above zero, are drawn on a log scale


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
        for run in told.runs:
            if not run.t:
                continue
            look = style.look(list(labels).index(run.algorithm))
            end = max(run.reached, run.t[-1])
            axes.step(
                [*run.t, end],
                [*run.y, run.y[-1]],
                where="post",
                color=look.colour,
                linestyle=look.dash,
                label=labels[run.algorithm],
            )
        values = [y for run in told.runs for y in run.y]
        log_values = bool(values) and min(values) > 0 and max(values) > LOG_FROM * min(values)
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
        save(figure, path, format, style)
