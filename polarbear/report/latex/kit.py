"""The kit of a paper: one folder of tables, figures and captions, and a document that shows all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from polarbear.report.context import ReportContext
from polarbear.report.drawing.files import check_free, on_canvas, saved, write_file
from polarbear.report.drawing.style import Style
from polarbear.report.figures import FIGURES
from polarbear.report.latex.escaping import PREAMBLE, escaped
from polarbear.report.latex.pgf import NotAsPgfError, as_pgf
from polarbear.report.latex.tables import tables

if TYPE_CHECKING:
    from polarbear.report.figures.base import Figure

MOST_PGF = 1_000_000  # characters, above which TeX is slow or gives up: such a figure is PDF only
DOCUMENT = r"""% Shows everything in this folder; take from it what the paper needs.
\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage[margin=1.5cm]{geometry}
\usepackage{booktabs,graphicx,pgf}
%PREAMBLE%\begin{document}
%INPUTS%\end{document}
"""


@dataclass(frozen=True)
class Piece:
    """A file of the kit."""

    name: str
    content: bytes


def write_kit(
    context: ReportContext, folder: Path, style: Style, force: bool = False
) -> list[Path]:
    """Write the kit; gives the files. Nothing is written if one is there already."""
    if not force:
        check_free(folder / name for name in _names(context))
    pieces = kit(context, style)
    for piece in pieces:
        write_file(folder / piece.name, piece.content)
    return [folder / piece.name for piece in pieces]


def _figures(context: ReportContext) -> list[Figure]:
    return [figure for figure in FIGURES.values() if figure.missing(context) is None]


def _names(context: ReportContext) -> list[str]:
    """Every file that there may be, known before anything is drawn."""
    figures = [figure.name for figure in _figures(context)]
    drawn = [f"{name}.{ending}" for name in figures for ending in ("pdf", "pgf")]
    texts = [*(table.name for table in tables(context)), *(f"figure-{n}" for n in figures), "kit"]
    return [*drawn, *(f"{name}.tex" for name in texts)]


def kit(context: ReportContext, style: Style) -> list[Piece]:
    """All files: a table or a figure environment each, what it shows, and a document."""
    made, inputs = [], []
    for table in tables(context):
        made.append(Piece(f"{table.name}.tex", table.tex().encode()))
        inputs.append(table.name)
    for figure in _figures(context):
        made += _figure(figure, context, style)
        inputs.append(f"figure-{figure.name}")
    lines = "".join(f"\\input{{{name}}}\n\\clearpage\n" for name in inputs)
    text = DOCUMENT.replace("%PREAMBLE%", PREAMBLE).replace("%INPUTS%", lines)
    return [*made, Piece("kit.tex", text.encode())]


def _figure(figure: Figure, context: ReportContext, style: Style) -> list[Piece]:
    with on_canvas(style) as canvas:
        figure.draw(canvas, figure.data(context), context, style)
        made = [Piece(f"{figure.name}.pdf", saved(canvas, style, "pdf"))]
        try:
            pgf = as_pgf(canvas)
        except NotAsPgfError:
            pgf = ""
    shown = f"\\includegraphics{{{figure.name}.pdf}}"
    if 0 < len(pgf) <= MOST_PGF:
        made.append(Piece(f"{figure.name}.pgf", pgf.encode()))
        shown = f"\\input{{{figure.name}.pgf}}"
    words = figure.caption(context)
    environment = (
        f"\\begin{{figure}}\n  \\centering\n  {shown}\n  \\caption{{{escaped(words)}}}\n"
        f"  \\label{{fig:{figure.name}}}\n\\end{{figure}}\n"
    )
    return [*made, Piece(f"figure-{figure.name}.tex", environment.encode())]
