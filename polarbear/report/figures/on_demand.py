"""Figures of one command each, outside of the registry.

They show the runs on one instance (`show --instance --png`), the duels of a pair (`show --pair
--png`) and a sweep over preferences (`select --sweep --png`).
"""

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

import numpy as np
import polars as pl

from polarbear.config.stored_settings import StoredSettings
from polarbear.errors import ReportError
from polarbear.facts.run_details import Duels, InstanceRuns
from polarbear.report.figures.best_algorithm import leaders_chart
from polarbear.report.figures.canvas_renderer import draw_chart
from polarbear.report.figures.chart import (
    Axis,
    Chart,
    Line,
    Panel,
    Points,
    Series,
    Title,
    time_axis,
)
from polarbear.report.figures.figure_files import on_canvas, saved
from polarbear.report.figures.short_names import labels_in
from polarbear.report.figures.style import Style
from polarbear.selection.sweeps import SweepTable
from polarbear.wording import counted, timed

LEAST_FACTOR_FOR_LOG = 100.0  # between values that have a log scale, if none is negative


def _height_of_zero(values: Sequence[float]) -> float | None:
    """Where zero is drawn on a log scale of values; None where a linear scale is better."""
    positive = [value for value in values if value > 0]
    if not positive or min(values) < 0:
        return None
    if max(positive) <= LEAST_FACTOR_FOR_LOG * min(positive):
        return None
    return min(positive) if min(values) > 0 else min(positive) / 10


def _note_on_zero(zero: float | None, values: Sequence[float]) -> list[str]:
    """Where zero is drawn, if it is, on a log scale."""
    if zero is None or min(values) != 0:
        return []
    return [f"zero is drawn at {zero:.2g}"]


def write_chart(chart: Chart, style: Style, path: Path, format: str) -> None:
    """Draw a chart and write it to a file."""
    with on_canvas(style) as canvas:
        draw_chart(canvas, chart, style)
        try:
            path.write_bytes(saved(canvas, style, format))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise ReportError(f"cannot write the figure {path}: {reason}") from None


def draw_runs(of_instance: InstanceRuns, settings: StoredSettings, path: Path, format: str) -> None:
    """Write the runs on an instance, with the labels and the grid of a configuration."""
    runs = [run for run in of_instance.runs if run.feasible_points()]
    values = [y for run in runs for _, y in run.feasible_points()]
    zero = _height_of_zero(values)
    lines = []
    for run, next_run in zip_longest(runs, runs[1:]):
        points = run.feasible_points()
        times = [t for t, _ in points]
        best = [max(y, zero or y) for _, y in points]
        line = Line(
            x=[*times, max(run.reached, times[-1])],
            y=[*best, best[-1]],
            algorithm=run.algorithm,
            step="after",
            # Of a contract algorithm the run with the largest budget has its name.
            is_named=next_run is None or next_run.algorithm != run.algorithm,
        )
        lines.append(line)
    start = min((run.feasible_points()[0][0] for run in runs), default=0.0)
    is_log = settings.budget.suits_log_axis and start > 0
    panel = Panel(
        x=Axis(of_instance.axis, start, of_instance.times[-1], is_log, has_grid=False),
        y=Axis(
            f"best {of_instance.value_words} so far ({of_instance.better})",
            is_log=zero is not None,
            has_grid=False,
        ),
        series=tuple(lines),
        titles=(Title(of_instance.instance),),
        aspect=0.45,
    )
    notes = tuple(_note_on_zero(zero, values))
    write_chart(
        Chart((panel,), labels_in(settings), legend="beside", notes=notes), Style(), path, format
    )


def draw_duels(duels: Duels, settings: StoredSettings, path: Path, format: str) -> None:
    """Write the duels of a pair, with the labels of a configuration."""
    style = Style(width=5.0)
    labels = labels_in(settings)
    finished = [
        (duel.a, duel.b, duel.winner)
        for duel in duels.duels
        if duel.a is not None and duel.b is not None
    ]
    values = [value for a, b, _ in finished for value in (a, b)]
    zero = _height_of_zero(values)
    points: list[Series] = []
    counts = []
    for winner in (duels.a, duels.b, None):
        won = [(a, b) for a, b, who_won in finished if who_won == winner]
        points.append(
            Points(
                x=[max(a, zero or a) for a, _ in won],
                y=[max(b, zero or b) for _, b in won],
                algorithm=winner or "",
                ink="faint",
                marker="own" if winner else "cross",
            )
        )
        counts.append(f"{labels[winner] if winner else 'tie'}: {len(won)}")
    low, high = _limits(values, zero)
    diagonal = Line(x=(low, high), y=(low, high), ink="faint", width=0.8)
    panel = Panel(
        x=Axis(labels[duels.a], low, high, zero is not None, has_grid=False),
        y=Axis(labels[duels.b], low, high, zero is not None, has_grid=False),
        series=(diagonal, *points),
        titles=(Title(f"at {timed(duels.t, duels.axis)}; {duels.better}"),),
        aspect=0.85,
    )
    notes = [f"wins: {', '.join(counts)}"] if finished else []
    n_missing = len(duels.duels) - len(finished)
    if n_missing:
        notes.append(f"not drawn, without a value: {counted(n_missing, 'instance')}")
    notes += _note_on_zero(zero, values)
    chart = Chart((panel,), labels, notes=("; ".join(notes),) if notes else ())
    write_chart(chart, style, path, format)


def _limits(values: Sequence[float], zero: float | None) -> tuple[float, float]:
    """The limits of both axes of duels, with a margin on the scale of the axes."""
    if not values:
        return 0.0, 1.0
    low = max(min(values), zero or min(values))
    high = max(values)
    if zero is not None:
        return low / 1.3, high * 1.3
    margin = 0.05 * (high - low) or 0.5
    return low - margin, high + margin


def draw_sweep(sweep: SweepTable, settings: StoredSettings, title: str, path: Path) -> None:
    """Write P(best) over a sweep of preferences, in the format of the ending of the file's name."""
    positions = np.array(sweep.positions)
    data = pl.DataFrame(
        {
            "t": np.tile(positions, len(sweep.p2bb)),
            "algorithm": [name for name in sweep.p2bb for _ in positions],
            "p_best": np.concatenate(list(sweep.p2bb.values())),
            "leads": [choice == name for name in sweep.p2bb for choice in sweep.choices],
        }
    )
    is_log = settings.budget.suits_log_axis
    axis = time_axis(positions, is_log, sweep.over)
    chart = leaders_chart(data, labels_in(settings), axis, "choice", title)
    style = Style(width=8.0, dpi=150, font_size=10.0)
    write_chart(chart, style, path, path.suffix[1:] or "png")
