"""Races on a simulated cluster: the real race with simulated time.

Rounds, speculative runs, inference and decisions are PolarBear's; only time is simulated. A worker
takes as long for a run as stored runs did, and the coordinator handles runs and rounds one after
another, in their measured times.
"""

from __future__ import annotations

import heapq
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from threading import Event
from typing import Any, TypeVar
from unittest import mock

import numpy as np

from polarbear.config.configuration import Config, parse
from polarbear.driver.loop import Race
from polarbear.driver.race_progress import Watcher
from polarbear.driver.scheduler import Scheduler
from polarbear.execution.executor_choice import use_executor
from polarbear.execution.outcome import Executor, Outcome, Status, Task
from polarbear.execution.run import Problems, execute
from polarbear.racing import Budgets, State
from polarbear.settings.options import Source
from polarbear.store import StoreOnDisk
from polarbear.store.runs import SpeculativeTable

Result = TypeVar("Result")

# Ratings at four times: one algorithm is clearly worse, two cross, and three are so close that a
# race takes long.
RATINGS = {
    "first": [1.5] * 4,
    "second": [1.45] * 4,
    "third": [1.4] * 4,
    "early": [3.0, 2.0, 1.0, 0.7],
    "late": [0.7, 1.0, 2.0, 3.0],
    "behind": [0.3] * 4,
}


@dataclass(frozen=True)
class Costs:
    """The coordinator's seconds for each run, each round, and each decision.

    It decides in parallel to its other work; each stored run adds ``decision_per_run``.
    """

    per_run: float
    per_round: float
    decision: float
    decision_per_run: float


@dataclass(frozen=True)
class Workload:
    """The lengths of runs, and how often they fail.

    ``relative_lengths`` are the lengths of stored runs, relative to their mean. One run in
    ``tail_every`` takes a Pareto multiple of that (exponent 1.5, at most ``max_tail``); one in
    ``lost_every`` is lost with its worker, which is back after ``restart`` seconds; one in
    ``crash_every`` crashes at a random moment.
    """

    relative_lengths: tuple[float, ...]
    seconds: float = 10.0
    tail_every: int = 50
    max_tail: float = 10.0
    lost_every: int = 200
    crash_every: int = 100
    restart: float = 30.0

    def length(self, task: Task) -> float:
        """The length of a run, which does not depend on its worker or start."""
        rng = self._generator(task, "length")
        length = self.seconds * rng.choice(self.relative_lengths)
        if rng.random() < 1 / self.tail_every:
            length *= min(rng.pareto(1.5) + 1, self.max_tail)
        return float(length)

    def is_lost(self, task: Task) -> bool:
        return bool(self._generator(task, "lost", task.attempt).random() < 1 / self.lost_every)

    def crash_share(self, task: Task) -> float:
        """The share of the whole budget after which a run crashes; 1 if it does not crash."""
        rng = self._generator(task, "crash")
        return float(rng.random()) if rng.random() < 1 / self.crash_every else 1.0

    def _generator(self, task: Task, *purpose: Any) -> np.random.Generator:
        """A random generator that is derived from the names of a run and the purpose."""
        text = repr((task.algorithm.name, task.instance.id, *purpose))
        return np.random.default_rng(zlib.crc32(text.encode()))


class Cluster:
    """Workers on a simulated clock, and a coordinator that does one thing at a time."""

    def __init__(self, config: Config, workers: int, work: Workload, costs: Costs) -> None:
        self.size = workers
        self.clock = 0.0  # the coordinator's
        self.busy = 0.0  # of all workers together
        self.coordinating = 0.0
        self._work = work
        self._costs = costs
        self._problems = Problems(config.instances, config.setting)
        self._n_free = workers
        self._restarts: list[float] = []  # a heap of times at which lost workers are back
        # A heap of ends, numbers, tasks and lengths of runs
        self._running: list[tuple[float, int, Task, float]] = []
        self._n_begun = 0
        self.decision_end: float | None = None  # of the decision in progress

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def wake(self) -> None:
        pass

    def preferred(self, tasks: Sequence[Task]) -> Task:
        return tasks[0]

    def spend(self, seconds: float) -> None:
        """Let the coordinator be busy."""
        self.clock += seconds
        self.coordinating += seconds

    def run(
        self, tasks: Iterable[Task | None], over: Callable[[], bool] = lambda: False
    ) -> Iterator[Outcome]:
        queue = iter(tasks)
        queue_ended = False
        while not over():
            while self._restarts and self._restarts[0] <= self.clock:
                heapq.heappop(self._restarts)
                self._n_free += 1
            while self._n_free and not queue_ended:
                task = next(queue, False)
                queue_ended = task is False
                if not isinstance(task, Task):
                    break
                self._begin(task)
            if queue_ended and not self._running:
                return
            yield from self._next()

    def _begin(self, task: Task) -> None:
        length = self._work.length(task) * task.budget / self._problems.setting.budget.limit
        self._n_free -= 1
        self._n_begun += 1
        heapq.heappush(self._running, (self.clock + length, self._n_begun, task, length))

    def _next(self) -> Iterator[Outcome]:
        """Wait until a run ends, a worker is back, or a decision is made."""
        events = [self._running[0][0]] if self._running else []
        events += self._restarts[:1]
        if self.decision_end is not None:
            events.append(self.decision_end)
        self.clock = max(self.clock, min(events))
        if self._running and self._running[0][0] <= self.clock:
            _, _, task, length = heapq.heappop(self._running)
            self.busy += length
            self.spend(self._costs.per_run)
            yield self._outcome(task, length)

    def _outcome(self, task: Task, length: float) -> Outcome:
        outcome = execute(task, self._problems)
        outcome = replace(outcome, seconds=length, started=self.clock - length)
        if self._work.is_lost(task):
            heapq.heappush(self._restarts, self.clock + self._work.restart)
            return replace(outcome, status=Status.LOST, message="its worker was lost")
        self._n_free += 1
        budget = self._problems.setting.budget.limit
        crash_time = float(int(self._work.crash_share(task) * budget))
        if crash_time >= outcome.reached:
            return outcome
        until_crash = outcome.times <= crash_time
        return replace(
            outcome,
            status=Status.CRASHED,
            message="it crashed",
            times=outcome.times[until_crash],
            values=outcome.values[until_crash],
            evaluations=int(crash_time),
            reached=crash_time,
        )


