"""The loop of a race: run what a round needs, infer, decide, and store a checkpoint.

A round is a function of the state before it and of runs that depend on the seed alone. So a race
that is killed anywhere and started again ends with the same checkpoints.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence

from polarbear import racing as race
from polarbear.config import Config
from polarbear.driver import collect
from polarbear.driver.check import check
from polarbear.driver.collect import InstanceStream
from polarbear.driver.race_progress import Watcher
from polarbear.driver.race_runs import RaceRuns
from polarbear.driver.resume import resumed
from polarbear.driver.round_posterior import LastPosterior, RoundInference, RoundResult
from polarbear.driver.scheduler import Scheduler
from polarbear.driver.speculation import SpeculativeRuns
from polarbear.driver.stopping import SETTLED, Ended, Purpose, Spent, at_limit, refuse_failures
from polarbear.execution.executor import Executor
from polarbear.execution.outcome import Outcome, Task
from polarbear.inference import Posterior
from polarbear.problems.base import Instance, Kind
from polarbear.racing import RoundRecord, State
from polarbear.settings.grid import SECONDS
from polarbear.store import Store

RUNS_PER_WORKER = 2  # in a round that is to keep all workers busy


class Race:
    """A race on a store; the caller holds the store's lock."""

    def __init__(
        self,
        config: Config,
        store: Store,
        watcher: Watcher | None = None,
        add: Sequence[str] = (),
        purpose: Purpose | None = None,
        retry_failed: bool = False,
        try_out: bool = False,
    ) -> None:
        self._config = config
        self._rules = config.race
        self._store = store
        self._watcher = watcher or Watcher()
        self._purpose = purpose
        self._retry_failed = retry_failed
        self._tries_out = try_out
        self._began = time.monotonic()
        self.state, self._waiting = resumed(config, store, add)
        self._origin = collect.origin_of(config, store)
        self._stream = InstanceStream(config)
        self._runs = RaceRuns(config, store, self.state, self._stream)
        self._inference = RoundInference(config, store, self._runs)
        self._posterior = LastPosterior(store, self._inference)
        self._speculative = self._speculative_runs()

    def _speculative_runs(self) -> SpeculativeRuns | None:
        """None where seconds are measured, or a limit bounds what runs may spend.

        Inference at the same time would slow measured runs down.
        """
        limits, seconds = self._rules.limits, self._config.budget.axis == SECONDS
        limited = limits.evaluations is not None or limits.spent is not None
        if not self._config.execution.early or seconds or limited:
            return None
        return SpeculativeRuns(self._config, self._store, self._retry_failed)

    @property
    def posterior(self) -> Posterior:
        """The posterior after the last round."""
        return self._posterior.get()[1].posterior

    def run(self) -> Ended:
        """Race until everything is settled or a limit is reached.

        However it ends, the state and its posterior are in the store.
        """
        try:
            ended = None if self._waiting or self._retry_failed else self._ended()
            return ended or self._run()
        finally:
            self._posterior.keep()

    def _run(self) -> Ended:
        collect.prepare(self._config)
        with collect.pool_of(self._config, self._store) as pool:
            if self._tries_out and not self._runs.stored:
                self._try_out(pool)
            scheduler = self._scheduler(pool)
            try:
                ended = self._rounds(scheduler)
            finally:
                scheduler.flush()
            self._store.merge_parts(at_the_end=True)
            return ended

    def _scheduler(self, pool: Executor) -> Scheduler:
        on_speculative = self._watcher.ran_early
        return Scheduler(pool, self._store, self._take, self._speculative, on_speculative)

    def _rounds(self, scheduler: Scheduler) -> Ended:
        if self._retry_failed:
            self._repeat_failed(scheduler)
        while True:
            if self._waiting and self._runs.may_enter(self._waiting[0], self.state):
                self.state = race.admit(self.state, self._waiting.pop(0), self._rules)
            ended = self._ended()
            if ended:
                return ended
            self._round(scheduler)

    def _ended(self) -> Ended | None:
        state = self.state
        if self._purpose and state.round and not state.joining and not state.untrusted:
            reason = self._purpose.reached(state, self.posterior)
            if reason:
                return Ended(reason, at_limit=False)
        if not state.open_pairs and not self._purpose:
            return Ended(SETTLED, at_limit=False)
        if state.round == 0:  # whatever the limits, there is a result
            return None
        spent = Spent(
            sum(self._runs.evaluations(state).values()),
            sum(self._runs.reached(state).values()),
            (time.monotonic() - self._began) / 3600,
        )
        reached = at_limit(self._config, state, spent, self._stream.size)
        return None if reached is None else Ended(reached, at_limit=True)

    def _round(self, scheduler: Scheduler) -> None:
        state = self.state
        horizons = race.horizons(state, self._rules)
        if not horizons:  # every relation is settled, but the purpose is not reached
            assert self._purpose is not None
            horizons = dict.fromkeys(state.candidates, self._purpose.horizon(state.times))
        instances = self._stream.next_batch(state, self._to_fill(scheduler.workers, horizons))
        self._store.add_instances(instances, self._config.instances.suite)
        self._runs.reveal(horizons, instances)
        collect.check_unchanged(self._config, self._origin)
        tasks = self._missing(instances, horizons)
        likely = self._likely(horizons, len(instances), scheduler)
        self._watcher.staffed(scheduler.workers)
        self._watcher.begins(state, horizons, len(instances), tasks)
        self._execute(scheduler, tasks, likely)
        refuse_failures(self._config, self._runs, state, instances, list(horizons))
        self._watcher.infers()
        result, record = scheduler.run_beside(
            lambda: self._decided(state, horizons, len(instances)), likely
        )
        self.state = result.state
        self._posterior.set(result)
        self._store.rounds.add(record, result.beliefs(self._rules))
        if self._watcher.wants_draws:
            self._posterior.keep()
        self._watcher.ends(record)

    def _missing(self, instances: list[Instance], horizons: dict[str, float]) -> list[Task]:
        """Missing runs of algorithms up to their horizons, long ones first."""
        retry, stored = self._retry_failed, self._runs.stored
        plan = collect.plan(self._config, stored, instances, horizons, retry, self._origin)
        return self._runs.estimates.longest_first(plan.tasks)

    def _decided(
        self, state: State, horizons: dict[str, float], drawn: int
    ) -> tuple[RoundResult, RoundRecord]:
        """The result of a round whose runs are finished; changes nothing."""
        evidence = self._inference.evidence(state, 0 if state.joining else drawn)
        result = self._inference.decide(state, evidence, drawn)
        return result, self._inference.record(result, horizons, drawn, self._stream.size)

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
        state, workers, runs = self.state, scheduler.workers, scheduler.speculative
        rounds = self._rules.limits.rounds
        is_last = rounds is not None and state.round + 1 >= rounds
        if runs is None or self._waiting or is_last:
            return
        ahead = math.ceil(self._config.execution.early * workers / len(horizons))
        at_least = max(ahead, self._to_fill(workers, horizons))
        for instance in self._stream.batch_after(state, drawn, at_least):
            if not self._runs.hides(horizons, instance):
                for task in self._missing([instance], horizons):
                    if not runs.has(task) and not scheduler.has_started(task):
                        yield task

    def _take(self, outcome: Outcome) -> None:
        self._runs.add(outcome)
        self._watcher.finished(outcome)

    def _try_out(self, pool: Executor) -> None:
        """Report what a short trial finds; suites that draw scores need none."""
        if self._config.instances.offers() is not Kind.SCORES:
            found = check(self._config, pool)
            self._watcher.checked([*found.errors, *found.warnings])

    def _repeat_failed(self, scheduler: Scheduler) -> None:
        """Repeat failed runs on the instances of earlier rounds."""
        seen = self._stream.first(self.state.instances)
        collect.check_unchanged(self._config, self._origin)
        failed = collect.failed_again(self._config, self._runs.stored, seen, self._origin)
        self._execute(scheduler, failed)
