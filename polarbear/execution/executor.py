"""Whoever executes runs: here, or on other machines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

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


@runtime_checkable
class Wakeful(Executor, Protocol):
    """An executor that can be left while runs are under way, to be asked for something else."""

    def run(
        self, tasks: Iterable[Task | None], over: Callable[[], bool] = lambda: False
    ) -> Iterator[Outcome]:
        """Execute tasks; outcomes come as they are finished, in no particular order.

        Tasks are taken from the iterable as there is room for them; None says that there is nothing
        to do just now, and that it is to be asked again. It ends when all is done, or as soon as
        it is ``over``: what is under way then goes on, and the next call tells of it.
        """

    def wake(self) -> None:
        """Let ``run`` look at once whether it is over, or has more to do; from any thread."""
