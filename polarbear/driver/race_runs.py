"""All runs of a race in memory: their values on the grid, and estimates of run times.

A race that is decided again replays rounds whose runs are stored. Early algorithms run on new
instances only, so later runs are not in the way. A newcomer runs on instances of earlier rounds:
replayed rounds must not see its runs before it entered.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from polarbear.config import Config, failures_in
from polarbear.driver import collect
from polarbear.driver.collect import InstanceStream
from polarbear.driver.evidence import Evidence, ranked
from polarbear.execution.outcome import Outcome, Task
from polarbear.problems.base import Instance
from polarbear.problems.specs import PROBLEM
from polarbear.racing import State
from polarbear.rankings import GridValues
from polarbear.store import Store, best_so_far
from polarbear.store.runs import StoredRun


class RuntimeEstimates:
    """Estimates seconds per run from the finished runs of each algorithm."""

    def __init__(self) -> None:
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._budget: defaultdict[str, float] = defaultdict(float)

    def add(self, run: StoredRun) -> None:
        """Take a run into account."""
        self._seconds[run.algorithm] += run.seconds
        self._budget[run.algorithm] += run.budget

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


class RaceRuns:
    """The runs of a race; those of newcomers that a replay has not reached are hidden."""

    def __init__(self, config: Config, store: Store, state: State, stream: InstanceStream) -> None:
        self._config, self._stream = config, stream
        self._failed = failures_in(store.config).ranks
        self._absent = np.full(len(config.budget.times), np.nan)
        grid = store.on_grid(config.budget.times)
        self._values = {
            (name, instance): grid.values[i, a]
            for i, instance in enumerate(grid.instances)
            for a, name in enumerate(grid.algorithms)
        }
        self.stored = collect.stored_runs(store)
        self.estimates = RuntimeEstimates()
        self._entered = store.rounds.entered()
        self._hidden: dict[tuple[str, str], StoredRun] = {}
        seen = {instance.id for instance in stream.first(state.caught_up)}
        for (name, instance), run in list(self.stored.items()):
            self.estimates.add(run)
            catching_up = name == state.joining and instance not in seen
            if name in self._entered and (name not in state.algorithms or catching_up):
                self._hidden[name, instance] = self.stored.pop((name, instance))

    def add(self, outcome: Outcome) -> None:
        """Take in a finished run."""
        run = StoredRun.of(outcome, collect.workers_of(self._config))
        self.stored[run.algorithm, run.instance] = run
        self.estimates.add(run)
        self._values[run.algorithm, run.instance] = best_so_far(
            outcome.times,
            outcome.values,
            outcome.status,
            outcome.reached,
            self._config.budget.times,
            self._failed,
        )

    def may_enter(self, name: str, state: State) -> bool:
        """Whether no other newcomer is catching up, and no earlier round is replayed."""
        return state.joining is None and self._entered.get(name, 0) <= state.round

    def hides(self, names: Iterable[str], instance: Instance) -> bool:
        """Whether a run of one of these algorithms is hidden."""
        return any((name, instance.id) in self._hidden for name in names)

    def reveal(self, names: Iterable[str], instances: Sequence[Instance]) -> None:
        """Show the runs of these algorithms on these instances."""
        for name in names:
            for instance in instances:
                place = name, instance.id
                if place in self._hidden:
                    self.stored[place] = self._hidden.pop(place)

    def evaluations(self, state: State) -> dict[str, int]:
        """Evaluations of each algorithm on the instances of the race."""
        used = self._stream.first(state.instances)
        return {a: sum(run.evaluations for run in self.of(a, used)) for a in state.algorithms}

    def reached(self, state: State) -> dict[str, float]:
        """Time on the axis of each algorithm on the instances of the race."""
        used = self._stream.first(state.instances)
        return {a: sum(run.reached for run in self.of(a, used)) for a in state.algorithms}

    def of(self, name: str, instances: Iterable[Instance]) -> list[StoredRun]:
        """The runs of an algorithm on these instances."""
        found = (self.stored.get((name, instance.id)) for instance in instances)
        return [run for run in found if run is not None]

    def seen(self, state: State) -> list[Instance]:
        """The instances of earlier rounds, or those that the newcomer has caught up on."""
        return self._stream.first(state.caught_up if state.joining else state.instances)

    def found_nothing(self, names: Iterable[str], instances: Sequence[Instance]) -> bool:
        """Whether no run of these algorithms on these instances has a value."""
        values = (self._value(name, instance) for name in names for instance in instances)
        return not any(np.isfinite(one).any() for one in values)

    def evidence(self, count: int, algorithms: tuple[str, ...]) -> Evidence:
        """Rankings of these algorithms on the first instances of the race."""
        budget, suite = self._config.budget, self._config.instances
        instances = self._stream.first(count)
        values = [[self._value(name, instance) for name in algorithms] for instance in instances]
        ids = tuple(instance.id for instance in instances)
        return ranked(
            GridValues(ids, algorithms, budget.times, np.array(values)),
            budget.unit_times,
            self._config.race.tie_tolerance,
            [str(instance.spec.get(PROBLEM, instance.id)) for instance in instances],
            [suite.weight(name) for name in ids] if suite.weights else None,
        )

    def _value(self, algorithm: str, instance: Instance) -> np.ndarray:
        place = algorithm, instance.id
        return self._absent if place in self._hidden else self._values.get(place, self._absent)
