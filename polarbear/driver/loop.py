"""The loop of a race: run what a round needs, infer, decide, and store a checkpoint.

A round is a function of the state before it and of runs that depend on the seed alone. So a race
that is killed anywhere and started again ends with the same checkpoints.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import Protocol

from polarbear import racing as race
from polarbear.config.configuration import Config
from polarbear.driver import collect
from polarbear.driver.check import check, failure_reason, run_failed
from polarbear.driver.collect import InstanceStream, RaceRuns, RunPlan
from polarbear.driver.race_progress import RoundStart, Watcher
from polarbear.driver.round_posterior import RoundInference, RoundResult
from polarbear.driver.scheduler import Scheduler, SpeculativeRuns
from polarbear.errors import AlgorithmError, RaceError
from polarbear.execution.outcome import Executor, Outcome, Status, Task
from polarbear.inference import Posterior
from polarbear.problems.base import Instance, Kind
from polarbear.racing import State
from polarbear.settings.grid import SECONDS
from polarbear.settings.options import unknown
from polarbear.store import StoreOnDisk
from polarbear.store.runs import FinishedRun, StoredRun
from polarbear.wording import counted, percent, timed, typed_time

SETTLED = "every relation is settled"
REMEDY = "Fix the cause and continue with --retry-failed"
RUNS_PER_WORKER = 2  # in a round that is to keep all workers busy


@dataclass(frozen=True)
class Ended:
    """How a race ended: why, and whether a limit was the reason."""

    because: str
    at_limit: bool


class Purpose(Protocol):
    """An aim of a race other than settling every relation."""

    def reached(self, state: State, posterior: Posterior) -> str | None:
        """Why the aim is reached, if it is."""

    def horizon(self, times: Sequence[float]) -> float:
        """The last time that matters for the aim."""


def resumed(config: Config, store: StoreOnDisk, add: Sequence[str]) -> tuple[State, list[str]]:
    """The state to continue from, and the newcomers that wait to enter."""
    names = store.provenance.in_order(algorithm.name for algorithm in config.algorithms)
    if store.rounds.numbers():
        from polarbear.store.verify import check_rounds  # not for a new race

        check_rounds(store.path)
    last, later = store.rounds.last(), store.rounds.entered()
    inside = () if last is None else last.state.algorithms
    for name in add:
        if name not in names:
            raise RaceError(f"--add: {unknown('algorithm', name, names)} (in the configuration)")
        if last is None or name in inside:
            race_in = f"race in {store.path}"
            why = f"there is no {race_in} that '{name}' could enter; start one without --add"
            known = f"--add: '{name}' is in the {race_in} already; a newcomer needs another name"
            raise RaceError(why if last is None else known)
    if last is None:
        first = [name for name in names if name not in later]
        newcomers = sorted((name for name in names if name in later), key=later.__getitem__)
        return race.start(first, config.budget.times.tolist(), config.race), newcomers
    newcomers = [name for name in names if name not in inside and (not add or name in add)]
    return last.state, sorted(newcomers, key=lambda name: later.get(name, last.state.round))


class Race:
    """A race on a store; the caller holds the store's lock.

    ``on_finding`` receives the findings of a short trial before the first race; None for no trial.
    """

    def __init__(
        self,
        config: Config,
        store: StoreOnDisk,
        watchers: Sequence[Watcher] = (),
        add: Sequence[str] = (),
        purpose: Purpose | None = None,
        retry_failed: bool = False,
        on_finding: Callable[[str], None] | None = None,
    ) -> None:
        self._config = config
        self._rules = config.race
        self._store = store
        self._watchers = watchers
        self._purpose = purpose
        self._retry_failed = retry_failed
        self._on_finding = on_finding
        self._began = time.monotonic()
        self.state, self._waiting = resumed(config, store, add)
        self._plan = RunPlan(config, store, retry_failed)
        self._stream = InstanceStream(config)
        self._runs = RaceRuns(config, store, self._stream)
        self._inference = RoundInference(config, store, self._runs)
        self._speculative = self._speculative_runs()

    def _speculative_runs(self) -> SpeculativeRuns | None:
        """None where seconds are measured, or a limit bounds what runs may spend.

        Inference at the same time would slow measured runs down.
        """
        limits, seconds = self._rules.limits, self._config.budget.axis == SECONDS
        limited = limits.evaluations is not None or limits.spent is not None
        if not self._config.execution.early or seconds or limited:
            return None
        made_by = self._plan.fingerprints
        return SpeculativeRuns(self._config, self._store, made_by, self._retry_failed)

    @property
    def posterior(self) -> Posterior:
        """The posterior after the last round."""
        return self._inference.last()[1]

    def run(self) -> Ended:
        """Race until everything is settled or a limit is reached.

        However it ends, the state and its posterior are in the store.
        """
        try:
            ended = None if self._waiting or self._retry_failed else self._ended()
            return ended or self._run()
        finally:
            self._inference.keep()

    def _run(self) -> Ended:
        collect.prepare(self._config)
        with collect.pool_of(self._config, self._store) as pool:
            self._try_out(pool)
            scheduler = self._scheduler(pool)
            try:
                if self._retry_failed:  # on the instances of earlier rounds
                    self._plan.check_unchanged()
                    seen = self._stream.first(self.state.instances)
                    self._execute(scheduler, self._plan.failed(self._runs.stored, seen))
                while (ended := self._ended()) is None:
                    self._round(scheduler)
            finally:
                scheduler.flush()
            self._store.merge_parts(at_the_end=True)
            return ended

    def _ended(self) -> Ended | None:
        """Whether the race has ended; the next newcomer enters first."""
        if self._waiting and self._runs.may_enter(self._waiting[0], self.state):
            self.state = race.admit(self.state, self._waiting.pop(0), self._rules)
        state = self.state
        if self._purpose and state.round and not state.joining and not state.untrusted:
            reason = self._purpose.reached(state, self.posterior)
            if reason:
                return Ended(reason, at_limit=False)
        if not state.open_pairs and not self._purpose:
            return Ended(SETTLED, at_limit=False)
        if state.round == 0:  # whatever the limits, there is a result
            return None
        runs = [run for mine in self._runs.used(state).values() for run in mine]
        hours = (time.monotonic() - self._began) / 3600
        reached = at_limit(self._config, state, runs, hours, self._stream.size)
        return None if reached is None else Ended(reached, at_limit=True)

    def _scheduler(self, pool: Executor) -> Scheduler:
        on_speculative = self._take_speculative
        return Scheduler(pool, self._store, self._take, self._speculative, on_speculative)

    def _round(self, scheduler: Scheduler) -> None:
        state = self.state
        horizons = race.horizons(state, self._rules)
        if not horizons:  # every relation is settled, but the purpose is not reached
            assert self._purpose is not None
            horizons = dict.fromkeys(state.candidates, self._purpose.horizon(state.times))
        instances = self._stream.next_batch(state, self._to_fill(scheduler.workers, horizons))
        self._store.add_instances(instances, self._config.instances.suite)
        self._plan.check_unchanged()
        tasks = self._plan.missing(self._runs.stored, instances, horizons)
        likely = self._likely(horizons, len(instances), scheduler)
        start = RoundStart(state, horizons, len(instances), tasks, scheduler.workers)
        for watcher in self._watchers:
            watcher.begins(start)
        self._execute(scheduler, tasks, likely)
        refuse_failures(self._config, self._runs, state, instances, list(horizons))
        for watcher in self._watchers:
            watcher.infers()
        decide = partial(self._decided, state, horizons, len(instances))
        result = scheduler.run_beside(decide, likely)
        self.state = result.record.state
        self._inference.remember(result)
        self._store.rounds.add(result.record, result.beliefs)
        if any(watcher.wants_draws for watcher in self._watchers):
            self._inference.keep()
        for watcher in self._watchers:
            watcher.ends(result.record)

    def _decided(
        self, state: State, horizons: dict[str, float], drawn: int, cancelled: Event
    ) -> RoundResult:
        """The result of a round whose runs are finished; changes nothing."""
        return self._inference.decide(state, horizons, drawn, self._stream.size, cancelled)

    def _execute(
        self, scheduler: Scheduler, tasks: list[Task], likely: Iterable[Task] = ()
    ) -> None:
        scheduler.run(tasks, likely)

    def _to_fill(self, workers: int, horizons: dict[str, float]) -> int:
        """The number of instances that keeps all workers busy, if the configuration asks for it."""
        if not self._config.execution.fill_workers:
            return 1
        return math.ceil(RUNS_PER_WORKER * workers / len(horizons))

    def _likely(
        self, horizons: dict[str, float], drawn: int, scheduler: Scheduler
    ) -> Iterator[Task]:
        """Runs that the next round is likely to need, instance by instance."""
        state, workers, rounds = self.state, scheduler.workers, self._rules.limits.rounds
        is_last = rounds is not None and state.round + 1 >= rounds
        if self._speculative is None or self._waiting or is_last:
            return
        ahead = math.ceil(self._config.execution.early * workers / len(horizons))
        at_least = max(ahead, self._to_fill(workers, horizons))
        for instance in self._stream.batch_after(state, drawn, at_least):
            yield from self._plan.missing(self._runs.stored, [instance], horizons)

    def _take(self, outcome: Outcome, finished: FinishedRun) -> None:
        self._runs.add(finished)
        for watcher in self._watchers:
            watcher.finished(outcome)

    def _take_speculative(self, outcome: Outcome) -> None:
        for watcher in self._watchers:
            watcher.ran_early(outcome)

    def _try_out(self, pool: Executor) -> None:
        """Report what a short trial finds; suites that draw scores need none."""
        draws_scores = self._config.instances.offers() is Kind.SCORES
        if self._on_finding is not None and not self._runs.stored and not draws_scores:
            found = check(self._config, pool)
            for line in (*found.errors, *found.warnings):
                self._on_finding(line)


def at_limit(
    config: Config, state: State, runs: Sequence[StoredRun], hours: float, size: int | None
) -> str | None:
    """The limit that a race has reached by its runs or hours, if any.

    ``size`` is that of a finite suite.
    """
    limits = config.race.limits
    if state.untrusted >= race.MAX_UNTRUSTED_ROUNDS:
        return f"the posterior failed its checks in {counted(state.untrusted, 'round')} in a row"
    reached, evaluations = "", sum(run.evaluations for run in runs)
    if limits.instances is not None and state.instances >= limits.instances and not state.joining:
        reached = counted(limits.instances, "instance")
    if limits.hours is not None and hours >= limits.hours:
        reached = typed_time(limits.hours, "hours")
    if limits.spent is not None and sum(run.reached for run in runs) >= limits.spent:
        reached = timed(limits.spent, config.budget.axis)
    if limits.evaluations is not None and evaluations >= limits.evaluations:
        reached = counted(limits.evaluations, "evaluation")
    if limits.rounds is not None and state.round >= limits.rounds:
        reached = counted(limits.rounds, "round")
    if reached:
        return f"the limit of {reached} is reached"
    if size is not None and state.instances >= size and not state.joining:
        return f"the suite has no further instance: all {size} are used"
    return None


def refuse_failures(
    config: Config, runs: RaceRuns, state: State, instances: Sequence[Instance], names: list[str]
) -> None:
    """End a race with an error rather than let a broken algorithm lose.

    Raises if an algorithm has failed in all of its first runs, or more often than is tolerated, or
    if no run has found anything: all algorithms would end as equivalent.
    """
    first = {name: runs.of(name, instances) for name in names}
    if state.round == 0 or (state.joining is not None and state.caught_up == 0):
        broken = [
            f"'{name}' failed in all {len(mine)} of its first runs, so nothing is decided about "
            f"it; on {_example(mine)}"
            for name, mine in first.items()
            if mine and all(map(run_failed, mine))
        ]
        if broken:
            remedy = f"{REMEDY}, or remove it from the configuration."
            raise AlgorithmError("\n".join([*broken, remedy]))
    failures, earlier = config.execution.failures, runs.seen(state)
    for name in names:
        all_runs = runs.of(name, [*earlier, *instances])
        failed = [run for run in all_runs if run.status.failed]
        if failed and failures.means == "ends":
            raise AlgorithmError(
                f"'{name}' failed, which ends the race by `execution.failures.means: ends`; "
                f"on {_example(failed)}\n{REMEDY}."
            )
        if len(failed) > failures.tolerated * len(all_runs):
            raise AlgorithmError(
                f"'{name}' failed in {len(failed)} of {counted(len(all_runs), 'run')}, more than "
                f"the {percent(failures.tolerated)} of `execution.failures.tolerated`; "
                f"on {_example(failed)}\n{REMEDY}, or raise `tolerated` if such failures are "
                "normal."
            )
    if state.round == 0 and runs.found_nothing(names, instances):
        example = _example(first[names[0]][:1])
        raise AlgorithmError(
            f"no run of the first round has found anything; {names[0]} on {example}"
        )


def _example(runs: Sequence[StoredRun]) -> str:
    """An instance and its failure, preferably one without an external cause."""
    run = min(runs, key=lambda run: run.status is Status.LOST)
    lost = run.status is Status.LOST
    outside = f"it was killed from outside, {run.attempt} times: " if lost else ""
    return f"{run.instance}: {outside}{failure_reason(run)}"
