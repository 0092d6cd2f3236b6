"""The page of a report, rewritten after each round of a race."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from polarbear.api.listening import Listener
from polarbear.driver.race_progress import Watcher
from polarbear.errors import PolarBearError, ReportError
from polarbear.report.context import gather
from polarbear.report.page import is_page, write_page
from polarbear.store import Store

if TYPE_CHECKING:
    from polarbear.execution.outcome import Outcome, Task
    from polarbear.racing import RoundRecord, State


def check_place(path: Path) -> None:
    """Raise an error if the path exists and is not a page, before anything is run."""
    if path.is_dir():
        raise ReportError(f"--page {path} is a folder; name a file")
    if not path.parent.is_dir():
        raise ReportError(f"--page: there is no folder {path.parent}; create it first")
    if path.exists() and not is_page(path):
        raise ReportError(f"--page {path} exists and is not a PolarBear page; name another file")


class LivePage(Watcher):
    """Forwards events to another watcher, and writes the page after each round.

    The first failure to write the page is a warning; the race continues.
    """

    wants_draws = True

    def __init__(self, watcher: Watcher, store: Store, path: Path, listener: Listener) -> None:
        self._watcher, self._store, self._path = watcher, store, path
        self._listener = listener
        self._failed = False

    def checked(self, findings: Sequence[str]) -> None:
        self._watcher.checked(findings)

    def staffed(self, workers: int) -> None:
        self._watcher.staffed(workers)

    def begins(
        self, state: State, horizons: dict[str, float], drawn: int, tasks: Sequence[Task]
    ) -> None:
        self._watcher.begins(state, horizons, drawn, tasks)

    def finished(self, outcome: Outcome) -> None:
        self._watcher.finished(outcome)

    def ran_early(self, outcome: Outcome) -> None:
        self._watcher.ran_early(outcome)

    def infers(self) -> None:
        self._watcher.infers()

    def ends(self, record: RoundRecord) -> None:
        self._watcher.ends(record)
        self.write(follows=True)

    def write(self, follows: bool) -> None:
        """Write the page of the current state of the store."""
        try:
            write_page(gather(self._store), self._path, force=True, follows=follows)
        except PolarBearError as error:
            if not self._failed:
                self._listener.warn(f"the page was not written: {error}")
            self._failed = True
