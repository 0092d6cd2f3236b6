"""What is done now and then, so seldom that it takes next to nothing of the time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

OFTEN = 1.0  # seconds: not sooner again, however quick it is
PART = 1 / 30  # of the time that it may take


class Sparing:
    """Says when something is due again: once it would take a small part of the time since."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since = clock()
        self._wait = OFTEN

    @property
    def due(self) -> bool:
        return self._clock() - self._since >= self._wait

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Do it, and see how long it takes."""
        began = self._clock()
        yield
        self._since = self._clock()
        self._wait = max(OFTEN, (self._since - began) / PART)
