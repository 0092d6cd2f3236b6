"""Figures of several stores as files, and their data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from polarbear.errors import ReportError
from polarbear.report.drawing.files import as_csv, check_free, picture, write_file
from polarbear.report.drawing.style import FORMATS, Format, Style
from polarbear.report.stores.differences import Compared
from polarbear.report.stores.figures import FIGURES_OF_STORES, FigureOfStores
from polarbear.settings.options import unknown


def chosen(only: Sequence[str] | None) -> list[FigureOfStores]:
    """The figures asked for, or all of them."""
    for name in only or ():
        if name not in FIGURES_OF_STORES:
            raise ReportError(unknown("figure of several stores", name, FIGURES_OF_STORES))
    return [figure for name, figure in FIGURES_OF_STORES.items() if not only or name in only]


def write_figures_of_stores(
    found: Compared,
    folders: Mapping[str, Path],
    only: Sequence[str] | None,
    style: Style,
    force: bool,
) -> list[Path]:
    """Write each figure into the folders named by endings; nothing is written if one is there."""
    figures = chosen(only)
    paths = [
        folder / f"{figure.name}.{ending}"
        for ending, folder in folders.items()
        for figure in figures
    ]
    if not force:
        check_free(paths)
    for ending, folder in folders.items():
        for figure in figures:
            write_file(folder / f"{figure.name}.{ending}", _content(figure, found, ending, style))
    return paths


def _content(figure: FigureOfStores, found: Compared, ending: str, style: Style) -> bytes:
    format = next((known for known in FORMATS if known == ending), None)
    return as_csv(figure.data(found)) if format is None else drawing(figure, found, style, format)


def drawing(figure: FigureOfStores, found: Compared, style: Style, format: Format) -> bytes:
    """One figure as the bytes of a file."""
    data = figure.data(found)
    return picture(lambda canvas: figure.draw(canvas, data, found, style), style, format)
