"""A run to be executed, how it ended, and its result."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from polarbear.execution.host import IMPORTED, Where
from polarbear.numerics.arrays import Floats

if TYPE_CHECKING:
    from polarbear.algorithms.base import Algorithm
    from polarbear.problems.base import Instance


class Status(StrEnum):
    """How a run ended."""

    BUDGET = "budget"  # stopped by PolarBear when its budget was spent
    ENDED = "ended"  # the algorithm ended before its budget; it keeps its last best
    CRASHED = "crashed"  # it raised, or its program failed
    BAD_OUTPUT = "bad-output"  # its program printed something that is not a trajectory
    TIMEOUT = "timeout"  # killed at the limit of seconds
    MEMORY = "memory"  # killed at the limit of memory
    KILLED = "killed"  # its process died
    LOST = "lost"  # killed from outside: by a signal, for lack of memory, or with its worker
    POISONOUS = "poisonous"  # its worker died in every attempt

    @property
    def failed(self) -> bool:
        return self not in (Status.BUDGET, Status.ENDED)


@dataclass(frozen=True)
class Task:
    """One run to execute: an algorithm on an instance, up to a budget."""

    algorithm: Algorithm
    instance: Instance
    seed: int
    budget: float
    attempt: int = 1
    fingerprint: str | None = None  # of the code behind it, as stored
    seconds: float | None = None  # of a trial: it is stopped at its first value after that


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
