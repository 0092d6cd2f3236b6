"""What the round after this one is likely to ask for, as far as the limits of a race allow it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from polarbear.driver.dispatch import Dispatch
from polarbear.driver.early import EarlyRuns
from polarbear.driver.ending import Spent
from polarbear.execution.outcome import Task
from polarbear.problems.base import Instance
from polarbear.racing import State
from polarbear.racing.rules import RaceLimits
from polarbear.settings.grid import EVALUATIONS


@dataclass(frozen=True)
class Allowance:
    """What the limits of a race leave for early runs in a round that runs these tasks.

    With everything that a round may still spend, early runs never bring a race above a limit.
    """

    limits: RaceLimits
    axis: str
    spent: Spent
    tasks: Sequence[Task]

    def is_last(self, state: State) -> bool:
        """Whether no round will follow."""
        rounds = self.limits.rounds
        return rounds is not None and state.round + 1 >= rounds

    def room(self, early: EarlyRuns, under_way: Iterable[Task]) -> float:
        """How much early runs may still spend on the axis."""
        evaluations, on_axis = early.spent
        begun = sum(task.budget for task in (*self.tasks, *under_way))
        rooms = [float("inf")]
        if self.limits.spent is not None:
            rooms.append(self.limits.spent - self.spent.on_axis - on_axis - begun)
        if self.limits.evaluations is not None:
            known = self.axis == EVALUATIONS  # elsewhere nobody knows what a run will evaluate
            left = self.limits.evaluations - self.spent.evaluations - evaluations - begun
            rooms.append(left if known else 0.0)
        return min(rooms)


def likely(
    state: State,
    allowance: Allowance,
    instances: Iterable[Instance],
    missing: Callable[[Instance], Sequence[Task]],
    dispatch: Dispatch,
) -> Iterator[Task]:
    """Runs on these instances that are missing, those of the first instance first."""
    early = dispatch.early
    if early is None or allowance.is_last(state):
        return
    room: float | None = None
    for instance in instances:
        for task in missing(instance):
            if early.has(task) or dispatch.has_begun(task):
                continue
            if room is None:
                room = allowance.room(early, dispatch.under_way)
            if task.budget > room:
                return
            room -= task.budget
            yield task
