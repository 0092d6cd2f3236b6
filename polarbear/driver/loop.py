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
from polarbear.driver.cost import RuntimeEstimates
from polarbear.driver.evidence import Evidence, Tally
from polarbear.driver.posterior_cache import CachedPosterior, keep
from polarbear.driver.progress import Watcher
from polarbear.driver.resume import HiddenRuns, resumed, settings_kept
from polarbear.driver.round_posterior import RoundInference, RoundResult
from polarbear.driver.scheduler import Scheduler
from polarbear.driver.speculation import Allowance, SpeculativeRuns, likely_tasks, runs_ahead
from polarbear.driver.stopping import (
    SETTLED,
    Ended,
    Purpose,
    Spent,
    at_limit,
    refuse_broken,
    refuse_failures,
    refuse_hopeless,
)
from polarbear.execution.executor import Executor
from polarbear.execution.outcome import Outcome, Task
from polarbear.inference import Posterior
from polarbear.inference.relations import DecisionTables
from polarbear.numerics.seeds import derived_seed
from polarbear.problems.base import Instance, Kind
from polarbear.racing import Forecast, RoundRecord, State
from polarbear.racing.forecast import forecast
from polarbear.settings.grid import EVALUATIONS, SECONDS
from polarbear.store import Store
from polarbear.store.runs import StoredRun

RUNS_PER_WORKER = 2  # in a round that is to keep all workers busy


class RaceRuns:
    """All runs of a race, with their values on the grid and estimates of run times."""

    def __init__(self, config: Config, store: Store, state: State, stream: InstanceStream) -> None:
        self.stored = collect.stored_runs(store)
        weight = config.instances.weight if config.instances.weights else None
        self.tally = Tally(store, config.budget, config.race.tie_tolerance, weight)
        self.estimates = RuntimeEstimates()
        for (name, _), run in self.stored.items():
            self.estimates.add(name, run.seconds, run.budget)
        seen = stream.first(state.caught_up)
        self.hidden = HiddenRuns(store.rounds.entered(), state, seen, self.stored, self.tally)
        self._stream = stream
        self._workers = collect.workers_of(config)

    def add(self, outcome: Outcome) -> None:
        """Take in a finished run."""
        run = StoredRun.of(outcome, self._workers)
        self.stored[run.algorithm, run.instance] = run
        self.estimates.add(run.algorithm, run.seconds, run.budget)
        self.tally.add(outcome)

    def evaluations(self, state: State) -> dict[str, int]:
        """Evaluations of each algorithm on the instances of the race."""
        return {
            name: sum(run.evaluations for run in runs) for name, runs in self._of(state).items()
        }

    def reached(self, state: State) -> dict[str, float]:
        """Time on the axis of each algorithm on the instances of the race."""
        return {name: sum(run.reached for run in runs) for name, runs in self._of(state).items()}

    def _of(self, state: State) -> dict[str, list[StoredRun]]:
        used = [instance.id for instance in self._stream.first(state.instances)]
        return {
            name: [run for i in used if (run := self.stored.get((name, i))) is not None]
            for name in state.algorithms
        }


