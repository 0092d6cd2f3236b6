"""The figures of the report as Matplotlib figures, for notebooks."""

import io
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from matplotlib.figure import Figure

from polarbear.report.context import gather
from polarbear.report.figures import FIGURES
from polarbear.report.figures.figure_files import available, on_canvas
from polarbear.report.figures.style import Style
from polarbear.settings.options import Source, validate
from polarbear.store import StoreOnDisk


class NotebookFigure(Figure):
    """A figure that a notebook shows with every backend of Matplotlib."""

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file)
        return file.getvalue()


class Plots:
    """The figures of a store: ``store.plot.leaders()``, or ``store.plot("leaders")``.

    Each returns a Matplotlib figure, which a notebook shows. The names are those of
    ``polarbear report --only``, with underscores instead of hyphens.
    """

    def __init__(self, disk: StoreOnDisk) -> None:
        self._disk = disk

    def __call__(
        self,
        name: str,
        *,
        at: float | None = None,
        model: str | None = None,
        theme: str = "light",
        width: str | float = "single",
        font_size: float = 8.0,
    ) -> Figure:
        """Draw one figure; ``at`` is the budget of the figure of one budget."""
        context = replace(gather(self._disk, model=model), at=at)
        (figure,) = available(context, [name])
        options = {"theme": theme, "width": width, "font_size": font_size}
        style = validate(Style, options, Source("plot"))
        with on_canvas(style, NotebookFigure) as canvas:
            figure.draw(canvas, figure.data(context), context, style)
            canvas.canvas.draw()  # lays it out with the settings of the style
            canvas.set_layout_engine("none")
        return canvas

    def __getattr__(self, name: str) -> Callable[..., Figure]:
        if name.replace("_", "-") not in FIGURES:
            raise AttributeError(f"no figure '{name}'; figures: {', '.join(dir(self))}")
        return partial(self, name.replace("_", "-"))

    def __dir__(self) -> list[str]:
        return [name.replace("-", "_") for name in FIGURES]
