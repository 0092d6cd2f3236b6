"""When a gate looks at its data: after given numbers of instances, or as often as time permits.

The error that a test may have used by a look depends on the plan alone, never on the results: it is
proportional to the instances so far (of a limit), or to the time so far (of a number of minutes).
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable

from polarbear.regression.gate_decision import look_sizes

FIRST = 8  # instances at the first look
GROWTH = 0.25  # of the instances so far, by which a batch grows


class LookPlan(ABC):
    """The numbers of instances at the looks, and the shares of the error used by them."""

    @abstractmethod
    def next_size(self) -> int | None:
        """The number of instances of the next look; None after the last one."""

    @abstractmethod
    def share(self) -> float:
        """The share of the error that may have been used by the present look, after its runs."""

    @property
    @abstractmethod
    def limit(self) -> int | None:
        """The number of instances of the last look; None where only time limits it."""


class LimitPlan(LookPlan):
    """Looks up to a limit of instances."""

    def __init__(self, limit: int) -> None:
        self.sizes = look_sizes(limit, FIRST, GROWTH)
        self._next = 0

    def next_size(self) -> int | None:
        if self._next == len(self.sizes):
            return None
        self._next += 1
        return self.sizes[self._next - 1]

    def share(self) -> float:
        return self.sizes[self._next - 1] / self.sizes[-1]

    @property
    def limit(self) -> int | None:
        return self.sizes[-1]


class TimePlan(LookPlan):
    """Looks as long as the next batch fits into the time, by the duration of the last one."""

    def __init__(
        self, seconds: float, limit: int | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds = seconds
        self._limit = limit
        self._clock = clock
        self._begun = clock()
        self._batch_begun = self._begun
        self._size = 0
        self._batch = 0
        self._is_last = False

    def next_size(self) -> int | None:
        if self._is_last:
            return None
        self._batch = max(FIRST, int(GROWTH * self._size))
        if self._size:
            self._batch = min(self._batch, self._fitting())
        if self._limit is not None:
            self._batch = min(self._batch, self._limit - self._size)
        self._batch_begun = self._clock()
        self._size += self._batch
        return self._size

    def share(self) -> float:
        is_at_limit = self._limit is not None and self._size >= self._limit
        self._is_last = is_at_limit or self._fitting() < 1
        if self._is_last:
            return 1.0
        return (self._clock() - self._begun) / self._seconds

    @property
    def limit(self) -> int | None:
        return None

    def _fitting(self) -> int:
        """The number of instances that fit into the remaining time."""
        now = self._clock()
        seconds_per_instance = max((now - self._batch_begun) / max(self._batch, 1), 1e-6)
        return int((self._begun + self._seconds - now) / seconds_per_instance)
