"""Look-ahead: runs that the next round is likely to request are made while workers are idle.

Speculative runs count for nothing until a round requests them, so that decisions are the same with
and without them. A run that went further than requested is cut there, as if it had been stopped.
"""

from __future__ import annotations

from polarbear.config import Config
from polarbear.execution.outcome import Outcome, Task
from polarbear.settings.grid import EVALUATIONS
from polarbear.store import Store
from polarbear.store.runs import RunKey, SpeculativeRun, StoredRun, stored_runs


class SpeculativeRuns:
    """Finished speculative runs that no round has used, in memory and in the store."""

    def __init__(self, config: Config, store: Store, retry_failed: bool = False) -> None:
        self._store = store
        self._retry_failed = retry_failed
        self._cuts = config.budget.axis == EVALUATIONS
        self._unused: dict[tuple[str, str], list[SpeculativeRun]] = {}
        self._unwritten: list[Outcome] = []
        self._used: set[RunKey] = set()
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
