"""Who is told how a call goes on, and what it has to warn of."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from polarbear.errors import PolarBearWarning

if TYPE_CHECKING:
    from polarbear.driver.watching import Watcher
    from polarbear.store import Store as StoreOnDisk

PACKAGE = __name__.partition(".")[0]


class Listener:
    """Hears what a call has to say while it works; this one shows no progress.

    Notes go to the logger 'polarbear', warnings to Python's own. A subclass may show them in
    another way, and show progress by what ``race`` and ``runs`` return.
    """

    def note(self, text: str) -> None:
        """Something worth knowing, such as that a Stan program has to be compiled."""
        logging.getLogger(PACKAGE).info(text)

    def warn(self, text: str) -> None:
        """Something that may make results worse than they look."""
        warnings.warn(text, PolarBearWarning, stacklevel=_levels_to_the_caller())

    def doubts(self, problem: str) -> None:
        """A posterior fails one of its diagnostics."""
        self.warn(f"do not trust this posterior: {problem}")

    def not_kept(self, reason: str) -> None:
        """A posterior was inferred, but the store could not take it."""
        self.warn(f"the posterior was not kept: {reason}")

    def planned(self, runs: int, present: int, folder: Path, workers: int) -> None:
        """So many runs are to be done, so many at once; others are in the folder already."""

    def race(self, store: StoreOnDisk) -> AbstractContextManager[Watcher]:
        """Who looks on while this store's race goes on."""
        from polarbear.driver.watching import Watcher

        warn = self.warn

        class Heard(Watcher):
            def checked(self, findings: Sequence[str]) -> None:
                for line in findings:
                    warn(line)

        return nullcontext(Heard())

    def runs(self, total: int) -> AbstractContextManager[Callable[[bool], None]]:
        """What is called after each of so many runs, with whether it failed."""
        return nullcontext(lambda failed: None)


def _levels_to_the_caller() -> int:
    """How far up the stack the line stands that called into the package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        level, frame = level + 1, frame.f_back
    return level
