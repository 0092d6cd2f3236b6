"""Prints notes, warnings and progress of a call on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from polarbear.api.listening import Listener
from polarbear.cli import common
from polarbear.wording import counted

if TYPE_CHECKING:
    from polarbear.api.race_events import StoreOnDisk, Watcher


class Screen(Listener):
    """Notes, warnings and progress on standard error, apart from the results."""

    def __init__(self, quiet: bool, verbose: bool = False) -> None:
        self._quiet = quiet
        self._verbose = verbose

    def note(self, text: str) -> None:
        common.note(text, self._quiet)

    def warn(self, text: str) -> None:
        common.note(f"warning: {text}", self._quiet)

    def doubts(self, problem: str) -> None:
        common.note(f"warning: do not trust this posterior: {problem}")

    def not_kept(self, reason: str) -> None:
        common.note(f"note: the posterior was not kept: {reason}", self._quiet)

    def planned(self, runs: int, present: int, folder: Path, workers: int) -> None:
        if self._verbose:
            common.note(
                f"{counted(runs, 'run')} to do, {present} in {folder} already, {workers} at once"
            )

    def race(self, store: StoreOnDisk) -> AbstractContextManager[Watcher]:
        from polarbear.cli.live import RaceProgress

        return RaceProgress(store, self._quiet)

    @contextmanager
    def runs(self, total: int) -> Iterator[Callable[[bool], None]]:
        from polarbear.cli.run_progress import RunProgress

        with RunProgress(total, self._quiet) as progress:
            yield progress.advance
