"""Settings of campaigns of thousands of short commands: one core, and results kept in a file.

A campaign imports this module first, since Polars reads its number of threads when it is loaded.
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
    """The failure of each case, or None if nothing went wrong; in a file if a file is named."""

    def __init__(self, file: str | None) -> None:
        self._file = Path(file) if file else None
        self._failures: dict[str, str | None] = {}
        if self._file is not None and self._file.exists():
            for line in self._file.read_text().splitlines():
                self._failures.update(json.loads(line))

    def tried(self, case: str, attempt: Callable[[], str | None]) -> str | None:
        """The failure of a case, if any; a case that is in the file is not tried again."""
        if case not in self._failures:
            self._failures[case] = attempt()
            if self._file is not None:
                with self._file.open("a") as file:
                    file.write(json.dumps({case: self._failures[case]}) + "\n")
        return self._failures[case]
