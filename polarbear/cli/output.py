"""Prints results on standard output, and notes on standard error."""

from __future__ import annotations

import io
import json as json_
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeVar

import typer
from rich.cells import cell_len, chop_cells

from polarbear import api
from polarbear.plain import plain
from polarbear.wording import visible

INTERRUPTED = 130
GAP = 3  # spaces between two columns of a table
MIN_COLUMN = 2  # a character may take two columns
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
        self._numbers = [title.endswith("#") for title in titles]
        self._titles = [visible(title.removesuffix("#")) for title in titles]
        self._rows: list[list[str]] = []

    def add_row(self, *cells: str) -> None:
        self._rows.append([visible(cell) for cell in cells])

    def lines(self, most: int | None = None) -> list[str]:
        """The table with an empty line before and after; ``most`` is the maximum width."""
        cells = [self._titles, *self._rows]
        widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
        gaps = GAP * (len(widths) - 1) + 1
        while most is not None and sum(widths) + gaps > most and max(widths) > MIN_COLUMN:
            widths[widths.index(max(widths))] -= 1
        rule = ("─" if _is_unicode() else "-") * (sum(widths) + gaps - 1)
        titles, *rows = [self._row(row, widths) for row in cells]
        return ["", *titles, f" {rule}", *(line for row in rows for line in row), ""]

    def _row(self, cells: Sequence[str], widths: Sequence[int]) -> list[str]:
        folds = [_folded(cell, width) for cell, width in zip(cells, widths, strict=True)]
        lines = []
        for parts in zip_longest(*folds, fillvalue=""):
            aligned = []
            for part, width, right in zip(parts, widths, self._numbers, strict=True):
                space = " " * (width - cell_len(part))
                aligned.append(space + part if right else part + space)
            lines.append(f" {(' ' * GAP).join(aligned)}".rstrip())
        return lines


def _folded(text: str, most: int) -> list[str]:
    """A text in lines of at most this width, broken between words; long words are cut."""
    if cell_len(text) <= most:
        return [text]
    lines: list[str] = []
    for word in text.split(" "):
        if lines and cell_len(f"{lines[-1]} {word}") <= most:
            lines[-1] += f" {word}"
        else:
            lines += chop_cells(word, most) or [""]
    return lines


def show(part: str | Table) -> None:
    """Print a part of the results, folded to the width of a terminal."""
    most = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    if isinstance(part, Table):
        lines = part.lines(most)
    else:
        lines = visible(part, keep="\n").split("\n")
        if most is not None:
            lines = [folded for line in lines for folded in _folded(line, most)]
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
