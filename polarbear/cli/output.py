"""Prints results on standard output, and notes on standard error."""

from __future__ import annotations

import io
import json as json_
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import typer

from polarbear import api
from polarbear.plain import plain
from polarbear.wording import visible

INTERRUPTED = 130
UNLIMITED_WIDTH = 100_000
# Control characters and changes of direction, which JSON allows but a terminal would act upon.
_CONTROLS = "[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
_quiet = False  # set by --quiet

Result = TypeVar("Result")


def set_quiet(quiet: bool) -> None:
    """Print no notes and no progress."""
    global _quiet
    _quiet = quiet


def is_quiet() -> bool:
    """Whether the command was called with --quiet."""
    return _quiet


class Table:
    """Titles, a rule, and rows; a column whose title ends in '#' is aligned to the right."""

    def __init__(self, *titles: str) -> None:
        self._titles = titles
        self._rows: list[tuple[str, ...]] = []

    def add_row(self, *cells: str) -> None:
        self._rows.append(cells)

    def lines(self, width: int = UNLIMITED_WIDTH) -> list[str]:
        """The table with an empty line before and after, folded to a width."""
        from rich import box, table, text

        made = table.Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="")
        for title in self._titles:
            justify: Any = "right" if title.endswith("#") else "left"
            heading = text.Text(visible(title.removesuffix("#")))
            made.add_column(heading, justify=justify, overflow="fold")
        for cells in self._rows:
            made.add_row(*(text.Text(visible(cell)) for cell in cells))
        lines = _rendered(made, width)
        return lines if _is_unicode() else [line.replace("─", "-") for line in lines]


def _rendered(part: Any, width: int) -> list[str]:
    from rich.console import Console

    drawn = io.StringIO()
    Console(file=drawn, width=width, color_system=None, force_jupyter=False).print(part)
    return [line.rstrip() for line in drawn.getvalue().removesuffix("\n").split("\n")]


def show(part: str | Table) -> None:
    """Print a part of the results, folded to the width of a terminal."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else UNLIMITED_WIDTH
    if isinstance(part, Table):
        lines = part.lines(width)
    elif width == UNLIMITED_WIDTH:
        lines = [visible(part, keep="\n")]
    else:
        from rich.text import Text

        lines = _rendered(Text(visible(part, keep="\n"), overflow="fold"), width)
    typer.echo("\n".join(lines))


def show_lines(lines: Iterable[str]) -> None:
    """Print lines of the results."""
    for line in lines:
        show(line)


def result(found: Result, json: bool, show_it: Callable[[Result], None]) -> None:
    """Print a result as JSON, or as text by a function."""
    if json:
        print_json(found)
    else:
        show_it(found)


def print_json(facts: Any) -> None:
    """Print records, or a dictionary of them, as one JSON object."""
    facts = facts.to_dict() if hasattr(facts, "to_dict") else plain(facts)
    text = json_.dumps(facts, indent=2, ensure_ascii=not _is_unicode())
    typer.echo(re.sub(_CONTROLS, lambda sign: json_.dumps(sign[0])[1:-1], text))


def note(text: str) -> None:
    """Print a line on standard error, unless --quiet was given."""
    if not _quiet:
        error(text)


def notes(lines: Iterable[str]) -> None:
    """Print notes about a result."""
    for line in lines:
        note(f"note: {line}")


def wrote(*paths: Path | str | None) -> None:
    """Print the names of files that were written."""
    for path in paths:
        if path is not None:
            note(f"wrote {path}")


def error(text: str) -> None:
    """Print a line on standard error, even with --quiet."""
    with suppress(OSError):  # a log on a full disk must not end a race
        typer.echo(visible(text, keep="\n"), err=True)


@contextmanager
def interruptible(message: str) -> Iterator[None]:
    """End with exit code 130 and a message on Ctrl-C, SIGTERM, or a closed terminal."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = {
        number: signal.signal(number, interrupt)
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN  # set by `nohup`
    }
    try:
        yield
    except KeyboardInterrupt:
        error(f"polarbear: interrupted; {message}")
        raise typer.Exit(INTERRUPTED) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def announcing_compilation() -> AbstractContextManager[None]:
    """Print a note if loops have to be compiled."""
    return api.listening.on_first_compilation(
        lambda: note("compiling for this machine, once; the next call will be quick")
    )


def prepare_streams() -> None:
    """Open closed streams on the null device, and escape characters that they cannot encode.

    The number of a closed stream would be given to the next file that is opened: output would be
    written into a store.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), "w" if number else "r"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def discard_buffered_output() -> None:
    """Discard buffered output, which Python would otherwise try to write again at exit."""
    if sys.stdout is sys.__stdout__:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)


def _is_unicode() -> bool:
    """Whether standard output can encode Unicode, as far as that is known."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return str(encoding).lower().startswith("utf")
