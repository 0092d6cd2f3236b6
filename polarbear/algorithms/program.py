"""A program run as a child process: its lines of output, its end, and why it failed.

A child that the program leaves behind may keep its output open forever, so reading ends with the
program. All that the program has written by then is read.
"""

import os
import selectors
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from typing import IO, Self

from polarbear.algorithms.solver_logs.log_reader import MAX_LOG_LINE
from polarbear.errors import AlgorithmError, BadOutputError, BudgetExhausted, KilledFromOutsideError

POLL_SECONDS = 0.02
MAX_LINE_BYTES = 65_536
MAX_READ_BYTES = 2**20  # more than any pipe holds, so that one read empties a dead program's pipe
MAX_ERROR_BYTES = 1000  # kept of standard error
# Sent by users, by schedulers and, when memory runs out, by the kernel. Signals that a process
# causes itself (SIGSEGV, SIGABRT, SIGFPE and others) are not among them.
EXTERNAL_SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)
KILLED_IN_SHELL = 128 + signal.SIGKILL  # the exit code of a shell whose program was killed


def killed_from_outside(exit_code: int | None) -> bool:
    """Whether a process with this exit code was killed by another one."""
    return exit_code is not None and (
        -exit_code in EXTERNAL_SIGNALS or exit_code == KILLED_IN_SHELL
    )


class Program:
    """A program in its own process group, which ends with this context.

    Its lines come from standard output or, if given, from the file that it writes.
    """

    def __init__(
        self,
        arguments: list[str],
        folder: str,
        written: IO[bytes] | None,
        cuts_long_lines: bool = False,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._name = arguments[0]
        self._clock = clock
        self._started = clock()
        self._cuts_long_lines = cuts_long_lines
        self._written = written
        self._errors = b""
        self._selector = selectors.DefaultSelector()
        try:
            self._process = subprocess.Popen(
                arguments,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if written is None else subprocess.DEVNULL,
                stderr=subprocess.PIPE,  # not a file: a full disk would fail the program
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            self._selector.close()
            reason = getattr(error, "strerror", None) or error
            raise AlgorithmError(f"cannot start {shlex.join(arguments)}: {reason}") from None
        for stream in self._streams():
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._end()
        self._selector.close()
        for stream in self._streams():
            stream.close()

    def seconds(self) -> float:
        """The time since the program was started, by the clock."""
        return self._clock() - self._started

    def lines(self, limit: float) -> Iterator[list[str]]:
        """The lines that arrive together, until the program ends.

        BudgetExhausted is raised when the clock has reached the limit.
        """
        rest = b""
        while True:
            seconds_left = limit - self.seconds()
            if seconds_left <= 0:
                raise BudgetExhausted
            self._selector.select(min(seconds_left, POLL_SECONDS))
            # Asked before reading, so that the last read is complete.
            has_ended = self._process.poll() is not None
            self._errors = (self._errors + self._read(self._process.stderr))[-MAX_ERROR_BYTES:]
            if self._written is None:
                data = self._read(self._process.stdout)
            else:
                size = os.fstat(self._written.fileno()).st_size
                data = self._written.read(max(0, size - self._written.tell()))
            *lines, rest = (rest + data).split(b"\n")
            if self._cuts_long_lines:
                rest = rest[:MAX_LOG_LINE]
            elif len(rest) > MAX_LINE_BYTES:
                raise BadOutputError(f"the output has a line of over {MAX_LINE_BYTES} characters")
            if has_ended and self._process.returncode >= 0:
                lines.append(rest)  # a program that was killed may have left a part of a line
            yield [line.decode(errors="replace") for line in lines]
            if has_ended:
                return

    def check_exit(self, successes: Container[int] = (0,)) -> None:
        """Raise if the program failed: if its exit code is not one of ``successes``."""
        code = self._end()
        if code not in successes:
            end = f"ended with exit code {code}" if code > 0 else f"was killed by signal {-code}"
            message = f"{self._name} {end}"
            errors = self._errors.decode(errors="replace").strip()
            if errors:
                message += f"; standard error: {errors}"
            if killed_from_outside(code):
                raise KilledFromOutsideError(message)
            raise AlgorithmError(message)

    def _streams(self) -> list[IO[bytes]]:
        return [stream for stream in (self._process.stdout, self._process.stderr) if stream]

    def _read(self, stream: IO[bytes] | None) -> bytes:
        """All that can be read without waiting."""
        output = bytearray()
        while stream is not None and len(output) < MAX_READ_BYTES:
            try:
                block = os.read(stream.fileno(), 65_536)
            except BlockingIOError:
                break
            if not block:  # closed by the program, which may still run
                with suppress(KeyError):
                    self._selector.unregister(stream)
                break
            output += block
        return bytes(output)

    def _end(self) -> int:
        """Kill the process group if the program still runs; return the program's exit code.

        The worker kills all that an ended program has left behind.
        """
        if self._process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        return self._process.wait()
