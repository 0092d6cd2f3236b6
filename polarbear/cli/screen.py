"""Prints the notes and warnings of a call, and shows its progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from polarbear.api.listening import Listener
from polarbear.cli import output
from polarbear.wording import counted

if TYPE_CHECKING:
    from polarbear.api.race_events import StoreOnDisk, Watcher


class Screen(Listener):
    """Notes, warnings and progress on standard error."""

    def __init__(self, verbose: bool = False) -> None:
        self._verbose = verbose

    def note(self, text: str) -> None:
        output.note(text)

    def warn(self, text: str) -> None:
        output.note(f"warning: {text}")

    def doubts(self, problem: str) -> None:
        output.error(f"warning: do not trust this posterior: {problem}")

    def not_kept(self, reason: str) -> None:
        output.note(f"note: the posterior was not kept: {reason}")

    def planned(self, runs: int, present: int, folder: Path, workers: int) -> None:
        if self._verbose:
            output.error(
                f"{counted(runs, 'run')} to do, {present} in {folder} already, {workers} at once"
            )

    @contextmanager
    def race(self, store: StoreOnDisk) -> Iterator[Watcher]:
        from polarbear.cli.progress_display import RaceProgress, live_display

        watcher = RaceProgress(store)
        with live_display(watcher.picture):
            yield watcher

    @contextmanager
    def runs(self, total: int) -> Iterator[Callable[[bool], None]]:
        from polarbear.cli.progress_display import RunProgress, live_display

        progress = RunProgress(total)
        with live_display(progress.picture):
            yield progress.advance
