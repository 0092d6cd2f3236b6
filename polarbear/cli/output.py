"""Prints results on standard output, and notes on standard error."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import typer

from polarbear.api.listening import Progress, on_first_compilation
from polarbear.records import Record, json_values
from polarbear.wording import counted, visible

INTERRUPTED = 130  # the exit code after Ctrl-C
# Control characters and changes of direction, which JSON allows but a terminal would act upon.
_CONTROLS = "[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
quiet = False  # set by --quiet

Result = TypeVar("Result")


def set_quiet(value: bool) -> bool:
    """Print no notes and no progress; returns the value, as the callback of an option must."""
    global quiet
    quiet = value
    return value


def columns() -> int | None:
    """The width of a terminal; None if output is redirected."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def show_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table of results; a column whose title ends in '#' is aligned to the right."""
    from polarbear.api.text_table import table_lines

    typer.echo("\n".join(table_lines(titles, rows, columns())))


def show(*texts: str) -> None:
    """Print lines of results, folded to the width of a terminal."""
    from polarbear.api.text_table import folded

    for line in folded(texts, columns()):
        typer.echo(line)


def result(
    record: Result, as_json: bool, show_record: Callable[[Result], None] | None = None
) -> None:
    """Print a record as JSON, or as text: by a function, by default as one line; then its notes."""
    if as_json:
        print_json(record)
        return
    if show_record is not None:
        show_record(record)
    elif isinstance(record, Record):
        show(record.one_line())
    note(*(f"note: {line}" for line in getattr(record, "notes", ())))


def print_json(facts: object) -> None:
    """Print records, or a dictionary of them, as one JSON object."""
    from polarbear.api.text_table import is_unicode

    facts = facts.to_dict() if hasattr(facts, "to_dict") else json_values(facts)
    text = json.dumps(facts, indent=2, ensure_ascii=not is_unicode())
    typer.echo(re.sub(_CONTROLS, lambda sign: json.dumps(sign[0])[1:-1], text))


def note(*lines: str) -> None:
    """Print lines on standard error, unless --quiet was given."""
    if not quiet:
        error(*lines)


def wrote(*paths: Path | str | None) -> None:
    """Print the names of files that were written."""
    note(*(f"wrote {path}" for path in paths if path is not None))


def error(*lines: str) -> None:
    """Print lines on standard error, even with --quiet."""
    with suppress(OSError):  # a log on a full disk must not end a race
        for line in lines:
            typer.echo(visible(line, keep="\n"), err=True)


class Screen(Progress):
    """Prints notes, warnings and progress of a call on standard error."""

    def __init__(self, verbose: bool = False) -> None:
        self.is_verbose = verbose
        self.is_shown = not quiet

    def note(self, text: str) -> None:
        note(text)

    def warn(self, text: str) -> None:
        note(f"warning: {text}")

    def doubts(self, problem: str) -> None:
        error(f"warning: do not trust this posterior: {problem}")

    def not_kept(self, reason: str) -> None:
        note(f"note: the posterior was not kept: {reason}")

    def planned(self, runs: int, present: int, folder: Path, workers: int) -> None:
        if self.is_verbose:
            error(f"{counted(runs, 'run')} to do, {present} in {folder} already, {workers} at once")


@contextmanager
def interruptible(message: str) -> Iterator[None]:
    """End with exit code 130 and a message on Ctrl-C, SIGTERM, or a closed terminal."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    previous_handlers = {
        number: signal.signal(number, interrupt)
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN  # set by `nohup`
    }
    try:
        yield
    except KeyboardInterrupt:
        error(f"polarbear: interrupted; {message}")
        sys.exit(INTERRUPTED)
    finally:
        for number, handler in previous_handlers.items():
            signal.signal(number, handler)


def announcing_compilation() -> AbstractContextManager[None]:
    """Print a note if loops have to be compiled."""
    return on_first_compilation(
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
            mode = "w" if number else "r"
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def discard_buffered_output() -> None:
    """Discard buffered output, which Python would otherwise try to write again at exit."""
    if sys.stdout is sys.__stdout__:
        null_device = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null_device, 1)
        os.close(null_device)
