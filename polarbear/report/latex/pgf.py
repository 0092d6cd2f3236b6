"""A drawing as PGF without a TeX system: text is measured by the font it would be drawn with.

Matplotlib's own way to PGF asks a running LaTeX how wide each text is. A paper's font is not known
here anyway; the width in the figures' font is near enough for a layout.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from polarbear.report.latex.escaping import escaped

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

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
