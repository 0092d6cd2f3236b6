"""A run to be executed, its result, and the interface of all that execute runs."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Self

from polarbear.execution.host import IMPORTED, Where
from polarbear.numerics.arrays import Floats
from polarbear.rankings import Improvements

if TYPE_CHECKING:
    from polarbear.algorithms.base import Algorithm
    from polarbear.problems.base import Instance

MAX_MESSAGE_CHARACTERS = 2000
_NO_MORE = object()


class Status(StrEnum):
    """How a run ended."""

    BUDGET = "budget"  # stopped by PolarBear when its budget was spent
    ENDED = "ended"  # the algorithm ended before its budget; it keeps its last best
    PROVEN = "proven"  # so it did, because it has proved its best value to be optimal
    INFEASIBLE = "infeasible"  # so it did, because it has proved that there is no solution
    LIMIT = "limit"  # so it did, at a limit of its own
    CRASHED = "crashed"  # it raised, or its program failed
    BAD_OUTPUT = "bad-output"  # its program printed something that is not a trajectory
    TIMEOUT = "timeout"  # killed at the limit of seconds
    MEMORY = "memory"  # killed at the limit of memory
    KILLED = "killed"  # its process died
    LOST = "lost"  # killed from outside: by a signal, for lack of memory, or with its worker
    POISONOUS = "poisonous"  # its worker died in every attempt

    @property
    def failed(self) -> bool:
        return self is not Status.BUDGET and self not in ENDED_BY_ITSELF


# An algorithm that ended by itself keeps its last best.
ENDED_BY_ITSELF = (Status.ENDED, Status.PROVEN, Status.INFEASIBLE, Status.LIMIT)
STOPPED = (Status.BUDGET, Status.LOST)  # ends from outside, after which a run could have improved


class RunKey(NamedTuple):
    """What distinguishes a run: its algorithm, its instance, and of a contract its budget."""

    algorithm: str
    instance: str
    contract: float | None = None


@dataclass(frozen=True)
class Task:
    """One run to execute: an algorithm on an instance, up to a budget."""

    algorithm: "Algorithm"
    instance: "Instance"
    seed: int
    budget: float
    attempt: int = 1
    fingerprint: str | None = None  # of the code behind it, as stored
    seconds: float | None = None  # of a trial: it is stopped at its first value after that
    twice: bool = False  # executed twice in one process, to compare the trajectories

    @property
    def key(self) -> RunKey:
        contract = None if self.algorithm.contract is None else self.budget
        return RunKey(self.algorithm.name, self.instance.id, contract)


@dataclass(frozen=True)
class Outcome:
    """The result of one run: how it ended, and its trajectory."""

    task: Task
    status: Status
    message: str
    times: Floats
    values: Floats  # minimised: negated where larger is better
    evaluations: int = 0
    reached: float = 0.0
    seconds: float = 0.0
    invalid: int = 0  # objective values that were not finite
    started: float = 0.0  # seconds since the epoch
    where: Where = IMPORTED
    repeats_itself: bool | None = None  # of a task executed twice; None if it was not
    violations: Floats | None = None  # of the values; None if all are feasible

    def __post_init__(self) -> None:
        # Whatever a run says is quoted here, and must not fail where it is stored or printed.
        object.__setattr__(self, "message", storable(self.message))

    @property
    def improvements(self) -> Improvements:
        """Its trajectory."""
        return Improvements(self.times, self.values, self.violations)


def storable(text: str) -> str:
    """A text as plain Unicode: surrogates, as in file names that are not UTF-8, are escaped."""
    return str.encode(text, "utf-8", "backslashreplace").decode()


def shorten(text: str, limit: int = MAX_MESSAGE_CHARACTERS) -> str:
    """A message without its middle, if it is long."""
    return text if len(text) <= limit else f"{text[: limit - 300]} ... {text[-290:]}"


@dataclass(frozen=True)
class RunLimits:
    """Time and memory that one run may use before it is killed."""

    seconds: float
    memory: float | None = None  # bytes; None for a share of the memory of its machine


class Executor(ABC):
    """Executes runs while it is used as a context."""

    @property
    @abstractmethod
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
        remaining = iter(tasks)
        has_more = True
        while not over():
            while has_more and self._has_room():
                task = next(remaining, _NO_MORE)
                has_more = task is not _NO_MORE
                if not isinstance(task, Task):
                    break
                self._submit(task)
            if not has_more and not self._is_busy():
                return
            yield from self._finished()

    def preferred(self, tasks: Sequence[Task]) -> Task:
        """The task that is best started now, out of some that wait; by default the first one."""
        return tasks[0]

    @abstractmethod
    def wake(self) -> None:
        """Let ``run`` check at once whether it is over or has more to do; from any thread."""

    @abstractmethod
    def _has_room(self) -> bool:
        """Whether another task can be submitted."""

    @abstractmethod
    def _is_busy(self) -> bool:
        """Whether a submitted task is not finished."""

    @abstractmethod
    def _submit(self, task: Task) -> None:
        """Execute a task as soon as a worker is free."""

    @abstractmethod
    def _finished(self) -> Iterator[Outcome]:
        """Wait for a moment; yield the outcomes of runs that have ended."""

    @abstractmethod
    def __enter__(self) -> Self: ...

    @abstractmethod
    def __exit__(self, *error: object) -> None: ...
