"""Runs made before a round has asked for them, and given to the round that does.

They count for nothing until then, so that a race decides the same with them and without. A run that
went further than its round asks for is cut there, as if it had been stopped.
"""

from __future__ import annotations

from polarbear.config import Config
from polarbear.execution.outcome import Outcome, Task
from polarbear.settings.grid import EVALUATIONS
from polarbear.store import Store
from polarbear.store.runs import RunKey, SpeculativeRun, StoredRun, stored_runs


class EarlyRuns:
    """What was run early and has not been used, in memory and in the store."""

    def __init__(self, config: Config, store: Store, retry_failed: bool = False) -> None:
        self._store = store
        self._retry_failed = retry_failed
        self._cuts = config.budget.axis == EVALUATIONS
        self._kept: dict[tuple[str, str], list[SpeculativeRun]] = {}
        self._unwritten: list[Outcome] = []
        self._used: set[RunKey] = set()
        self._cut_off = (0, 0.0)  # of runs that were used: evaluations, and time on the axis
        self._alike: dict[tuple[str, str | None], list[str | None]] = {}
        left = store.speculative.runs()
        known = {run.key for run in stored_runs(store.runs())} if left else set()
        for run in left:
            if run.run.key in known:  # a killed race has left it in both places
                self._used.add(run.run.key)
            else:
                self._keep(run)

    def __len__(self) -> int:
        """Runs that no round has used."""
        return sum(map(len, self._kept.values()))

    @property
    def spent(self) -> tuple[int, float]:
        """What was spent in vain so far: evaluations, and how far runs got on the axis.

        That is on runs that no round has used, and on what was cut from those that were.
        """
        runs = [run for kept in self._kept.values() for run in kept]
        evaluations, on_axis = self._cut_off
        return (
            evaluations + sum(run.run.evaluations for run in runs),
            on_axis + sum(run.run.reached for run in runs),
        )

    def add(self, outcome: Outcome) -> None:
        """Keep a finished run for the round that may ask for it."""
        self._unwritten.append(outcome)
        self._keep(SpeculativeRun.of(outcome, 1))

    def take(self, task: Task) -> Outcome | None:
        """What came of a task if it was run early, and is not an early run any more."""
        place = (task.algorithm.name, task.instance.id)
        for run in self._kept.get(place, ()):
            cut = self._as_of(run, task)
            if cut is not None:
                self._kept[place].remove(run)
                self._used.add(run.run.key)
                evaluations, on_axis = self._cut_off
                self._cut_off = (
                    evaluations + run.run.evaluations - cut.run.evaluations,
                    on_axis + run.run.reached - cut.run.reached,
                )
                return cut.outcome(task)
        return None

    def has(self, task: Task) -> bool:
        """Whether a task was run early."""
        runs = self._kept.get((task.algorithm.name, task.instance.id), ())
        return any(self._as_of(run, task) is not None for run in runs)

    def fits(self, early: Task, asked: Task) -> bool:
        """Whether a task that is being run early will do for one that a round asks for."""
        enough = early.budget >= asked.budget if self._cuts else early.budget == asked.budget
        return enough and early.seed == asked.seed and early.fingerprint == asked.fingerprint

    def write(self, workers: int) -> None:
        """Bring the store up to date; runs that a round has used must be among its own by now."""
        new = [one for one in self._unwritten if StoredRun.of(one, workers).key not in self._used]
        if new or self._used:
            self._store.speculative.change(new, workers, self._used.__contains__)
        self._unwritten.clear()
        self._used.clear()

    def _keep(self, run: SpeculativeRun) -> None:
        self._kept.setdefault((run.run.algorithm, run.run.instance), []).append(run)

    def _made_by(self, task: Task) -> list[str | None]:
        """What may have made a run of a task."""
        facts = (task.algorithm.name, task.fingerprint)
        if facts not in self._alike:
            self._alike[facts] = self._store.provenance.alike(*facts)
        return self._alike[facts]

    def _as_of(self, run: SpeculativeRun, task: Task) -> SpeculativeRun | None:
        """An early run as what a task asks for, if it is that."""
        if run.run.seed != task.seed or run.run.fingerprint not in self._made_by(task):
            return None
        if self._retry_failed and run.run.status.failed:
            return None
        if self._cuts:
            return run.cut(task.budget)
        return run if run.run.budget == task.budget else None
