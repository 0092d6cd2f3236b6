"""Shared by campaigns of thousands of short commands: one core, and results kept in a file.

It is imported first, since Polars reads its number of threads when it is loaded.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path

# Tables are small, and threads would only wait for each other.
os.environ["POLARS_MAX_THREADS"] = "1"
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {random.choice(sorted(os.sched_getaffinity(0)))})


class Kept:
    """The result of each case, None where nothing went wrong; in a file if one is named."""

    def __init__(self, file: str | None) -> None:
        self._file = Path(file) if file else None
        self._known: dict[str, str | None] = {}
        if self._file is not None and self._file.exists():
            for line in self._file.read_text().splitlines():
                self._known.update(json.loads(line))

    def tried(self, case: str, attempt: Callable[[], str | None]) -> str | None:
        """What went wrong in a case; a case that is in the file is not tried again."""
        if case not in self._known:
            self._known[case] = attempt()
            if self._file is not None:
                with self._file.open("a") as file:
                    file.write(json.dumps({case: self._known[case]}) + "\n")
        return self._known[case]
