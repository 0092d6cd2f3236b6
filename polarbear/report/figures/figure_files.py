"""Figures as files: PNG, PDF, SVG, and their data as CSV; the same store gives the same bytes."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from polarbear.errors import ReportError, StoreError
from polarbear.report.context import ReportContext
from polarbear.report.figures import FIGURES
from polarbear.report.figures.base import Figure
from polarbear.report.figures.style import FORMATS, Format, Style
from polarbear.settings.names import without_formulas
from polarbear.settings.options import unknown
from polarbear.store import file_io

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Canvas

# Metadata that would differ between calls or machines.
UNDATED: dict[Format, dict[str, None]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    "svg": {"Date": None, "Creator": None},
}


def chosen(only: Iterable[str] | None = None) -> list[Figure]:
    """The requested figures, or all of them."""
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
    """Write all figures that the context has data for; returns the files.

    Nothing is written if a file exists. A figure without data is an error if requested by name.
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
        file_io.make_folder(path.parent)
        file_io.write_whole(path, content)
    except StoreError as error:
        cause = error.__cause__
        reason = cause.strerror if isinstance(cause, OSError) and cause.strerror else str(error)
        raise ReportError(f"cannot write {path}: {reason}; name another folder") from error


def write_text(made: Callable[[], str], path: Path, force: bool) -> None:
    """Write a page as a whole or not at all; it is built only if it can be written."""
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
    """Refuse to overwrite an existing file."""
    taken = next((path for path in paths if path.exists()), None)
    if taken is not None:
        raise ReportError(f"{taken} exists already; write over it with --force, or name another")


def rendered(
    figure: Figure, data: pl.DataFrame, context: ReportContext, style: Style, format: Format
) -> bytes:
    """One figure as the bytes of a file."""
    with on_canvas(style) as canvas:
        figure.draw(canvas, data, context, style)
        if style.titles:
            canvas.suptitle(figure.title, fontsize=1.1 * style.font_size, x=0.01, ha="left")
        return saved(canvas, style, format)


def saved(canvas: Canvas, style: Style, format: Format) -> bytes:
    """What is drawn on a canvas, as the bytes of a file."""
    buffer = io.BytesIO()
    canvas.savefig(buffer, format=format, dpi=style.dpi, metadata=UNDATED[format])
    return buffer.getvalue()


@contextmanager
def on_canvas(style: Style) -> Iterator[Canvas]:
    """An empty canvas, with Matplotlib set up for a style while it is drawn on."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()  # a user's matplotlibrc has no effect
        matplotlib.rcParams.update(style.settings())  # type: ignore[arg-type]
        # Names may use letters that the font lacks; they are shown as boxes.
        warnings.filterwarnings("ignore", message=r"(?s)Glyph .* missing from")
        warnings.filterwarnings("ignore", message=r".*Matplotlib currently does not support")
        canvas = Canvas(layout="constrained", dpi=style.dpi)
        FigureCanvasAgg(canvas)
        yield canvas


def as_csv(data: pl.DataFrame) -> bytes:
    """A table as CSV; names that a spreadsheet would read as formulas get an apostrophe."""
    return without_formulas(data).write_csv().encode()


def save(canvas: Canvas, path: Path, format: str | None, style: Style) -> None:
    """Write a single figure; without a format, in that of the ending of the file's name."""
    try:
        canvas.savefig(path, dpi=style.dpi, format=format)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ReportError(f"cannot write the figure {path}: {reason}") from None
