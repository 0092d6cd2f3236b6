"""Work of this process's own that goes on in a thread, while another serves workers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

Result = TypeVar("Result")


class Thinking(threading.Thread, Generic[Result]):
    """Some work in a thread, and what came of it; ``wake`` is called when it is done."""

    def __init__(self, work: Callable[[], Result], wake: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self._work = work
        self._wake = wake
        self._result: list[Result] = []
        self._error: BaseException | None = None
        self.done = False
        self.given_up = False  # `in_threads` looks at it

    def run(self) -> None:
        try:
            self._result.append(self._work())
        except BaseException as error:
            self._error = error
        self.done = True
        with suppress(OSError):  # there may be nobody left to wake
            self._wake()

    def result(self) -> Result:
        """What the work has come to, once it is done."""
        self.join()
        if self._error is not None:
            raise self._error
        return self._result[0]

    def give_up(self) -> None:
        """Let the work end at the next item that its threads share; nobody waits for it.

        An exception is not thrown into it: one that meets a thread while it starts another ends
        the other before it has begun, and then the first waits for ever.
        """
        self.given_up = True
