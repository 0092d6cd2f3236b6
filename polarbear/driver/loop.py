"""The loop of a race: run what a round needs, infer, decide, and store a checkpoint.

A round is a function of the state before it and of runs that depend on the seed alone. So a race
that is killed anywhere and started again ends with the same checkpoints.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from polarbear import racing as race
from polarbear.config import Config
from polarbear.driver import collect
from polarbear.driver.check import check
from polarbear.driver.collect import InstanceStream
from polarbear.driver.race_progress import RoundStart, Watcher
from polarbear.driver.race_runs import RaceRuns
from polarbear.driver.resume import resumed
from polarbear.driver.round_posterior import RoundInference, RoundResult
from polarbear.driver.scheduler import Scheduler
from polarbear.driver.speculation import SpeculativeRuns
from polarbear.driver.stopping import SETTLED, Ended, Purpose, at_limit, refuse_failures
from polarbear.execution.outcome import Executor, Outcome, Task
from polarbear.inference import Posterior
from polarbear.problems.base import Instance, Kind
from polarbear.racing import RoundRecord, State
from polarbear.settings.grid import SECONDS
from polarbear.store import Store

RUNS_PER_WORKER = 2  # in a round that is to keep all workers busy


class Race:
    """A race on a store; the caller holds the store's lock.

    ``on_finding`` receives the findings of a short trial before the first race; None for no trial.
    """

    def __init__(
        self,
        config: Config,
        store: Store,
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
        self._origin = collect.origin_of(config, store)
        self._stream = InstanceStream(config)
        self._runs = RaceRuns(config, store, self.state, self._stream)
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
        return SpeculativeRuns(self._config, self._store, self._retry_failed)

    @property
    def posterior(self) -> Posterior:
        """The posterior after the last round."""
        return self._inference.last()[1].posterior

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
                ended = self._rounds(scheduler)
            finally:
                scheduler.flush()
            self._store.merge_parts(at_the_end=True)
            return ended

    def _scheduler(self, pool: Executor) -> Scheduler:
        on_speculative = self._take_speculative
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
        evaluations = sum(self._runs.evaluations(state).values())
        on_axis = sum(self._runs.reached(state).values())
        hours = (time.monotonic() - self._began) / 3600
        reached = at_limit(self._config, state, evaluations, on_axis, hours, self._stream.size)
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
        start = RoundStart(state, horizons, len(instances), tasks, scheduler.workers)
        for watcher in self._watchers:
            watcher.begins(start)
        self._execute(scheduler, tasks, likely)
        refuse_failures(self._config, self._runs, state, instances, list(horizons))
        for watcher in self._watchers:
            watcher.infers()
        result, record = scheduler.run_beside(
            lambda: self._decided(state, horizons, len(instances)), likely
        )
        self.state = result.state
        self._inference.remember(result)
        self._store.rounds.add(record, result.beliefs(self._rules))
        if any(watcher.wants_draws for watcher in self._watchers):
            self._inference.keep()
        for watcher in self._watchers:
            watcher.ends(record)

    def _missing(self, instances: list[Instance], horizons: dict[str, float]) -> list[Task]:
        """Missing runs of algorithms up to their horizons, long ones first."""
        retry, stored = self._retry_failed, self._runs.stored
        config, origin = self._config, self._origin
        tasks = collect.missing_tasks(config, stored, instances, horizons, retry, origin)
        return self._runs.estimates.longest_first(tasks)

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

    def _repeat_failed(self, scheduler: Scheduler) -> None:
        """Repeat failed runs on the instances of earlier rounds."""
        seen = self._stream.first(self.state.instances)
        collect.check_unchanged(self._config, self._origin)
        failed = collect.failed_again(self._config, self._runs.stored, seen, self._origin)
        self._execute(scheduler, failed)
