"""What a program prints, line by line, until the program itself has ended.

A child that it leaves behind may hold its output open for ever; nobody waits for that. What the
program had written by the time it ended is read to its last byte.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import IO

from polarbear.errors import BadOutputError, BudgetExhausted

POLL = 0.02  # seconds between looks, where nothing tells that there is something to see
LONGEST_LINE = 65_536
AT_ONCE = 2**20  # bytes; more than any pipe holds, so that one reading of a dead program's is all
LAST_WORDS = 1000  # bytes


class LastWords:
    """The end of what a program wrote to its standard error."""

    def __init__(self) -> None:
        self._kept = b""

    def add(self, data: bytes) -> None:
        self._kept = (self._kept + data)[-LAST_WORDS:]

    def __str__(self) -> str:
        return self._kept.decode(errors="replace").strip()


def lines_of(
    process: subprocess.Popen[bytes], file: IO[bytes] | None, errors: LastWords, deadline: float
) -> Iterator[str]:
    """Lines from a program's standard output, or from the file it writes, until it ends.

    BudgetExhausted is raised once ``deadline``, a time of the performance counter, has come.
    """
    rest, end = b"", float("inf")
    with _Ears(process, must_look=file is not None) as ears:
        while True:
            left = deadline - time.perf_counter()
            if left <= 0:
                raise BudgetExhausted
            ears.wait(left)
            ended = has_ended(process)  # before the reading, which is then complete
            errors.add(ears.read(process.stderr))
            data = ears.read(process.stdout) if file is None else file.read(AT_ONCE)
            *lines, rest = _split(rest + data)
            yield from _texts(lines)
            if ended and file is not None:  # others may go on writing; what counts ends here
                end = min(end, os.fstat(file.fileno()).st_size)
            if ended and (file is None or not data or file.tell() >= end):
                others = len(data) >= AT_ONCE if file is None else bool(rest) and _goes_on(file)
                if not others:  # else they have begun the last line, not the program
                    yield from _texts([rest])
                return


def has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether a program has ended, which is not buried yet: its number, by which what it has left
    can be ended, is its own until then."""
    try:
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, process.pid, how) is not None
    except (AttributeError, OSError):  # not everywhere can one look and not bury
        return process.poll() is not None


def _goes_on(file: IO[bytes]) -> bool:
    """Whether somebody else goes on writing to what a dead program wrote to."""
    time.sleep(POLL)
    return os.fstat(file.fileno()).st_size > file.tell()


class _Ears:
    """Wakes up when a program has written something, or has ended."""

    def __init__(self, process: subprocess.Popen[bytes], must_look: bool) -> None:
        self._selector = selectors.DefaultSelector()
        self._open = ExitStack()
        self._open.callback(self._selector.close)
        for stream in filter(None, (process.stdout, process.stderr)):
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ)
        self._patience = POLL if must_look or not self._hears_the_end(process.pid) else None

    def __enter__(self) -> _Ears:
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def wait(self, longest: float) -> None:
        limit = longest if self._patience is None else min(longest, self._patience)
        self._selector.select(None if limit == float("inf") else limit)

    def read(self, stream: IO[bytes] | None) -> bytes:
        """What is there to be read, without waiting for more."""
        if stream is None or stream.closed:
            return b""
        found = bytearray()
        while len(found) < AT_ONCE:
            try:
                data = os.read(stream.fileno(), 65_536)
            except BlockingIOError:
                break
            if not data:  # it has closed this output, and may go on
                with suppress(KeyError):
                    self._selector.unregister(stream)
                break
            found += data
        return bytes(found)

    def _hears_the_end(self, pid: int) -> bool:
        """Whether the system tells when the program ends; else somebody has to look."""
        try:
            handle = os.pidfd_open(pid)
        except (AttributeError, OSError):  # not Linux, or an old one
            return False
        self._open.callback(os.close, handle)
        self._selector.register(handle, selectors.EVENT_READ)
        return True


def _split(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    if len(lines[-1]) > LONGEST_LINE:
        raise BadOutputError(f"the output has a line of more than {LONGEST_LINE} characters")
    return lines


def _texts(lines: list[bytes]) -> Iterator[str]:
    for line in lines:
        yield line.decode(errors="replace")
