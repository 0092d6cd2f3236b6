"""How far a long piece of work has come: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

import typer

from polarbear.wording import duration, noun

if TYPE_CHECKING:
    from rich.progress import Progress

EVERY = 15.0  # seconds between lines in a log


class RunProgress:
    """Progress over a known number of runs, on standard error."""

    def __init__(self, total: int, quiet: bool) -> None:
        self._total = total
        self._quiet = quiet or total == 0
        self._done = self._failed = 0
        self._begun = self._said = time.monotonic()
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
        """One more run is finished."""
        self._done += 1
        self._failed += failed
        failures = f"{self._failed} failed" if self._failed else ""
        if self._bar is not None:
            self._bar.update(self._task, advance=1, failed=failures)
        elif not self._quiet and time.monotonic() - self._said > EVERY:
            self._said = time.monotonic()
            left = (self._said - self._begun) / self._done * (self._total - self._done)
            extra = f", {failures}" if failures else ""
            typer.echo(
                f"{self._done} of {self._total} {noun(self._total, 'run')}{extra}, "
                f"{duration(left)} left",
                err=True,
            )
