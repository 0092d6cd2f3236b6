"""Announces the first compilation of a loop, without loading the compiler before it is needed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager


class _Announcement:
    """Calls ``say`` at the first compilation, once it listens to Numba."""

    def __init__(self, say: Callable[[], None]) -> None:
        self._say = say
        self._is_listening = False
        self._has_said = False
        self._installed = ExitStack()

    def listen(self) -> None:
        """Install a listener for Numba's events, which loads Numba."""
        if self._is_listening:
            return
        self._is_listening = True
        from polarbear.numerics.compilation_listener import listening

        self._installed.enter_context(listening(self.announce))

    def announce(self) -> None:
        if not self._has_said:
            self._has_said = True
            self._say()

    def end(self) -> None:
        self._installed.close()


_current: list[_Announcement] = []


@contextmanager
def on_first_compilation(say: Callable[[], None]) -> Iterator[None]:
    """Call ``say`` once if anything is compiled in this context, which may take a while.

    Numba takes half a second to load, and most commands do not use it. So if it is not loaded
    already, the listener for its events is installed when the first loop is defined.
    """
    announcement = _Announcement(say)
    _current.append(announcement)
    try:
        if "numba" in sys.modules:
            announcement.listen()
        yield
    finally:
        _current.remove(announcement)
        announcement.end()


def announce_compilation_by_numba() -> None:
    """Let the current announcements listen to Numba, which is loaded now."""
    for announcement in _current:
        announcement.listen()
