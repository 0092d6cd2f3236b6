"""Figures as files: PNG, PDF, SVG, and their data as CSV; the same bytes for the same store."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from polarbear.errors import ReportError, StoreError
from polarbear.report.context import ReportContext
from polarbear.report.drawing.style import FORMATS, Format, Style
from polarbear.report.figures import FIGURES, Figure
from polarbear.settings.names import without_formulas
from polarbear.settings.options import unknown
from polarbear.store import files

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Canvas

# What would differ from one call to the next, or from one machine to another.
UNDATED: dict[Format, dict[str, None]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    "svg": {"Date": None, "Creator": None},
}


def chosen(only: Iterable[str] | None = None) -> list[Figure]:
    """The figures asked for, or all of them."""
    if only is None:
        return FIGURES.values()
    for name in (only := list(only)):
        if name not in FIGURES:
            raise ReportError(FIGURES.refusal(name))
    return [figure for name, figure in FIGURES.items() if name in only]


def write_figures(
    context: ReportContext,
    folder: Path,
    formats: Sequence[Format],
    only: Iterable[str] | None = None,
    style: Style | None = None,
    csv: bool = False,
    force: bool = False,
) -> list[Path]:
    """Write what the context has to show; gives the files. Nothing is written if one is there.

    Figures for which the context has nothing are left out, unless they were asked for by name.
    """
    style = style or Style()
    for format in formats:
        if format not in FORMATS:
            raise ReportError(unknown("format of figures", format, FORMATS))
    wanted = chosen(only)
    for figure in wanted:
        reason = figure.missing(context)
        if reason and only is not None:
            raise ReportError(f"there is no figure '{figure.name}' for this store: {reason}")
    wanted = [figure for figure in wanted if figure.missing(context) is None]
    endings = [*formats, *(["csv"] if csv else [])]
    paths = [folder / f"{figure.name}.{ending}" for figure in wanted for ending in endings]
    if not force:
        check_free(paths)
    for figure in wanted:
        data = figure.data(context)
        for format in formats:
            write_file(
                folder / f"{figure.name}.{format}", rendered(figure, data, context, style, format)
            )
        if csv:
            write_file(folder / f"{figure.name}.csv", as_csv(data))
    return paths


def write_file(path: Path, content: bytes) -> None:
    """All of the file or none of it."""
    try:
        files.make_folder(path.parent)
        files.write_whole(path, content)
    except StoreError as error:
        cause = error.__cause__
        reason = cause.strerror if isinstance(cause, OSError) and cause.strerror else str(error)
        raise ReportError(f"cannot write {path}: {reason}; name another folder") from error


def write_text(made: Callable[[], str], path: Path, force: bool) -> None:
    """Write a page, as a whole or not at all; it is made only if it can be written."""
    if path.is_dir():
        raise ReportError(f"{path} is a folder; name a file to write the page to")
    if path.exists() and not force:
        raise ReportError(f"{path} exists; --force writes over it, or choose another file")
    if not path.parent.is_dir():
        raise ReportError(
            f"there is no folder {path.parent} to write {path.name} in; make it first"
        )
    write_file(path, made().encode("utf-8", "replace"))


def check_free(paths: Iterable[Path]) -> None:
    """Refuse to write over what is there."""
    taken = next((path for path in paths if path.exists()), None)
    if taken is not None:
        raise ReportError(f"{taken} exists already; write over it with --force, or name another")


def rendered(
    figure: Figure, data: pl.DataFrame, context: ReportContext, style: Style, format: Format
) -> bytes:
    """One figure as the bytes of a file."""
    with styled(style):
        return saved(drawn(figure, data, context, style), style, format)


def picture(draw: Callable[[Canvas], None], style: Style, format: Format) -> bytes:
    """What is drawn on an empty canvas, as the bytes of a file."""
    with on_canvas(style) as canvas:
        draw(canvas)
        return saved(canvas, style, format)


@contextmanager
def on_canvas(style: Style) -> Iterator[Canvas]:
    """An empty canvas, and Matplotlib set up for a style as long as it is drawn on."""
    with styled(style):
        yield _empty(style)


def saved(canvas: Canvas, style: Style, format: Format) -> bytes:
    """What is drawn on a canvas, as the bytes of a file."""
    buffer = io.BytesIO()
    canvas.savefig(buffer, format=format, dpi=style.dpi, metadata=UNDATED[format])
    return buffer.getvalue()


@contextmanager
def styled(style: Style) -> Iterator[None]:
    """Matplotlib set up for a style, and as it was afterwards."""
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()  # a user's own matplotlibrc has no say
        matplotlib.rcParams.update(style.settings())  # type: ignore[arg-type]
        # Names may use letters that the font lacks; a box in their place is all there is to do.
        warnings.filterwarnings("ignore", message=r"(?s)Glyph .* missing from")
        warnings.filterwarnings("ignore", message=r".*Matplotlib currently does not support")
        yield


def drawn(figure: Figure, data: pl.DataFrame, context: ReportContext, style: Style) -> Canvas:
    """One figure on a canvas, laid out; to be called within ``styled``."""
    canvas = _empty(style)
    figure.draw(canvas, data, context, style)
    if style.titles:
        canvas.suptitle(figure.title, fontsize=1.1 * style.font_size, x=0.01, ha="left")
    return canvas


def _empty(style: Style) -> Canvas:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(layout="constrained", dpi=style.dpi)
    FigureCanvasAgg(canvas)
    return canvas


def as_csv(data: pl.DataFrame) -> bytes:
    """A table as CSV in which no name is a formula: one that begins like it gets an apostrophe."""
    return without_formulas(data).write_csv().encode()


def save(canvas: Canvas, path: Path, format: str, style: Style) -> None:
    """Write a figure that is asked for by itself into a file."""
    try:
        canvas.savefig(path, dpi=style.dpi, format=format)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ReportError(f"cannot write the figure {path}: {reason}") from None
