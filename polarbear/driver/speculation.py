"""Look-ahead: runs that the next round is likely to request are made while workers are idle.

Speculative runs count for nothing until a round requests them, so that decisions are the same with
and without them. A run that went further than requested is cut there, as if it had been stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from polarbear.config import Config
from polarbear.driver.stopping import Spent
from polarbear.execution.outcome import Outcome, Task
from polarbear.problems.base import Instance
from polarbear.racing import State
from polarbear.racing.rules import RaceLimits
from polarbear.settings.grid import EVALUATIONS
from polarbear.store import Store
from polarbear.store.runs import RunKey, SpeculativeRun, StoredRun, stored_runs

DECISIONS_AHEAD = 4  # speculative runs may take as long as this many decisions
MAX_SHORT_RUNS = 1024  # speculative runs, where that is more than the option `early`


class SpeculativeRuns:
    """Finished speculative runs that no round has used, in memory and in the store."""

    def __init__(self, config: Config, store: Store, retry_failed: bool = False) -> None:
        self._store = store
        self._retry_failed = retry_failed
        self._cuts = config.budget.axis == EVALUATIONS
        self._unused: dict[tuple[str, str], list[SpeculativeRun]] = {}
        self._unwritten: list[Outcome] = []
        self._used: set[RunKey] = set()
        self._cut_off = (0, 0.0)  # from used runs: evaluations, and time on the axis
        self._alike: dict[tuple[str, str | None], list[str | None]] = {}
        stored = store.speculative.runs()
        known = {run.key for run in stored_runs(store.runs())} if stored else set()
        for run in stored:
            if run.run.key in known:  # a killed race has left it in both places
                self._used.add(run.run.key)
            else:
                self._keep(run)

    def __len__(self) -> int:
        """The number of unused runs."""
        return sum(map(len, self._unused.values()))

    @property
    def wasted(self) -> tuple[int, float]:
        """Evaluations and time on the axis of unused runs, and of what was cut from used ones."""
        runs = [run for kept in self._unused.values() for run in kept]
        evaluations, on_axis = self._cut_off
        return (
            evaluations + sum(run.run.evaluations for run in runs),
            on_axis + sum(run.run.reached for run in runs),
        )

    def add(self, outcome: Outcome) -> None:
        """Keep a finished run for the round that may request it."""
        self._unwritten.append(outcome)
        self._keep(SpeculativeRun.of(outcome, 1))

    def take(self, task: Task) -> Outcome | None:
        """Remove and return the outcome of a task, if there is one."""
        place = (task.algorithm.name, task.instance.id)
        for run in self._unused.get(place, ()):
            cut = self._as_of(run, task)
            if cut is not None:
                self._unused[place].remove(run)
                self._used.add(run.run.key)
                evaluations, on_axis = self._cut_off
                self._cut_off = (
                    evaluations + run.run.evaluations - cut.run.evaluations,
                    on_axis + run.run.reached - cut.run.reached,
                )
                return cut.outcome(task)
        return None

    def has(self, task: Task) -> bool:
        """Whether there is an outcome of a task."""
        runs = self._unused.get((task.algorithm.name, task.instance.id), ())
        return any(self._as_of(run, task) is not None for run in runs)

    def fits(self, running: Task, requested: Task) -> bool:
        """Whether the outcome of a task that is under way will answer a request."""
        budgets = running.budget, requested.budget
        enough = budgets[0] >= budgets[1] if self._cuts else budgets[0] == budgets[1]
        facts = [(task.seed, task.fingerprint) for task in (running, requested)]
        return enough and facts[0] == facts[1]

    def write(self, workers: int) -> None:
        """Bring the store up to date; used runs must be stored with their round by now."""
        new = [one for one in self._unwritten if StoredRun.of(one, workers).key not in self._used]
        if new or self._used:
            self._store.speculative.change(new, workers, self._used.__contains__)
        self._unwritten.clear()
        self._used.clear()

    def _keep(self, run: SpeculativeRun) -> None:
        self._unused.setdefault((run.run.algorithm, run.run.instance), []).append(run)

    def _as_of(self, run: SpeculativeRun, task: Task) -> SpeculativeRun | None:
        """A run as the outcome of a task, if it is one."""
        facts = (task.algorithm.name, task.fingerprint)
        if facts not in self._alike:
            self._alike[facts] = self._store.provenance.alike(*facts)
        if run.run.seed != task.seed or run.run.fingerprint not in self._alike[facts]:
            return None
        if self._retry_failed and run.run.status.failed:
            return None
        if self._cuts:
            return run.cut(task.budget)
        return run if run.run.budget == task.budget else None


@dataclass(frozen=True)
class Allowance:
    """What the limits of a race leave for speculative runs in a round that runs these tasks.

    Together with the tasks they never bring a race above a limit.
    """

    limits: RaceLimits
    axis: str
    spent: Spent
    tasks: Sequence[Task]

    def is_last(self, state: State) -> bool:
        """Whether no round will follow."""
        rounds = self.limits.rounds
        return rounds is not None and state.round + 1 >= rounds

    def left(self, runs: SpeculativeRuns, under_way: Iterable[Task]) -> float:
        """How much speculative runs may still spend on the axis."""
        evaluations, on_axis = runs.wasted
        started = sum(task.budget for task in (*self.tasks, *under_way))
        found = [float("inf")]
        if self.limits.spent is not None:
            found.append(self.limits.spent - self.spent.on_axis - on_axis - started)
        if self.limits.evaluations is not None:
            left = self.limits.evaluations - self.spent.evaluations - evaluations - started
            # on another axis the evaluations of a run are unknown
            found.append(left if self.axis == EVALUATIONS else 0.0)
        return min(found)


def likely_tasks(
    allowance: Allowance,
    instances: Iterable[Instance],
    missing: Callable[[Instance], Sequence[Task]],
    runs: SpeculativeRuns,
    under_way: Callable[[], Sequence[Task]],
    has_started: Callable[[Task], bool],
) -> Iterator[Task]:
    """Missing runs on these instances as far as the allowance permits, instance by instance."""
    left: float | None = None
    for instance in instances:
        for task in missing(instance):
            if runs.has(task) or has_started(task):
                continue
            if left is None:
                left = allowance.left(runs, under_way())
            if task.budget > left:
                return
            left -= task.budget
            yield task


def runs_ahead(early: float, workers: int, deciding: float, seconds_per_run: float) -> float:
    """The number of runs that may be ahead of the rounds.

    Short runs may fill the time of some decisions, because rounds without missing runs follow each
    other at once.
    """
    if not seconds_per_run:
        return early * workers
    while_deciding = DECISIONS_AHEAD * deciding * workers / seconds_per_run
    return max(early * workers, min(while_deciding, MAX_SHORT_RUNS))
