"""A run to be executed, and its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polarbear.execution.host import IMPORTED, Where
from polarbear.execution.status import Status
from polarbear.numerics.arrays import Floats

if TYPE_CHECKING:
    from polarbear.algorithms.base import Algorithm
    from polarbear.problems.base import Instance


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
