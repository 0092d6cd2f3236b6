"""A figure of another package, so that its mistakes spoil no other figure."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from polarbear.errors import PlugInWarning
from polarbear.report.drawing.style import Style
from polarbear.report.figures.base import Figure
from polarbear.report.material import Material

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


def guarded(figure: Figure, called: str) -> Figure:
    """The figure; where its data fail it has nothing to show, where its drawing fails it says so.

    Either is warned of, under the name that it is ``called`` by.
    """
    last: list[tuple[Material, pl.DataFrame]] = []  # what was asked about last, computed once

    def warned(error: Exception) -> str:
        words = f"{called} failed: {type(error).__name__}: {str(error).partition(chr(10))[0]}"
        warnings.warn(words, PlugInWarning, stacklevel=3)
        return words

    def data(material: Material) -> pl.DataFrame:
        if not last or last[0][0] is not material:
            last[:] = [(material, figure.data(material))]
        return last[0][1]

    def missing(material: Material) -> str | None:
        try:
            reason = figure.missing(material)
            if reason is None:
                data(material)
                figure.caption(material)
        except Exception as error:  # somebody else's figure may raise anything
            return warned(error)
        return reason

    def draw(canvas: Canvas, data: pl.DataFrame, material: Material, style: Style) -> None:
        try:
            figure.draw(canvas, data, material, style)
        except Exception as error:
            canvas.clear()
            canvas.text(0.02, 0.5, warned(error), wrap=True, parse_math=False)

    return replace(figure, missing=missing, data=data, draw=draw)
