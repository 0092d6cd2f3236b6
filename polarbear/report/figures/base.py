"""The interface of a figure: its data, its drawing and its words."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

import polars as pl

from polarbear.errors import PlugInWarning
from polarbear.report.context import ReportContext, once
from polarbear.report.figures.style import Style
from polarbear.wording import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

Subject = TypeVar("Subject")  # of which figures are drawn: a report's context, or several stores
NOTHING_INFERRED = "nothing has been inferred yet: `polarbear race` or `polarbear infer` does that"
NO_RACE = "no race was run in this store"


@dataclass(frozen=True)
class Figure(Generic[Subject]):
    """One figure; a new one is a file like its neighbours and a line in the registry.

    ``missing`` says in plain words why a store has nothing to draw, and gives None where it has.
    ``data`` is in long form and can be written as CSV. ``draw`` uses these data only, and of the
    context names, their order and the grid. It sets the height, which may depend on the data.
    """

    name: str
    title: str
    caption: Callable[[Subject], str]
    missing: Callable[[Subject], str | None]
    data: Callable[[Subject], pl.DataFrame]
    draw: Callable[[Canvas, pl.DataFrame, Subject, Style], None]


ReportFigure = Figure[ReportContext]


def lacks_draws(context: ReportContext) -> str | None:
    """Why there is nothing to draw for a figure that is made of draws."""
    if context.basis is None and context.rounds:
        last = context.rounds[-1].number
        return f"draws of round {last} are not kept yet: `polarbear race` keeps them when it ends"
    if context.basis is None:
        return NOTHING_INFERRED
    if context.draws is None:
        return f"draws are kept of the last round only, not of round {context.rounds[-1].number}"
    return None


def lacks_estimates(context: ReportContext) -> str | None:
    return NOTHING_INFERRED if context.estimates is None else None


def lacks_race(context: ReportContext) -> str | None:
    return None if context.rounds else NO_RACE


def estimates_source(context: ReportContext) -> str:
    """The round that estimates follow, or the instances they rest on, in words."""
    if context.rounds:
        last = context.rounds[-1]
        return f"after round {last.number}, {counted(last.state.instances, 'instance')}"
    assert context.basis is not None
    return f"inferred from {counted(context.basis.instances, 'instance')}"


def draws_source(context: ReportContext) -> str:
    """What the draws are of, in words: the last round, or another model than the race's."""
    if context.draws is None or context.other_model is None:
        return estimates_source(context)
    instances = counted(context.draws.instances, "instance")
    return f"by the {context.other_model} model, inferred from {instances}"


def guarded(figure: ReportFigure, called: str) -> ReportFigure:
    """The figure; where its data fail it has nothing to show, where its drawing fails it says so.

    Either is warned of, under the name that it is ``called`` by.
    """
    data = once(figure.data)

    def warned(error: Exception) -> str:
        words = f"{called} failed: {type(error).__name__}: {str(error).partition(chr(10))[0]}"
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

    def draw(canvas: Canvas, data: pl.DataFrame, context: ReportContext, style: Style) -> None:
        try:
            figure.draw(canvas, data, context, style)
        except Exception as error:
            canvas.clear()
            canvas.text(0.02, 0.5, warned(error), wrap=True, parse_math=False)

    return replace(figure, missing=missing, data=data, draw=draw)
