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
from pathlib import Path
from typing import TypeVar

import click

from polarbear import api
from polarbear.api.listening import Progress
from polarbear.records import Record, json_values
from polarbear.wording import counted, visible

INTERRUPTED = 130
# Control characters and changes of direction, which JSON allows but a terminal would act upon.
_CONTROLS = "[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
quiet = False  # set by --quiet

Result = TypeVar("Result")


def set_quiet(value: bool) -> None:
    """Print no notes and no progress."""
    global quiet
    quiet = value


def columns() -> int | None:
    """The width of a terminal; None if output is redirected."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def show_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table of results; a column whose title ends in '#' is aligned to the right."""
    click.echo("\n".join(api.text_table.table_lines(titles, rows, columns())))


def show(*texts: str) -> None:
    """Print lines of results, folded to the width of a terminal."""
    for line in api.text_table.folded(texts, columns()):
        click.echo(line)


def result(found: Result, json: bool, show_it: Callable[[Result], None] | None = None) -> None:
    """Print a result as JSON, or as text: by a function, by default as one line, and its notes."""
    if json:
        print_json(found)
        return
    if show_it is not None:
        show_it(found)
    elif isinstance(found, Record):
        show(found.one_line())
    note(*(f"note: {line}" for line in getattr(found, "notes", ())))


def print_json(facts: object) -> None:
    """Print records, or a dictionary of them, as one JSON object."""
    facts = facts.to_dict() if hasattr(facts, "to_dict") else json_values(facts)
    text = json_.dumps(facts, indent=2, ensure_ascii=not api.text_table.is_unicode())
    click.echo(re.sub(_CONTROLS, lambda sign: json_.dumps(sign[0])[1:-1], text))


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
            click.echo(visible(line, keep="\n"), err=True)


class Screen(Progress):
    """Notes, warnings and progress of a call on standard error."""

    def __init__(self, verbose: bool = False) -> None:
        self._verbose, self.is_shown = verbose, not quiet

    def note(self, text: str) -> None:
        note(text)

    def warn(self, text: str) -> None:
        note(f"warning: {text}")

    def doubts(self, problem: str) -> None:
        error(f"warning: do not trust this posterior: {problem}")

    def not_kept(self, reason: str) -> None:
        note(f"note: the posterior was not kept: {reason}")

    def planned(self, runs: int, present: int, folder: Path, workers: int) -> None:
        if self._verbose:
            error(f"{counted(runs, 'run')} to do, {present} in {folder} already, {workers} at once")


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
        sys.exit(INTERRUPTED)
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
