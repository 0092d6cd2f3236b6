"""Short runs lie ready where they will be executed, so that no worker waits for the next one.

What gives them out may be busy with something else for a moment. A long run waits for whoever is
free first: behind another it would be in the wrong place.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from multiprocessing.reduction import ForkingPickler

from polarbear.execution.outcome import Task

LYING = 0.5  # seconds of work that lie ready for a worker
MOST_LYING = 32  # runs
NEWEST = 0.2  # the weight of the newest run among those of its algorithm


class Pace:
    """How long runs are likely to take, by those that were executed since the call."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}  # for one of the budget, by algorithm

    def note(self, task: Task, seconds: float) -> None:
        """A run kept its worker busy for so long."""
        speed = seconds / task.budget
        before = self._seconds.get(task.algorithm.name, speed)
        self._seconds[task.algorithm.name] = before + NEWEST * (speed - before)

    def of(self, task: Task) -> float:
        """Seconds that a run is likely to take, up to what may lie ready; so much if unknown."""
        speed = self._seconds.get(task.algorithm.name)
        return LYING if speed is None else min(LYING, speed * task.budget)


@dataclass
class Parcel:
    """A run as it is sent to a worker, likely to take so many ``seconds``; one that was given to
    another is not wanted back."""

    task: Task
    message: memoryview
    seconds: float = LYING
    wanted: bool = True

    @classmethod
    def of(cls, task: Task, pace: Pace) -> Parcel:
        return cls(task, ForkingPickler.dumps(task), pace.of(task))


class Parcels(deque[Parcel]):
    """What a worker was given: the first is being executed, the others lie ready."""

    @property
    def wanted(self) -> bool:
        """Whether somebody waits for any of them."""
        return any(parcel.wanted for parcel in self)

    @property
    def lying(self) -> list[Parcel]:
        """Those that lie ready, and that somebody waits for."""
        return [parcel for parcel in list(self)[1:] if parcel.wanted]

    @property
    def seconds(self) -> float:
        """How long they are likely to take."""
        return sum([parcel.seconds for parcel in self])

    def have_room(self, another: Parcel, most_bytes: int) -> bool:
        """Whether one more may be sent: a worker that is busy does not read what is sent."""
        if len(self) > MOST_LYING or self.seconds >= LYING:
            return False
        unread = sum([len(parcel.message) for parcel in list(self)[1:]])
        return unread + len(another.message) <= most_bytes
