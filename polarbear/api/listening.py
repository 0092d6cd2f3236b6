"""Receives notes, warnings and progress of a call."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from polarbear.errors import PolarBearWarning
from polarbear.numerics.announcing import on_first_compilation

if TYPE_CHECKING:
    from polarbear.driver.race_progress import Watcher
    from polarbear.store import StoreOnDisk

__all__ = ["Listener", "Progress", "on_first_compilation"]
PACKAGE = __name__.partition(".")[0]


class Listener:
    """Receives notes and warnings during a call; this one shows no progress.

    Notes go to the logger 'polarbear', warnings to `warnings.warn`. A subclass may show them in
    another way, and show progress by the objects that ``race`` and ``runs`` return.

    >>> class Printed(pb.Listener):
    ...     def warn(self, text):
    ...         print("careful:", text)
    >>> answer = store.select(listener=Printed())
    """

    def note(self, text: str) -> None:
        """Useful information in a ``text``, for example that a Stan program has to be compiled."""
        logging.getLogger(PACKAGE).info(text)

    def warn(self, text: str) -> None:
        """A ``text`` about a limit of the results."""
        warnings.warn(text, PolarBearWarning, stacklevel=_levels_to_the_caller())

    def doubts(self, problem: str) -> None:
        """A posterior fails a diagnostic, which has this ``problem``."""
        self.warn(f"do not trust this posterior: {problem}")

    def not_kept(self, reason: str) -> None:
        """A posterior was inferred, but could not be stored for this ``reason``."""
        self.warn(f"the posterior was not kept: {reason}")

    def planned(self, runs: int, present: int, folder: Path, workers: int) -> None:
        """``runs`` are to be made by ``workers``; ``present`` are stored in the ``folder``."""

    def race(self, store: StoreOnDisk) -> AbstractContextManager[Watcher | None]:
        """The observer of the race of this ``store``, if any."""
        return nullcontext()

    def runs(self, total: int) -> AbstractContextManager[Callable[[bool], None]]:
        """A function that is called after each of ``total`` runs, with whether it failed."""
        return nullcontext(lambda failed: None)


class Progress(Listener):
    """Also shows progress in a notebook or on a terminal, or as notes at intervals."""

    is_shown = True
    is_verbose = False

    def race(self, store: StoreOnDisk) -> AbstractContextManager[Watcher | None]:
        if not self.is_shown:
            return super().race(store)
        from polarbear.api.progress_display import race_display  # imports rich

        return race_display(store, self.note, self.is_verbose)

    def runs(self, total: int) -> AbstractContextManager[Callable[[bool], None]]:
        if not self.is_shown:
            return super().runs(total)
        from polarbear.api.progress_display import runs_display  # imports rich

        return runs_display(total, self.note)


def _levels_to_the_caller() -> int:
    """The number of stack levels up to the line that called into the package."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        level += 1
        frame = frame.f_back
    return level
