"""Races on a simulated cluster: the real race, simulated time.

Rounds, speculative runs, inference and decisions are those of PolarBear; only time is simulated. A
worker takes as long for a run as stored runs did, and the coordinator handles runs and rounds one
after another, in their measured times.
"""

from __future__ import annotations

import heapq
import json
import zlib
from collections.abc import Callable, Iterable, Iterator
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
from polarbear.racing import State
from polarbear.settings.options import Source
from polarbear.store import StoreOnDisk
from polarbear.store.runs import SpeculativeTable

Result = TypeVar("Result")

# Four times: one is clearly behind, two cross, and three are so close that a race goes on for long.
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
    """What the coordinator takes, in seconds: for each run, each round, and to decide one.

    Deciding goes on beside the rest, and takes ``deciding_a_run`` more for each run there is.
    """

    a_run: float
    a_round: float
    deciding: float
    deciding_a_run: float


@dataclass(frozen=True)
class Workload:
    """How long runs take, and how often they go wrong.

    ``shape`` are the lengths of stored runs, relative to their mean. One run in ``tail_every``
    takes a Pareto multiple of that (exponent 1.5, at most ``tail_most``); one in ``lost_every`` is
    lost with its worker, which is back after ``restart`` seconds; one in ``crash_every`` crashes
    somewhere.
    """

    shape: tuple[float, ...]
    seconds: float = 10.0
    tail_every: int = 50
    tail_most: float = 10.0
    lost_every: int = 200
    crash_every: int = 100
    restart: float = 30.0

    def length(self, task: Task) -> float:
        """The length of a run, which does not depend on its worker or start."""
        rng = self._lot(task, "length")
        length = self.seconds * rng.choice(self.shape)
        if rng.random() < 1 / self.tail_every:
            length *= min(rng.pareto(1.5) + 1, self.tail_most)
        return float(length)

    def lost(self, task: Task) -> bool:
        return bool(self._lot(task, "lost", task.attempt).random() < 1 / self.lost_every)

    def crash(self, task: Task) -> float:
        """After what share of the whole budget a run crashes; mostly never."""
        rng = self._lot(task, "crash")
        return float(rng.random()) if rng.random() < 1 / self.crash_every else 1.0

    def _lot(self, task: Task, *what: Any) -> np.random.Generator:
        text = repr((task.algorithm.name, task.instance.id, *what))
        return np.random.default_rng(zlib.crc32(text.encode()))


class Cluster:
    """Workers on a simulated clock, and a coordinator that does one thing at a time."""

    def __init__(self, config: Config, workers: int, work: Workload, costs: Costs) -> None:
        self.size = workers
        self.clock = 0.0  # the coordinator's
        self.busy = 0.0  # of all workers together
        self.coordinating = 0.0
        self._work, self._costs = work, costs
        self._problems = Problems(config.instances, config.setting)
        self._free = workers
        self._back: list[float] = []  # when workers that died are there again
        self._running: list[tuple[float, int, Task, float]] = []
        self._number = 0
        self.until: float | None = None  # when what the coordinator does beside is done

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def wake(self) -> None:
        pass

    def spend(self, seconds: float) -> None:
        """The coordinator is busy."""
        self.clock += seconds
        self.coordinating += seconds

    def run(
        self, tasks: Iterable[Task | None], over: Callable[[], bool] = lambda: False
    ) -> Iterator[Outcome]:
        waiting = iter(tasks)
        more = True
        while not over():
            while self._back and self._back[0] <= self.clock:
                heapq.heappop(self._back)
                self._free += 1
            while more and self._free:
                task = next(waiting, False)
                more = task is not False
                if not isinstance(task, Task):
                    break
                self._begin(task)
            if not more and not self._running:
                return
            yield from self._next()

    def _begin(self, task: Task) -> None:
        length = self._work.length(task) * task.budget / self._problems.setting.budget.limit
        self._free -= 1
        self._number += 1
        heapq.heappush(self._running, (self.clock + length, self._number, task, length))

    def _next(self) -> Iterator[Outcome]:
        """Wait for what happens next: a run ends, a worker is back, or a decision is made."""
        events = [self._running[0][0]] if self._running else []
        events += self._back[:1]
        if self.until is not None:
            events.append(self.until)
        self.clock = max(self.clock, min(events))
        if self._running and self._running[0][0] <= self.clock:
            _, _, task, length = heapq.heappop(self._running)
            self.busy += length
            self.spend(self._costs.a_run)
            yield self._outcome(task, length)

    def _outcome(self, task: Task, length: float) -> Outcome:
        made = replace(execute(task, self._problems), seconds=length, started=self.clock - length)
        if self._work.lost(task):
            heapq.heappush(self._back, self.clock + self._work.restart)
            return replace(made, status=Status.LOST, message="its worker was lost")
        self._free += 1
        crash = float(int(self._work.crash(task) * self._problems.setting.budget.limit))
        if crash >= made.reached:
            return made
        before = made.times <= crash
        return replace(
            made,
            status=Status.CRASHED,
            message="it crashed",
            times=made.times[before],
            values=made.values[before],
            evaluations=int(crash),
            reached=crash,
        )


