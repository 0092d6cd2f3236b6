"""Whoever executes runs: here, or on other machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from polarbear.execution.outcome import Outcome, Task


@dataclass(frozen=True)
class RunLimits:
    """What one run may take before it is killed."""

    seconds: float
    memory: float | None = None  # bytes; None for a share of what the machine has that executes it


class Executor(Protocol):
    """Executes runs for as long as it is used as a context."""

    @property
    def size(self) -> int:
        """How many runs go on at once, as things are now."""

    def run(self, tasks: Iterable[Task]) -> Iterator[Outcome]:
        """Execute tasks; outcomes come as they are finished, in no particular order.

        Tasks are taken from the iterable as there is room for them, so it may go on growing.
        """

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
