"""Figures as files: PNG, PDF, SVG, and their data as CSV; the same store gives the same bytes."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from polarbear.errors import ReportError, StoreError
from polarbear.report.context import ReportContext
from polarbear.report.figures import FIGURES
from polarbear.report.figures.base import Figure, ReportFigure, Subject
from polarbear.report.figures.style import Style
from polarbear.settings.names import without_formulas
from polarbear.store import file_io

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Canvas

# Without metadata that would differ between calls or machines.
UNDATED: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    "svg": {"Date": None, "Creator": None},
}


def available(context: ReportContext, only: Sequence[str] | None = None) -> list[ReportFigure]:
    """The figures that the context has data for; all of ``only`` must have some."""
    for name in only or ():
        if name not in FIGURES:
            raise ReportError(FIGURES.refusal(name))
        reason = FIGURES[name].missing(context)
        if reason:
            raise ReportError(f"there is no figure '{name}' for this store: {reason}")
    requested = [figure for name, figure in FIGURES.items() if only is None or name in only]
    return [figure for figure in requested if figure.missing(context) is None]


def write_figures(
    figures: Iterable[Figure[Subject]],
    subject: Subject,
    folders: Mapping[str, Path],
    style: Style,
    force: bool = False,
) -> list[Path]:
    """Write figures into the folders named by endings, csv for their data; returns the files.

    Nothing is written if a file exists.
    """
    figures = list(figures)
    if not force:
        check_free(
            folder / f"{figure.name}.{ending}"
            for figure in figures
            for ending, folder in folders.items()
        )
    written = []
    for figure in figures:
        data = figure.data(subject)
        for ending, folder in folders.items():
            path = folder / f"{figure.name}.{ending}"
            if ending == "csv":
                write_file(path, as_csv(data))
            else:
                write_file(path, rendered(figure, data, subject, style, ending))
            written.append(path)
    return written


def write_file(path: Path, content: bytes) -> None:
    """Write a file as a whole or not at all."""
    try:
        file_io.make_folder(path.parent)
        file_io.write_whole(path, content)
    except StoreError as error:
        cause = error.__cause__
        reason = cause.strerror if isinstance(cause, OSError) and cause.strerror else str(error)
        raise ReportError(f"cannot write {path}: {reason}; name another folder") from error


def write_text(build: Callable[[], str], path: Path, force: bool = False) -> None:
    """Write a page as a whole or not at all; it is built only if it can be written."""
    if path.is_dir():
        raise ReportError(f"{path} is a folder; name a file to write the page to")
    if not force:
        check_free([path])
    if not path.parent.is_dir():
        raise ReportError(
            f"there is no folder {path.parent} to write {path.name} in; make it first"
        )
    write_file(path, build().encode("utf-8", "replace"))


def check_free(paths: Iterable[Path]) -> None:
    """Refuse to overwrite an existing file."""
    taken = next((path for path in paths if path.exists()), None)
    if taken is not None:
        raise ReportError(f"{taken} exists already; write over it with --force, or name another")


def rendered(
    figure: Figure[Subject], data: pl.DataFrame, subject: Subject, style: Style, format: str
) -> bytes:
    """One figure as the bytes of a file."""
    with on_canvas(style) as canvas:
        figure.draw(canvas, data, subject, style)
        return saved(canvas, style, format)


def saved(canvas: Canvas, style: Style, format: str) -> bytes:
    """The drawing on a canvas as the bytes of a file."""
    buffer = io.BytesIO()
    canvas.savefig(buffer, format=format, dpi=style.dpi, metadata=UNDATED.get(format))
    return buffer.getvalue()


@contextmanager
def on_canvas(style: Style, kind: type[Canvas] | None = None) -> Iterator[Canvas]:
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
        canvas = (kind or Canvas)(layout="constrained", dpi=style.dpi)
        FigureCanvasAgg(canvas)
        yield canvas


def as_csv(data: pl.DataFrame) -> bytes:
    """A table as CSV; names that a spreadsheet would read as formulas get an apostrophe."""
    return without_formulas(data).write_csv().encode()
