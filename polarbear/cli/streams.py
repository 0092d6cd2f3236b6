"""Standard output and error as a command can rely on them: open, and able to show any sign."""

from __future__ import annotations

import io
import os
import sys

STREAMS = ("stdin", "stdout", "stderr")  # by their numbers


def prepare() -> None:
    """Give each stream that was closed the null device, and let none fail for want of a sign.

    A number of these that is free would be that of the next file which is opened: what was printed
    would stand in a store.
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
    """Print what was held back; where that cannot be had, the error comes now and not at exit."""
    sys.stdout.flush()


def give_up_output() -> None:
    """Forget what could not be printed, which would otherwise be tried again at exit."""
    if sys.stdout is sys.__stdout__:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)


def shows_every_sign() -> bool:
    """Whether standard output is in Unicode, as far as that is known."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return str(encoding).lower().startswith("utf")
