"""How long runs are likely to take, by those that are there: a batch begins with the long ones."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from polarbear.execution.outcome import Task


class Lengths:
    """Adds up how long the runs of each algorithm took, for budgets of so much."""

    def __init__(self) -> None:
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._budget: defaultdict[str, float] = defaultdict(float)

    def add(self, algorithm: str, seconds: float, budget: float) -> None:
        """Take a run into account."""
        self._seconds[algorithm] += seconds
        self._budget[algorithm] += budget

    def long_first(self, tasks: Sequence[Task]) -> list[Task]:
        """The same tasks, those first whose algorithms take long.

        Who takes less than twice as long as another goes in turns with it: the runs of one instance
        then follow each other, and a worker need not build its problem anew.
        """
        return sorted(tasks, key=self._length, reverse=True)

    def of(self, algorithm: str, budget: float) -> float:
        """Seconds that such a run is likely to take; 0 where nobody knows."""
        seconds, whole = self._seconds[algorithm], self._budget[algorithm]
        return seconds / whole * budget if seconds and whole else 0.0

    def _length(self, task: Task) -> int:
        seconds = self.of(task.algorithm.name, task.budget)
        return round(math.log2(seconds)) if seconds else 0
