"""Figures of one command each, outside of the registry.

They show the runs on one instance (`show --instance --png`), the duels of a pair (`show --pair
--png`) and a sweep over preferences (`select --sweep --png`).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from polarbear.config.stored_settings import StoredSettings
from polarbear.errors import ReportError
from polarbear.facts.run_details import Duels, InstanceRuns
from polarbear.report.figures.best_algorithm import draw_leaders
from polarbear.report.figures.figure_files import on_canvas, saved
from polarbear.report.figures.sheet import Sheet
from polarbear.report.figures.short_names import labels_in
from polarbear.report.figures.style import Keywords, Style
from polarbear.selection.sweeps import SweepTable
from polarbear.wording import counted, timed

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
def _written(style: Style, settings: StoredSettings, path: Path, format: str) -> Iterator[Sheet]:
    """A sheet with the labels of a configuration, which is written to a file in the end."""
    with on_canvas(style) as canvas:
        yield Sheet(canvas, style, labels_in(settings))
        try:
            path.write_bytes(saved(canvas, style, format))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise ReportError(f"cannot write the figure {path}: {reason}") from None


def draw_runs(found: InstanceRuns, settings: StoredSettings, path: Path, format: str) -> None:
    """Write the runs on an instance, with the labels and the grid of a configuration."""
    style, log_time = Style(), settings.budget.suits_log_axis
    with _written(style, settings, path, format) as sheet:
        axes, labels = sheet.panel(0.55 * style.width), sheet.labels
        runs = [run for run in found.runs if run.t]
        values = [y for run in runs for y in run.y]
        floor = _floor(values)
        for run in runs:
            best = [max(y, floor or y) for y in run.y]
            x, y = [*run.t, max(run.reached, run.t[-1])], [*best, best[-1]]
            axes.step(
                x, y, where="post", **sheet.look(run.algorithm).line, label=labels[run.algorithm]
            )
        start = min((run.t[0] for run in runs), default=0.0)
        axes.set_xlim(start, found.times[-1])
        axes.set_xscale("log" if log_time and start > 0 else "linear")
        axes.set_yscale("linear" if floor is None else "log")
        for axis in (axes.xaxis, axes.yaxis):
            sheet.number_ticks(axis)
        axes.set_xlabel(found.axis)
        axes.set_ylabel(f"best value so far ({found.better})")
        axes.set_title(found.instance)
        if runs:
            axes.legend(loc="best")
        for note in _zero_note(floor, values):
            sheet.note(note)


def draw_duels(found: Duels, settings: StoredSettings, path: Path, format: str) -> None:
    """Write the duels of a pair, with the labels of a configuration."""
    style = Style(width=5.0)
    with _written(style, settings, path, format) as sheet:
        axes, labels = sheet.panel(style.width), sheet.labels
        looks = {name: sheet.look(name) for name in (found.a, found.b)}
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
            sheet.number_ticks(axis)
        axes.set_xlabel(labels[found.a], color=looks[found.a].text)
        axes.set_ylabel(labels[found.b], color=looks[found.b].text)
        axes.set_title(f"at {timed(found.t, found.axis)}; {found.better}")
        if both:
            axes.legend(loc="best", title="wins")
        unfound = len(found.duels) - len(both)
        notes = [f"not drawn, without a value: {counted(unfound, 'instance')}"] if unfound else []
        if notes := notes + _zero_note(floor, values):
            sheet.note("; ".join(notes))


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
    format, style = path.suffix[1:] or "png", Style(width=8.0, dpi=150, font_size=10.0)
    log_times = settings.budget.suits_log_axis
    with _written(style, settings, path, format) as sheet:
        sheet = replace(sheet, times=positions, log_times=log_times, axis=sweep.over)
        draw_leaders(sheet, data, "choice")
        sheet.canvas.axes[0].set_title(title)
