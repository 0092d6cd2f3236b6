"""Estimates of run times, and the price of taking the decisions of a race again."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from polarbear.config import Config
from polarbear.driver.collect import workers_of
from polarbear.driver.stale_runs import StaleRuns
from polarbear.execution.outcome import Status, Task
from polarbear.store import Store
from polarbear.store.runs import stored_runs as runs_of
from polarbear.wording import counted, duration


class RuntimeEstimates:
    """Estimates seconds per run from the finished runs of each algorithm."""

    def __init__(self) -> None:
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._budget: defaultdict[str, float] = defaultdict(float)

    def add(self, algorithm: str, seconds: float, budget: float) -> None:
        """Take a run into account."""
        self._seconds[algorithm] += seconds
        self._budget[algorithm] += budget

    def seconds(self, algorithm: str, budget: float) -> float:
        """The estimated seconds of a run; 0 where nothing is known."""
        total, whole = self._seconds[algorithm], self._budget[algorithm]
        return total / whole * budget if total and whole else 0.0

    def longest_first(self, tasks: Sequence[Task]) -> list[Task]:
        """The same tasks, those of slow algorithms first.

        Algorithms within a factor of two alternate: runs on one instance then follow each other,
        and a worker builds its problem once.
        """

        def size(task: Task) -> int:
            seconds = self.seconds(task.algorithm.name, task.budget)
            return round(math.log2(seconds)) if seconds else 0

        return sorted(tasks, key=size, reverse=True)


@dataclass(frozen=True)
class Cost:
    """The price of taking decisions again: at most this many runs, and about this many seconds.

    ``deciding`` is the time of the last posterior for each of the rounds, None where it is unknown;
    ``running`` is the time of the runs by stored run times, on all workers.
    """

    repeat: int
    extend: int
    rounds: int
    deciding: float | None
    running: float

    @property
    def words(self) -> str:
        extend = ""
        if self.extend:
            extend = f", up to {counted(self.extend, 'run')} to extend (from their beginning)"
        seconds = self.running + (self.deciding or 0.0)
        about = f", in about {duration(seconds)}" if seconds else ""
        return (
            f"{counted(self.repeat, 'run')} to repeat, {counted(self.rounds, 'round')} to decide "
            f"again{extend}{about}"
        )


def cost_of(config: Config, store: Store, stale: Sequence[StaleRuns]) -> Cost:
    """Count stale runs, and runs that end before the grid does."""
    rounds, limit = store.rounds.numbers(), config.budget.limit
    outdated = {run.run: run for one in stale for run in runs_of(one.runs)}
    names = {algorithm.name for algorithm in config.algorithms}
    estimates, short = RuntimeEstimates(), []
    for run in runs_of(store.runs()):
        estimates.add(run.algorithm, run.seconds, run.budget)
        ends_early = run.status is Status.BUDGET and run.reached < limit
        if run.algorithm in names and ends_early and run.run not in outdated:
            short.append(run.algorithm)
    running = sum(estimates.seconds(run.algorithm, run.budget) for run in outdated.values())
    running += sum(estimates.seconds(name, limit) for name in short)
    last, deciding = store.rounds.last(), None
    if last is not None and last.posterior in store.posteriors.stored():
        deciding = len(rounds) * float(store.posteriors.facts(last.posterior)["seconds"])
    return Cost(len(outdated), len(short), len(rounds), deciding, running / workers_of(config))
