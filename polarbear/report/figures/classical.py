"""What the figures of the classical view share: why there is none, and the axis of targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.classical import View
from polarbear.errors import ReportError
from polarbear.report.context import ReportContext
from polarbear.report.drawing.style import Style
from polarbear.wording import counted, power_of_ten, tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ONE_TIME = "the grid has one time only, and a plane of times and targets needs more"


def lacks_values(context: ReportContext) -> str | None:
    """Why the store has no classical view."""
    try:
        _ = context.classical
    except ReportError as error:
        return str(error)
    return None


def lacks_plane(context: ReportContext) -> str | None:
    return lacks_values(context) or (ONE_TIME if len(context.times) == 1 else None)


def on_what(view: View) -> str:
    """On how many instances, and on which scale, in a sentence or two."""
    instances = counted(len(view.common.instances), "instance")
    words = view.scale.words
    return f"On {instances} that all of them ran to the end. {words[0].upper()}{words[1:]}."


def panel_style(style: Style, columns: int) -> Style:
    """The style of one of several panels side by side: as wide as the panel is."""
    return style.model_copy(update={"width": 0.95 * style.width / columns})


def level_axis(axes: Axes, data: pl.DataFrame, style: Style, label: bool = True) -> None:
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
