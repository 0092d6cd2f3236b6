"""Figures that are drawn when a command asks for them, outside of the registry.

They show the runs on one instance (`show --instance --png`), the duels of a pair (`show --pair
--png`) and a sweep over preferences (`select --sweep --png`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from polarbear.driver.inspect import Duels, InstanceRuns
from polarbear.errors import SelectionError
from polarbear.report.drawing.axes import note_below, number_ticks
from polarbear.report.drawing.files import save, styled
from polarbear.report.drawing.palette import look
from polarbear.report.drawing.style import Style
from polarbear.selection.sweeps import SweepTable
from polarbear.wording import P_BEST, counted, tick, timed

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


def draw_duels(told: Duels, labels: Mapping[str, str], path: Path, format: str) -> None:
    """Write the figure; ``labels`` are those of all algorithms, in the order of their looks."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    style = Style(width=5.0)
    looks = {name: style.look(list(labels).index(name)) for name in (told.a, told.b)}
    with styled(style):
        figure = Figure(figsize=(style.width, style.width), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        both = [
            (duel.a, duel.b, duel.winner)
            for duel in told.duels
            if duel.a is not None and duel.b is not None
        ]
        values = [value for a, b, _ in both for value in (a, b)]
        floor = floor_of(values)
        is_log = floor is not None
        for winner in (told.a, told.b, None):
            points = [
                (max(a, floor or a), max(b, floor or b)) for a, b, who in both if who == winner
            ]
            look = None if winner is None else looks[winner]
            axes.plot(
                [a for a, _ in points],
                [b for _, b in points],
                linestyle="none",
                marker=look.marker if look else "x",
                color=look.colour if look else style.inks.faint,
                label=f"{labels[winner] if winner else 'tie'}: {len(points)}",
            )
        axes.set_xscale("log" if is_log else "linear")
        axes.set_yscale("log" if is_log else "linear")
        low = min(axes.get_xlim()[0], axes.get_ylim()[0])
        high = max(axes.get_xlim()[1], axes.get_ylim()[1])
        axes.plot([low, high], [low, high], color=style.inks.faint, linewidth=0.8, zorder=0)
        axes.set(xlim=(low, high), ylim=(low, high), aspect="equal")
        number_ticks(axes, "x", is_log, (low, high), style)
        number_ticks(axes, "y", is_log, (low, high), style)
        axes.set_xlabel(labels[told.a], color=looks[told.a].text)
        axes.set_ylabel(labels[told.b], color=looks[told.b].text)
        axes.set_title(f"at {timed(told.t, told.axis)}; {told.better}")
        if both:
            axes.legend(loc="best", title="wins")
        unfound = len(told.duels) - len(both)
        notes = [f"not drawn, without a value: {counted(unfound, 'instance')}"] if unfound else []
        if floor is not None and min(values) == 0:
            notes.append(f"zero is drawn at {tick(floor)}")
        if notes:
            note_below(figure, "; ".join(notes), style)
        save(figure, path, format, style)


def draw_sweep(
    sweep: SweepTable, is_log: bool, labels: Mapping[str, str], title: str, path: Path
) -> None:
    """Write the figure; the ending of the file's name says in which format.

    ``labels`` are those of all algorithms of the store, in the order of their looks.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    places = list(labels)
    looks = {name: look(places.index(name)) for name in sweep.p2bb}
    figure = Figure(figsize=(8, 4.5), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    axes, band = figure.subplots(2, 1, sharex=True, height_ratios=[12, 1])
    positions = sweep.positions
    for name, p2bb in sweep.p2bb.items():
        axes.plot(
            positions,
            p2bb,
            color=looks[name].colour,
            linestyle=looks[name].dash,
            label=labels[name],
        )
    intervals = sweep.intervals
    ends = [(one.to + other.from_) / 2 for one, other in pairwise(intervals)]
    starts, stops = [positions[0], *ends], [*ends, positions[-1]]
    for one, start, stop in zip(intervals, starts, stops, strict=True):
        band.axvspan(start, stop, facecolor=looks[one.choice].colour, linewidth=0)
    axes.set_title(title, fontsize=10)
    axes.set_ylabel(P_BEST)
    axes.set_ylim(0, 1)
    for text in axes.legend(fontsize=8, loc="best", frameon=False).get_texts():
        text.set_parse_math(False)  # names are names, not formulas
    band.set_yticks([])
    band.set_ylabel("choice", rotation=0, ha="right", va="center", fontsize=8)
    band.set_xlabel(sweep.over, parse_math=False)
    if is_log and positions[0] > 0:
        band.set_xscale("log")
    band.set_xlim(positions[0], positions[-1])
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SelectionError(f"cannot write the figure {path}: {reason}") from None
