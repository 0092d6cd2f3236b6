"""The figure of `select --cross-validate --png`: scores over time, and predicted first places."""

from pathlib import Path

import numpy as np

from polarbear.config.stored_settings import StoredSettings
from polarbear.report.figures.chart import Axis, Chart, Line, Panel, Title, time_axis
from polarbear.report.figures.on_demand import write_chart
from polarbear.report.figures.style import Style
from polarbear.selection.cross_validation import CrossValidation

SINGLE_BEST = "single best"
WITHOUT = "choice without features"
WITH = "choice with features"
VIRTUAL_BEST = "virtual best"


def draw_scores(scores: CrossValidation, settings: StoredSettings, path: Path) -> None:
    """Write the figure, in the format of the ending of the file's name."""
    times = [budget.t for budget in scores.budgets]
    curves = {
        SINGLE_BEST: [budget.single_best for budget in scores.budgets],
        WITHOUT: [budget.without_features for budget in scores.budgets],
        VIRTUAL_BEST: [budget.virtual_best for budget in scores.budgets],
    }
    if scores.features:
        curves[WITH] = [budget.choice for budget in scores.budgets]
    lines = tuple(
        Line(x=times, y=curve, algorithm=name, is_named=True) for name, curve in curves.items()
    )
    over_time = Panel(
        x=time_axis(np.array(times), settings.budget.suits_log_axis, scores.axis),
        y=Axis("share of the others beaten"),
        series=lines,
        titles=(Title(scores.verdict, is_small=True),),
    )
    diagonal = Line(x=(0, 1), y=(0, 1), ink="faint", width=0.8)
    bins = scores.reliability
    points = Line(
        x=[row.predicted for row in bins],
        y=[row.observed for row in bins],
        low=[max(row.observed - 2 * row.error, 0) for row in bins],
        high=[min(row.observed + 2 * row.error, 1) for row in bins],
        marker="dot",
    )
    reliability = Panel(
        x=Axis("predicted share of first places", 0, 1),
        y=Axis("observed", 0, 1),
        series=(diagonal, points),
    )
    labels = {name: name for name in curves}
    chart = Chart((over_time, reliability), labels, legend="below")
    style = Style(width=8.0, dpi=150, font_size=10.0)
    write_chart(chart, style, path, path.suffix[1:] or "png")
