"""The log of a worker process: all that its runs print, as standard output is for results."""

import io
from contextlib import suppress
from pathlib import Path
from typing import Any

from polarbear.execution.outcome import shorten

TAIL_BYTES = 8192
TAIL_LINES = 12
TAIL_CHARACTERS = 1000


def log_tail(path: Path) -> str:
    """The last lines that a run printed, shortened."""
    try:
        with path.open("rb") as log:
            log.seek(max(0, path.stat().st_size - TAIL_BYTES))
            text = log.read().decode(errors="replace")
    except OSError:
        return ""
    last_lines = text.strip().splitlines()[-TAIL_LINES:]
    return shorten("\n".join(last_lines), TAIL_CHARACTERS)


def log_stream(handle: int) -> io.TextIOWrapper:
    """A text stream that drops output instead of failing on a full disk."""
    raw = io.BufferedWriter(_TolerantFile(handle, "w", closefd=False))
    return io.TextIOWrapper(raw, "utf-8", errors="backslashreplace", line_buffering=True)


class _TolerantFile(io.FileIO):
    """A file whose write does not fail: on a full disk the data is lost."""

    def write(self, data: Any) -> int:
        with suppress(OSError):
            super().write(data)
        return len(memoryview(data).cast("B"))
