"""A listener for the events of Numba that calls a function whenever something is compiled."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from numba.core import event


class _CompilationListener(event.Listener):
    def __init__(self, announce: Callable[[], None]) -> None:
        self._announce = announce

    def on_start(self, event: Any) -> None:
        self._announce()

    def on_end(self, event: Any) -> None:
        pass


def listening(announce: Callable[[], None]) -> AbstractContextManager[Any]:
    """Call ``announce`` at the beginning of each compilation while the context lasts."""
    listener = _CompilationListener(announce)
    installed: AbstractContextManager[Any] = event.install_listener("numba:compile", listener)
    return installed
