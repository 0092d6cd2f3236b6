"""How long runs are likely to take, by those that are there: a batch begins with the long ones."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from polarbear.execution.outcome import Task


def long_first(
    tasks: Sequence[Task], runs: Mapping[tuple[str, str], Mapping[str, Any]]
) -> list[Task]:
    """The same tasks, those first whose algorithms take long.

    Who takes less than twice as long as another goes in turns with it: the runs of one instance
    then follow each other, and a worker need not build its problem anew.
    """
    seconds: dict[str, float] = defaultdict(float)
    budget: dict[str, float] = defaultdict(float)
    for (name, _), run in runs.items():
        seconds[name] += run["seconds"]
        budget[name] += run["budget"]

    def length(task: Task) -> int:
        name = task.algorithm.name
        if not seconds[name] or not budget[name]:
            return 0
        return round(math.log2(seconds[name] / budget[name] * task.budget))

    return sorted(tasks, key=length, reverse=True)
