"""The interface of all that execute runs: a local pool, a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, Self

from polarbear.execution.outcome import Outcome, Task


@dataclass(frozen=True)
class RunLimits:
    """Time and memory that one run may use before it is killed."""

    seconds: float
    memory: float | None = None  # bytes; None for a share of the memory of its machine


class Executor(Protocol):
    """Executes runs while it is used as a context."""

    @property
    def size(self) -> int:
        """The number of runs that are executed at once, at present."""

    def run(
        self, tasks: Iterable[Task | None], over: Callable[[], bool] = lambda: False
    ) -> Iterator[Outcome]:
        """Execute tasks; yield outcomes as they are finished, in no particular order.

        Tasks are taken from the iterable when there is room for them. None means that there is no
        task at present; the iterable is asked again later. The iterator ends when all tasks are
        done, or as soon as ``over`` returns True: runs that have begun then continue, and the next
        call yields their outcomes.
        """

    def wake(self) -> None:
        """Let ``run`` check at once whether it is over or has more to do; from any thread."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...