class LastPosterior:
    """The posterior after the last round, inferred when it is needed."""

    def __init__(self, store: Store, inference: RoundInference) -> None:
        self._store = store
        self._inference = inference
        self._found: tuple[Evidence, CachedPosterior] | None = None

    def set(self, result: RoundResult) -> None:
        self._found = result.evidence, result.cached

    def get(self) -> tuple[Evidence, CachedPosterior]:
        if self._found is None:
            record = self._store.rounds.last()
            assert record is not None, "there is no posterior before the first round"
            evidence = self._inference.evidence(record.state)
            self._found = evidence, self._inference.posterior_of(record.state, evidence)
        return self._found

    def keep(self) -> None:
        """Store it, and drop the posteriors of earlier rounds."""
        if self._found is None:
            last = self._store.rounds.last()
            if last is None or last.posterior in self._store.posteriors.stored():
                return
        evidence, cached = self.get()
        if cached.key not in self._store.posteriors.stored():
            keep(self._store, evidence, cached)
        self._store.posteriors.remove_superseded()  # only now: a reader always finds one


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
        self._decision_seconds = 0.0  # of the last round
        self.state, self._waiting = resumed(config, store, add)
        self._origin = collect.origin_of(config, store)
        self._stream = InstanceStream(config)
        self._runs = RaceRuns(config, store, self.state, self._stream)
        self._inference = RoundInference(config, store, self._runs.tally, self._stream.first)
        self._posterior = LastPosterior(store, self._inference)
        self._speculative = self._speculative_runs()

    def _speculative_runs(self) -> SpeculativeRuns | None:
        """None where seconds are measured: inference at the same time would slow runs down."""
        if not self._config.execution.early or self._config.budget.axis == SECONDS:
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
            if self._waiting and self._runs.hidden.may_enter(self._waiting[0], self.state):
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
        reached = at_limit(self._config, state, self._spent(), self._stream.size)
        return None if reached is None else Ended(reached, at_limit=True)

    def _spent(self) -> Spent:
        return Spent(
            sum(self._runs.evaluations(self.state).values()),
            sum(self._runs.reached(self.state).values()),
            (time.monotonic() - self._began) / 3600,
        )

    def _round(self, scheduler: Scheduler) -> None:
        state = self.state
        horizons = race.horizons(state, self._rules) or self._horizons_beyond(state)
        instances = self._stream.next_batch(state, self._to_fill(scheduler.workers, horizons))
        self._store.add_instances(instances, self._config.instances.suite)
        self._runs.hidden.reveal(horizons, instances)
        collect.check_unchanged(self._config, self._origin)
        tasks = self._missing(instances, horizons)
        likely = self._likely(horizons, len(instances), tasks, scheduler)
        self._watcher.staffed(scheduler.workers)
        self._watcher.begins(state, horizons, len(instances), tasks)
        self._execute(scheduler, tasks, likely)
        self._refuse_failures(state, instances, horizons)
        self._watcher.infers()
        began = time.monotonic()
        result, record = scheduler.run_beside(
            lambda: self._decided(state, horizons, len(instances)), likely
        )
        self.state = result.state
        self._posterior.set(result)
        self._decision_seconds = time.monotonic() - began
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
        return result, self._record(result, horizons, drawn)

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
        self, horizons: dict[str, float], drawn: int, tasks: list[Task], scheduler: Scheduler
    ) -> Iterator[Task]:
        """Runs that the next round is likely to need."""
        state, workers, runs = self.state, scheduler.workers, scheduler.speculative
        allowance = Allowance(self._rules.limits, self._config.budget.axis, self._spent(), tasks)
        if runs is None or self._waiting or allowance.is_last(state):
            return iter(())
        per_run = sum(self._runs.estimates.seconds(*one) for one in horizons.items())
        per_run /= len(horizons)
        early = self._config.execution.early
        ahead = runs_ahead(early, workers, self._decision_seconds, per_run)
        at_least = max(math.ceil(ahead / len(horizons)), self._to_fill(workers, horizons))
        instances = (
            instance
            for instance in self._stream.batch_after(state, drawn, at_least)
            if not any(self._runs.hidden.hides(name, instance) for name in horizons)
        )
        return likely_tasks(
            allowance,
            instances,
            lambda instance: self._missing([instance], horizons),
            runs,
            lambda: scheduler.under_way,
            scheduler.has_started,
        )

    def _horizons_beyond(self, state: State) -> dict[str, float]:
        """Horizons where every relation is settled, but the purpose is not reached."""
        assert self._purpose is not None
        return dict.fromkeys(state.candidates, self._purpose.horizon(state.times))

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

    def _refuse_failures(
        self, state: State, instances: list[Instance], horizons: dict[str, float]
    ) -> None:
        """End a race with an error rather than let a broken algorithm lose."""
        runs, names = self._runs.stored, list(horizons)
        first = state.round == 0 or (state.joining is not None and state.caught_up == 0)
        if first:
            refuse_broken(runs, names, instances)
        seen = self._stream.first(state.caught_up if state.joining else state.instances)
        refuse_failures(runs, names, [*seen, *instances], self._config.execution.failures)
        if state.round == 0:
            refuse_hopeless(runs, self._runs.tally.found_nothing, names, instances)

    def _record(self, result: RoundResult, horizons: dict[str, float], drawn: int) -> RoundRecord:
        """The checkpoint of a round."""
        state, posterior = result.state, result.cached.posterior
        ahead = None if result.tables is None else self._forecast(state, result.tables)
        on_evaluations = self._config.budget.axis == EVALUATIONS
        return RoundRecord(
            state=state,
            decisions=result.decisions,
            drawn=drawn,
            ran_to=horizons,
            evaluations=self._runs.evaluations(state),
            spent=None if on_evaluations else self._runs.reached(state),
            threats=result.threats(),
            instances_to_go=ahead.likely if ahead else None if state.open_pairs else 0,
            forecast=ahead,
            draws=posterior.n_draws,
            problems=tuple(posterior.diagnostics.problems),
            posterior=result.cached.key,
            p_any_wrong=result.p_any_wrong(),
            fit=result.fit,
            **settings_kept(self._config),
        )

    def _forecast(self, state: State, tables: DecisionTables) -> Forecast | None:
        """Further instances until the end, at most those of the suite.

        Limits are not part of it, because they may change.
        """
        size = self._stream.size
        left = None if size is None else size - state.instances
        if left == 0:
            return None
        seed = derived_seed(self._config.seed, "forecast", state.round)
        return forecast(state, self._rules, tables, left, seed)
