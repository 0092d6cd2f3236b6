"""Makes standard streams reliable: open, and able to print any character."""

from __future__ import annotations

import io
import os
import sys

STREAMS = ("stdin", "stdout", "stderr")  # by their numbers


def prepare() -> None:
    """Open closed streams on the null device, and escape characters that they cannot encode.

    The number of a closed stream would be given to the next file that is opened: output would be
    written into a store.
    """
    for number, name in enumerate(STREAMS):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), "w" if number else "r"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def flush() -> None:
    """Flush standard output, so that an error is raised now and not at exit."""
    sys.stdout.flush()


def give_up_output() -> None:
    """Discard buffered output, which Python would otherwise try to write again at exit."""
    if sys.stdout is sys.__stdout__:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)


def is_unicode() -> bool:
    """Whether standard output can encode Unicode, as far as that is known."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return str(encoding).lower().startswith("utf")
