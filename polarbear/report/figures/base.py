"""The interface of a figure: its data, the description of its chart, and its words."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

import polars as pl

from polarbear.errors import PlugInWarning
from polarbear.report.context import ReportContext, once
from polarbear.report.figures.chart import MAX_NAMED, Axis, Chart, time_axis
from polarbear.report.figures.style import Style
from polarbear.wording import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

Subject = TypeVar("Subject")  # what a figure shows: the context of a report, or several stores
NOTHING_INFERRED = "nothing has been inferred yet: `polarbear race` or `polarbear infer` does that"
NO_RACE = "no race was run in this store"


@dataclass(frozen=True)
class Figure(Generic[Subject]):
    """One figure; a new one is a file like its neighbours and a line in the registry.

    ``missing`` says in plain words why a store has nothing to draw, and returns None where it has.
    ``data`` is in long form and can be written as CSV. ``chart`` describes the drawing, for paper
    and for the page alike; it uses these data only, and from the subject names, their order and the
    grid.
    """

    name: str
    title: str
    caption: Callable[[Subject], str]
    missing: Callable[[Subject], str | None]
    data: Callable[[Subject], pl.DataFrame]
    chart: Callable[[pl.DataFrame, Subject], Chart]

    def draw(self, canvas: Canvas, data: pl.DataFrame, subject: Subject, style: Style) -> None:
        """Draw the chart on a canvas of Matplotlib, and set the size of the canvas."""
        from polarbear.report.figures.canvas_renderer import draw_chart  # imports matplotlib

        draw_chart(canvas, self.chart(data, subject), style)


ReportFigure = Figure[ReportContext]


def names_in(data: pl.DataFrame) -> list[str]:
    """The algorithms of a table, in its order."""
    return list(data["algorithm"].unique(maintain_order=True))


def by_algorithm(
    data: pl.DataFrame, prominence: pl.Expr | None = None
) -> Iterator[tuple[str, pl.DataFrame, bool]]:
    """Each algorithm with its rows, and whether its line is muted.

    Where a drawing has more than MAX_NAMED algorithms, those with the highest ``prominence`` have
    colours and come last; the lines of all others are muted.
    """
    groups = data.group_by("algorithm", maintain_order=True)
    coloured = set(data["algorithm"])
    if prominence is not None and len(coloured) > MAX_NAMED:
        ranked = groups.agg(prominence.alias("prominence"))
        ranked = ranked.sort("prominence", descending=True, nulls_last=True)
        coloured = set(ranked["algorithm"][:MAX_NAMED])
    for (name,), rows in sorted(groups, key=lambda group: group[0][0] in coloured):
        yield str(name), rows, name not in coloured


def grid_axis(context: ReportContext) -> Axis:
    """The axis of the times of a report."""
    return time_axis(context.times, context.log_times, context.axis)


def lacks_draws(context: ReportContext) -> str | None:
    """Why there is nothing to draw for a figure that is made of posterior draws."""
    if context.basis is None and context.rounds:
        last = context.rounds[-1].number
        return f"draws of round {last} are not kept yet: `polarbear race` keeps them when it ends"
    if context.basis is None:
        return NOTHING_INFERRED
    if context.draws is None:
        return f"draws are kept of the last round only, not of round {context.rounds[-1].number}"
    return None


def lacks_estimates(context: ReportContext) -> str | None:
    """Why there is nothing to draw for a figure that is made of estimates."""
    return NOTHING_INFERRED if context.estimates is None else None


def lacks_race(context: ReportContext) -> str | None:
    """Why there is nothing to draw for a figure of rounds."""
    return None if context.rounds else NO_RACE


def estimates_source(context: ReportContext) -> str:
    """The round that estimates follow, or the number of instances behind them, in words."""
    if context.rounds:
        last = context.rounds[-1]
        return f"after round {last.number}, {counted(last.state.instances, 'instance')}"
    assert context.basis is not None
    return f"inferred from {counted(context.basis.instances, 'instance')}"


def draws_source(context: ReportContext) -> str:
    """The origin of the draws, in words: the last round, or another model than the race's."""
    if context.draws is None or context.other_model is None:
        return estimates_source(context)
    instances = counted(context.draws.instances, "instance")
    return f"by the {context.other_model} model, inferred from {instances}"


def guarded(figure: ReportFigure, called: str) -> ReportFigure:
    """The figure of another package, whose errors become warnings.

    Where its data fail, the figure is missing; where its chart fails, its drawing says so. The
    warning names the figure as ``called``.
    """
    data = once(figure.data)

    def warned(error: Exception) -> str:
        first_line = str(error).partition("\n")[0]
        words = f"{called} failed: {type(error).__name__}: {first_line}"
        warnings.warn(words, PlugInWarning, stacklevel=3)
        return words

    def missing(context: ReportContext) -> str | None:
        try:
            reason = figure.missing(context)
            if reason is None:
                data(context)
                figure.caption(context)
        except Exception as error:  # a third-party figure may raise anything
            return warned(error)
        return reason

    def chart(data: pl.DataFrame, context: ReportContext) -> Chart:
        try:
            return figure.chart(data, context)
        except Exception as error:
            return Chart(panels=(), labels=context.labels, notes=(warned(error),))

    return replace(figure, missing=missing, data=data, chart=chart)
