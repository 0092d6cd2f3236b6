"""The duels of a pair at one time drawn: a point an instance, one's value against the other's.

It shows one pair and is drawn where that is asked for (`polarbear show --pair --png`); figures in
the registry show a store.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from polarbear.driver.inspect import Duels
from polarbear.report.drawing.axes import note_below, number_ticks
from polarbear.report.drawing.files import save, styled
from polarbear.report.drawing.style import Style
from polarbear.report.figures.runs import floor_of
from polarbear.wording import counted, tick, timed


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
