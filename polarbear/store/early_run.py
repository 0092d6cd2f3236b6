"""A run that was made before any round has asked for it, as it is kept until one does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from polarbear.execution.host import Where
from polarbear.execution.outcome import Outcome, Task
from polarbear.execution.status import Status
from polarbear.numerics.arrays import Floats


@dataclass(frozen=True)
class EarlyRun:
    """A finished run that no round has asked for yet."""

    algorithm: str
    instance: str
    seed: int
    budget: float
    fingerprint: str | None
    status: Status
    message: str
    times: Floats
    values: Floats
    evaluations: int
    reached: float
    seconds: float
    invalid: int
    started: float
    where: Where

    @classmethod
    def of(cls, outcome: Outcome) -> EarlyRun:
        task = outcome.task
        return cls(
            task.algorithm.name,
            task.instance.id,
            task.seed,
            task.budget,
            task.fingerprint,
            outcome.status,
            outcome.message,
            outcome.times,
            outcome.values,
            outcome.evaluations,
            outcome.reached,
            outcome.seconds,
            outcome.invalid,
            outcome.started,
            outcome.where,
        )

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> EarlyRun:
        return cls(
            row["algorithm"],
            row["instance"],
            row["seed"],
            row["budget"],
            row["fingerprint"],
            Status(row["status"]),
            row["message"],
            np.array(row["t"], dtype=np.float64),
            np.array(row["y"], dtype=np.float64),
            row["evaluations"],
            row["reached"],
            row["seconds"],
            row["invalid"],
            row["started"].timestamp(),
            Where(row["host"], row["cpu"], row["load"], row["worker"] or ""),
        )

    def outcome(self, task: Task) -> Outcome:
        """The same as what came of a task that a round has given."""
        return Outcome(
            task,
            self.status,
            self.message,
            self.times,
            self.values,
            self.evaluations,
            self.reached,
            self.seconds,
            self.invalid,
            self.started,
            self.where,
        )

    def cut(self, budget: float) -> EarlyRun | None:
        """The same run as it would have been up to an earlier budget, on the evaluation axis.

        None where nobody can tell: it did not get so far, or was killed before it was seen there.
        """
        if budget == self.budget:
            return self
        if budget > self.budget:
            return None
        if self.reached <= budget:
            seen = self.status in (Status.ENDED, Status.CRASHED, Status.BAD_OUTPUT)
            return replace(self, budget=budget) if seen else None
        inside = self.times <= budget
        return replace(
            self,
            budget=budget,
            status=Status.BUDGET,
            message="",
            times=self.times[inside],
            values=self.values[inside],
            evaluations=int(budget),
            reached=budget,
        )
