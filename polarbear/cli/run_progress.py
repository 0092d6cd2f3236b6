"""Progress of a known number of runs: a bar on a terminal, lines in a log."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

import typer

from polarbear.wording import counted, duration

if TYPE_CHECKING:
    from rich.progress import Progress

LOG_INTERVAL_SECONDS = 15.0


class RunProgress:
    """Shows the number of finished runs on standard error."""

    def __init__(self, total: int, quiet: bool) -> None:
        self._total = total
        self._quiet = quiet or total == 0
        self._done = self._failed = 0
        self._begun = self._last_line = time.monotonic()
        self._bar: Progress | None = None

    def __enter__(self) -> RunProgress:
        if not self._quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                Progress,
                TextColumn,
                TimeElapsedColumn,
                TimeRemainingColumn,
            )

            self._bar = Progress(
                TextColumn("running"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[failed]}"),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
                console=Console(stderr=True, emoji=False),
            )
            self._bar.start()
            self._task = self._bar.add_task("running", total=self._total, failed="")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, failed: bool) -> None:
        """Count a finished run."""
        self._done += 1
        self._failed += failed
        failures = f"{self._failed} failed" if self._failed else ""
        if self._bar is not None:
            self._bar.update(self._task, advance=1, failed=failures)
        elif not self._quiet and time.monotonic() - self._last_line > LOG_INTERVAL_SECONDS:
            self._last_line = time.monotonic()
            left = (self._last_line - self._begun) / self._done * (self._total - self._done)
            extra = f", {failures}" if failures else ""
            typer.echo(
                f"{self._done} of {counted(self._total, 'run')}{extra}, {duration(left)} left",
                err=True,
            )
