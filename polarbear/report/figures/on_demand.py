"""Figures of one command each, outside of the registry.

They show the runs on one instance (`show --instance --png`), the duels of a pair (`show --pair
--png`) and a sweep over preferences (`select --sweep --png`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from polarbear.driver.inspect import Duels, InstanceRuns
from polarbear.errors import ReportError
from polarbear.report.figures.figure_files import on_canvas
from polarbear.report.figures.plotting import note_below, number_ticks
from polarbear.report.figures.style import Keywords, Style
from polarbear.selection.sweeps import SweepTable
from polarbear.wording import P_BEST, counted, timed

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

LOG_FROM = 100.0  # values that span this factor, none of them negative, have a log scale


def _floor(values: Sequence[float]) -> float | None:
    """The place of zero on a log scale of these values; None where a linear scale is better."""
    positive = [value for value in values if value > 0]
    if not positive or min(values) < 0 or max(positive) <= LOG_FROM * min(positive):
        return None
    return min(positive) if min(values) > 0 else min(positive) / 10


def _zero_note(floor: float | None, values: Sequence[float]) -> list[str]:
    return [f"zero is drawn at {floor:.2g}"] if floor is not None and min(values) == 0 else []


@contextmanager
def _written(style: Style, height: float, path: Path, format: str | None) -> Iterator[Canvas]:
    """A canvas that is written to a file in the end; without a format, in that of its ending."""
    with on_canvas(style) as canvas:
        canvas.set_size_inches(style.width, height)
        yield canvas
        try:
            canvas.savefig(path, dpi=style.dpi, format=format)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise ReportError(f"cannot write the figure {path}: {reason}") from None


def draw_runs(
    found: InstanceRuns, labels: Mapping[str, str], log_time: bool, path: Path, format: str
) -> None:
    """Write the runs on an instance; ``labels`` has all algorithms, in the order of their looks."""
    style = Style()
    with _written(style, 0.55 * style.width, path, format) as figure:
        axes = figure.subplots()
        runs = [run for run in found.runs if run.t]
        values = [y for run in runs for y in run.y]
        floor = _floor(values)
        for run in runs:
            look = style.look(list(labels).index(run.algorithm))
            best = [max(y, floor or y) for y in run.y]
            x, y = [*run.t, max(run.reached, run.t[-1])], [*best, best[-1]]
            axes.step(x, y, where="post", **look.line, label=labels[run.algorithm])
        start = min((run.t[0] for run in runs), default=0.0)
        axes.set_xlim(start, found.times[-1])
        axes.set_xscale("log" if log_time and start > 0 else "linear")
        axes.set_yscale("linear" if floor is None else "log")
        for axis in (axes.xaxis, axes.yaxis):
            number_ticks(axis, style)
        axes.set_xlabel(found.axis)
        axes.set_ylabel(f"best value so far ({found.better})")
        axes.set_title(found.instance)
        if runs:
            axes.legend(loc="best")
        for note in _zero_note(floor, values):
            note_below(figure, note, style)


def draw_duels(found: Duels, labels: Mapping[str, str], path: Path, format: str) -> None:
    """Write the duels of a pair; ``labels`` has all algorithms, in the order of their looks."""
    style = Style(width=5.0)
    looks = {name: style.look(list(labels).index(name)) for name in (found.a, found.b)}
    with _written(style, style.width, path, format) as figure:
        axes = figure.subplots()
        both = [
            (duel.a, duel.b, duel.winner)
            for duel in found.duels
            if duel.a is not None and duel.b is not None
        ]
        values = [value for a, b, _ in both for value in (a, b)]
        floor = _floor(values)
        for winner in (found.a, found.b, None):
            won = [(max(a, floor or a), max(b, floor or b)) for a, b, w in both if w == winner]
            points: Keywords = {"linestyle": "none", "marker": "x", "color": style.inks.faint}
            if winner is not None:
                points |= {"marker": looks[winner].marker, "color": looks[winner].colour}
            label = f"{labels[winner] if winner else 'tie'}: {len(won)}"
            axes.plot([a for a, _ in won], [b for _, b in won], **points, label=label)
        scale = "linear" if floor is None else "log"
        axes.set(xscale=scale, yscale=scale)
        low = min(axes.get_xlim()[0], axes.get_ylim()[0])
        high = max(axes.get_xlim()[1], axes.get_ylim()[1])
        axes.plot([low, high], [low, high], color=style.inks.faint, linewidth=0.8, zorder=0)
        axes.set(xlim=(low, high), ylim=(low, high), aspect="equal")
        for axis in (axes.xaxis, axes.yaxis):
            number_ticks(axis, style)
        axes.set_xlabel(labels[found.a], color=looks[found.a].text)
        axes.set_ylabel(labels[found.b], color=looks[found.b].text)
        axes.set_title(f"at {timed(found.t, found.axis)}; {found.better}")
        if both:
            axes.legend(loc="best", title="wins")
        unfound = len(found.duels) - len(both)
        notes = [f"not drawn, without a value: {counted(unfound, 'instance')}"] if unfound else []
        if notes := notes + _zero_note(floor, values):
            note_below(figure, "; ".join(notes), style)


def draw_sweep(
    sweep: SweepTable, is_log: bool, labels: Mapping[str, str], title: str, path: Path
) -> None:
    """Write P(best) over a sweep of preferences, in the format of the ending of the file's name.

    ``labels`` has all algorithms of the store, in the order of their looks.
    """
    style = Style(width=8.0, dpi=150, font_size=10.0)
    looks = {name: style.look(list(labels).index(name)) for name in sweep.p2bb}
    with _written(style, 4.5, path, None) as figure:
        axes, band = figure.subplots(2, 1, sharex=True, height_ratios=[12, 1])
        positions = sweep.positions
        for name, p2bb in sweep.p2bb.items():
            axes.plot(positions, p2bb, **looks[name].line, label=labels[name])
        intervals = sweep.intervals
        ends = [(one.to + other.from_) / 2 for one, other in pairwise(intervals)]
        starts, stops = [positions[0], *ends], [*ends, positions[-1]]
        for one, start, stop in zip(intervals, starts, stops, strict=True):
            band.axvspan(start, stop, facecolor=looks[one.choice].colour, linewidth=0)
        axes.set_title(title)
        axes.set_ylabel(P_BEST)
        axes.set_ylim(0, 1)
        axes.legend(loc="best")
        band.set_yticks([])
        band.set_ylabel("choice", rotation=0, ha="right", va="center", fontsize=style.small)
        band.set_xlabel(sweep.over)
        if is_log and positions[0] > 0:
            band.set_xscale("log")
        band.set_xlim(positions[0], positions[-1])