class SimulatedScheduler(Scheduler):
    """Deciding takes simulated time, beside what the coordinator does for its workers."""

    cluster: Cluster
    seconds: Callable[[], float]

    def run_beside(self, work: Callable[[Event], Result], likely: Iterator[Task]) -> Result:
        cluster = self.cluster
        end = cluster.until = cluster.clock + self.seconds()
        done = work(Event())
        if self.speculative is None:
            cluster.clock = end
        else:
            self._serve(chain(likely), over=lambda: cluster.clock >= end)
        cluster.until = None
        return done


class SimulatedRace(Race):
    """A race on a simulated cluster."""

    costs: Costs

    def _scheduler(self, pool: Executor) -> Scheduler:
        assert isinstance(pool, Cluster)
        made = SimulatedScheduler(
            pool, self._store, self._take, self._speculative, self._take_speculative
        )
        made.cluster = pool
        costs = self.costs
        made.seconds = lambda: costs.deciding + costs.deciding_a_run * len(self._runs.stored)
        return made

    def _round(self, scheduler: Scheduler) -> None:
        assert isinstance(scheduler, SimulatedScheduler)
        scheduler.cluster.spend(self.costs.a_round)
        super()._round(scheduler)


@dataclass(frozen=True)
class Simulated:
    """What came of a simulated race."""

    workers: int
    seconds: float
    busy: float  # share of all workers' time
    useful: float  # share of it that went into runs which rounds have used
    runs: int  # that rounds have used
    extra: int
    rounds: int
    coordinating: float  # share of the coordinator's time, inference aside
    checkpoints: tuple[bytes, ...]


class Known:
    """What rounds come to, by what they rest on: races that decide the same infer it once."""

    def __init__(self) -> None:
        self._found: dict[str, Any] = {}
        self._decided = Race._decided

    def decided(
        self,
        race: Race,
        state: State,
        horizons: dict[str, float],
        drawn: int,
        cancelled: Event,
    ) -> Any:
        evidence = race._runs.evidence(state, drawn)
        key = json.dumps([state.to_plain(), horizons, drawn, evidence.key])
        if key not in self._found:
            self._found[key] = self._decided(race, state, horizons, drawn, cancelled)
        return self._found[key]


def configured(early: int, fill: bool, instances: int | None = None, **rules: Any) -> Config:
    """The race that is simulated: on so many instances, or by other rules."""
    data = {
        "seed": 3,
        "algorithms": [{"name": name, "use": "synthetic"} for name in RATINGS],
        "instances": {"suite": "synthetic", "ratings": RATINGS},
        "budget": {"grid": [10, 100, 1000, 10_000]},
        "execution": {"early": early, "fill_workers": fill},
        "race": {"alpha": 0.99, "limits": {"instances": instances}, **rules},
        "inference": {"draws": 500},
    }
    return parse(data, Source("simulation"))


class Used(Watcher):
    """Adds up how long the runs took that rounds have used."""

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
    known: Known,
) -> Simulated:
    """Race on so many simulated workers."""
    store = StoreOnDisk.create(folder, config.stored())
    cluster = Cluster(config, workers, work, costs)
    used = Used()
    nothing: Any = lambda *_, **__: None  # noqa: E731 - what writing costs is in what a run costs
    with (
        store.writing(),
        use_executor(lambda config: cluster),
        mock.patch.object(Race, "_decided", lambda *a: known.decided(*a)),
        mock.patch.object(StoreOnDisk, "add_runs", nothing),
        mock.patch.object(SpeculativeTable, "replace", nothing),
        mock.patch.object(StoreOnDisk, "merge_parts", nothing),
    ):
        race = SimulatedRace(config, store, [used])
        race.costs = costs
        race.run()
        early = race._speculative
    state = race.state
    return Simulated(
        workers,
        cluster.clock,
        cluster.busy / (workers * cluster.clock),
        used.seconds / (workers * cluster.clock),
        len(race._runs.stored),
        0 if early is None else sum(map(len, early._unused.values())),
        state.round,
        cluster.coordinating / cluster.clock,
        tuple(path.read_bytes() for path in sorted((folder / "rounds").glob("round-*.json"))),
    )
