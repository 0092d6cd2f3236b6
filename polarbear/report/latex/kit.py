"""LaTeX for a paper: a folder of tables, figures as PGF and PDF, captions, and a document of them.

PGF is written without a TeX system: text is measured in the font of the figures.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polarbear.report.context import ReportContext
from polarbear.report.figures import FIGURES
from polarbear.report.figures.figure_files import check_free, on_canvas, saved, write_file
from polarbear.report.figures.style import Style
from polarbear.report.latex.tex_tables import PREAMBLE, escaped, tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from polarbear.report.figures.base import ReportFigure

POINT = 72.27 / 72  # of TeX, in those of a drawing


class NotAsPgfError(Exception):
    """The drawing has an image in it, which PGF can only keep in a file beside it."""


def as_pgf(canvas: Canvas) -> str:
    """What is drawn on a canvas, to be read by \\input in a document that loads pgf."""
    made = io.StringIO()
    width, height = canvas.get_size_inches()
    made.write("\\begingroup\\makeatletter\\begin{pgfpicture}%\n")
    made.write(
        "\\pgfpathrectangle{\\pgfpointorigin}"
        f"{{\\pgfqpoint{{{width:f}in}}{{{height:f}in}}}}%\n"
        "\\pgfusepath{use as bounding box}%\n"
    )
    canvas.draw(_renderer(canvas, made))
    made.write("\\end{pgfpicture}\\makeatother\\endgroup%\n")
    return made.getvalue()


def _renderer(canvas: Canvas, made: io.StringIO) -> Any:
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.backends.backend_pgf import RendererPgf

    width, height = canvas.get_size_inches()
    ruler: Any = RendererAgg(  # type: ignore[no-untyped-call]
        width * canvas.dpi, height * canvas.dpi, canvas.dpi
    )

    class Renderer(RendererPgf):
        """Lines and areas as Matplotlib writes them; text measured and escaped by ourselves."""

        def draw_image(self, *_: Any, **__: Any) -> None:
            raise NotAsPgfError

        def draw_text(
            self,
            gc: Any,
            x: float,
            y: float,
            s: str,
            prop: Any,
            angle: float,
            ismath: Any = False,
            mtext: Any = None,
        ) -> None:
            size = prop.get_size_in_points() * POINT
            red, green, blue = gc.get_rgb()[:3]
            weight = r"\bfseries" if prop.get_weight() == "bold" else ""
            turned = f",rotate={angle:f}" if angle else ""
            made.write(
                f"\\begin{{pgfscope}}\\definecolor{{textcolor}}{{rgb}}"
                f"{{{red:f},{green:f},{blue:f}}}%\n"
                f"\\pgftext[x={x / self.dpi:f}in,y={y / self.dpi:f}in,left,base{turned}]"
                f"{{\\color{{textcolor}}\\fontsize{{{size:f}}}{{{1.2 * size:f}}}\\selectfont"
                f"{weight} {escaped(s)}}}%\n\\end{{pgfscope}}%\n"
            )

        def get_text_width_height_descent(
            self, s: str, prop: Any, ismath: Any
        ) -> tuple[float, float, float]:
            width, height, descent = ruler.get_text_width_height_descent(s, prop, ismath)
            return float(width), float(height), float(descent)

    return Renderer(canvas, made)  # type: ignore[no-untyped-call]


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


def _figures(context: ReportContext) -> list[ReportFigure]:
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


def _figure(figure: ReportFigure, context: ReportContext, style: Style) -> list[Piece]:
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