class SimulatedScheduler(Scheduler):
    """A scheduler whose decisions take simulated time, while the coordinator serves its workers."""

    cluster: Cluster
    decision_seconds: Callable[[], float]

    def run_beside(self, work: Callable[[Event], Result], likely: Iterator[Task]) -> Result:
        cluster = self.cluster
        end = cluster.clock + self.decision_seconds()
        cluster.decision_end = end
        decision = work(Event())
        if self.speculative is None:
            cluster.clock = end
        else:
            self._serve(chain(likely), over=lambda: cluster.clock >= end)
        cluster.decision_end = None
        return decision


class SimulatedRace(Race):
    """A race on a simulated cluster."""

    costs: Costs

    def _scheduler(self, pool: Executor) -> Scheduler:
        assert isinstance(pool, Cluster)
        scheduler = SimulatedScheduler(
            pool, self._store, self._take, self._speculative, self._take_speculative
        )
        scheduler.cluster = pool
        costs = self.costs
        scheduler.decision_seconds = lambda: (
            costs.decision + costs.decision_per_run * len(self._runs.stored)
        )
        return scheduler

    def _round(self, scheduler: Scheduler) -> None:
        assert isinstance(scheduler, SimulatedScheduler)
        scheduler.cluster.spend(self.costs.per_round)
        super()._round(scheduler)


@dataclass(frozen=True)
class Simulated:
    """The figures and the rounds of a simulated race.

    ``busy`` is the share of all workers' time in which they ran something, ``useful`` the share
    for runs that rounds have used, and ``coordinating`` the share of the coordinator's time that it
    was busy, without inference. ``runs`` were used by rounds, and ``extra`` ones were not.
    """

    workers: int
    seconds: float
    busy: float
    useful: float
    runs: int
    extra: int
    rounds: int
    coordinating: float
    checkpoints: tuple[bytes, ...]


class DecisionCache:
    """Decided rounds by their evidence, so that races with the same rounds infer them once."""

    def __init__(self) -> None:
        self._rounds: dict[str, Any] = {}
        self._decided = Race._decided

    def decided(
        self,
        race: Race,
        state: State,
        budgets: Budgets,
        drawn: int,
        cancelled: Event,
    ) -> Any:
        evidence = race._runs.evidence(state, drawn)
        key = json.dumps([state.to_plain(), budgets, drawn, evidence.key])
        if key not in self._rounds:
            self._rounds[key] = self._decided(race, state, budgets, drawn, cancelled)
        return self._rounds[key]


def configured(early: int, fill: bool, instances: int | None = None, **rules: Any) -> Config:
    """The configuration of a simulated race; ``rules`` replace those of the default."""
    data = {
        "seed": 3,
        "algorithms": [{"name": name, "use": "synthetic"} for name in RATINGS],
        "instances": {"suite": "synthetic", "ratings": RATINGS},
        "budget": {"grid": [10, 100, 1000, 10_000]},
        "execution": {"early": early, "fill_workers": fill},
        "race": {"alpha": 0.99, "regret": None, "limits": {"instances": instances}, **rules},
        "inference": {"draws": 500},
    }
    return parse(data, Source("simulation"))


class UsedSeconds(Watcher):
    """Adds up the lengths of runs that rounds have used."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def finished(self, outcome: Outcome) -> None:
        self.seconds += outcome.seconds


def simulate(
    folder: Path,
    config: Config,
    workers: int,
    work: Workload,
    costs: Costs,
    cache: DecisionCache,
) -> Simulated:
    """Race on simulated workers; the store is created in the folder."""
    store = StoreOnDisk.create(folder, config.stored())
    cluster = Cluster(config, workers, work, costs)
    used = UsedSeconds()

    def write_nothing(*_: Any, **__: Any) -> None:
        """Writing is a part of the simulated cost of a run."""

    with (
        store.writing(),
        use_executor(lambda config: cluster),
        mock.patch.object(Race, "_decided", lambda *arguments: cache.decided(*arguments)),
        mock.patch.object(StoreOnDisk, "add_runs", write_nothing),
        mock.patch.object(SpeculativeTable, "replace", write_nothing),
        mock.patch.object(StoreOnDisk, "merge_parts", write_nothing),
    ):
        race = SimulatedRace(config, store, [used])
        race.costs = costs
        race.run()
        speculative = race._speculative
    checkpoints = sorted((folder / "rounds").glob("round-*.json"))
    return Simulated(
        workers=workers,
        seconds=cluster.clock,
        busy=cluster.busy / (workers * cluster.clock),
        useful=used.seconds / (workers * cluster.clock),
        runs=len(race._runs.stored),
        extra=0 if speculative is None else sum(map(len, speculative._unused.values())),
        rounds=race.state.round,
        coordinating=cluster.coordinating / cluster.clock,
        checkpoints=tuple(path.read_bytes() for path in checkpoints),
    )
