"""What a call has to say while it works, on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from polarbear.api.listening import Listener
from polarbear.cli import common
from polarbear.wording import noun

if TYPE_CHECKING:
    from polarbear.driver.watching import Watcher
    from polarbear.store import Store


class Screen(Listener):
    """Notes, warnings and progress for the person who watches, apart from the results."""

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

    def repeats(self, note: str) -> None:
        """Nothing: it is among the notes that the command prints."""

    def planned(self, runs: int, present: int, folder: Path, workers: int) -> None:
        if self._verbose:
            todo = f"{runs} {noun(runs, 'run')} to do"
            common.note(f"{todo}, {present} in {folder} already, {workers} at once")

    def race(self, store: Store) -> AbstractContextManager[Watcher]:
        from polarbear.cli.live import RaceProgress

        return RaceProgress(store, self._quiet)

    @contextmanager
    def runs(self, total: int) -> Iterator[Callable[[bool], None]]:
        from polarbear.cli.progress import RunProgress

        with RunProgress(total, self._quiet) as progress:
            yield progress.advance
