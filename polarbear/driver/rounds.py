"""The driver of a race: runs what a round asks for, infers, steps, and keeps a checkpoint.

A round is a function of the state before it and of runs that depend on the seed alone, so a race
that is killed anywhere and started again ends with the same checkpoints.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from polarbear import racing as race
from polarbear.config import Config
from polarbear.driver import collect
from polarbear.driver.ahead import Ahead
from polarbear.driver.batches import Batches
from polarbear.driver.broken import refuse_broken, refuse_failures, refuse_hopeless
from polarbear.driver.check import check
from polarbear.driver.dispatch import Dispatch
from polarbear.driver.early import EarlyRuns
from polarbear.driver.ending import SETTLED, Ended, Purpose, Spent, at_limit
from polarbear.driver.entrants import entrants, settings_kept
from polarbear.driver.evidence import Evidence, Tally
from polarbear.driver.lengths import Lengths
from polarbear.driver.likely import Allowance, likely
from polarbear.driver.posterior_cache import CachedPosterior, keep
from polarbear.driver.round_posterior import RoundInference, RoundResult
from polarbear.driver.watching import Watcher
from polarbear.execution.executor import Executor
from polarbear.execution.outcome import Outcome, Task
from polarbear.inference import Posterior
from polarbear.inference.relations import DecisionTables
from polarbear.numerics.seeds import derived_seed
from polarbear.problems.base import Instance, Kind
from polarbear.racing import Forecast, RoundRecord, State
from polarbear.racing.forecast import forecast
from polarbear.racing.rules import Rules
from polarbear.settings.grid import EVALUATIONS, SECONDS
from polarbear.store import Store
from polarbear.store.runs import StoredRun

DECISIONS_AHEAD = 4  # that take as long as the last one
MOST_BRIEF = 1024  # runs that are ahead since they are brief
FILLING = 2  # runs a worker has in a round that is to keep all of them busy


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
        self._tries_out = try_out
        self._retry_failed = retry_failed
        self._store = store
        self._watcher = watcher or Watcher()
        self._purpose = purpose
        self.state, self._waiting = entrants(config, store, add)
        self._began = time.monotonic()
        self._runs = collect.stored_runs(store)
        self._deciding = 0.0  # seconds, the last time
        self._lengths = Lengths()
        for (name, _), run in self._runs.items():
            self._lengths.add(name, run.seconds, run.budget)
        self._origin = collect.origin_of(config, store)
        weight = config.instances.weight if config.instances.weights else None
        self._tally = Tally(store, config.budget, config.race.tie_tolerance, weight)
        self._batches = Batches(config)
        self._inference = RoundInference(config, store, self._tally, self._batches.first)
        self._evidence: Evidence | None = None  # of the last round
        self._cached: CachedPosterior | None = None
        seen = self._batches.first(self.state.caught_up)
        self._ahead = Ahead(store.rounds.entered(), self.state, seen, self._runs, self._tally)
        self._early = self._early_runs()

    def _early_runs(self) -> EarlyRuns | None:
        """Runs that no round has asked for yet, where workers may begin such.

        Not where seconds are measured: inference beside them would make them longer.
        """
        if not self._config.execution.early or self._config.budget.axis == SECONDS:
            return None
        return EarlyRuns(self._config, self._store, self._retry_failed)

    @property
    def rules(self) -> Rules:
        return self._config.race

    def run(self) -> Ended:
        """Race until everything is settled or a limit is reached; however it ends, the state and
        the posterior behind it are in the store."""
        try:
            ended = None if self._waiting or self._retry_failed else self._ended()
            return ended or self._run()
        finally:
            self._keep_posterior()

    def _run(self) -> Ended:
        collect.prepare(self._config)
        with collect.pool_of(self._config, self._store) as pool:
            if self._tries_out and not self._runs:
                self._try_out(pool)
            dispatch = self._dispatch_to(pool)
            try:
                ended = self._race(dispatch)
            finally:
                dispatch.keep()
            self._store.merge_parts(at_the_end=True)
            return ended

    def _dispatch_to(self, pool: Executor) -> Dispatch:
        """Who gives these workers something to do."""
        return Dispatch(pool, self._store, self._take, self._early, self._watcher.ran_early)

    def _race(self, dispatch: Dispatch) -> Ended:
        if self._retry_failed:
            self._run_failed_again(dispatch)
        while True:
            if self._waiting and self._ahead.may_enter(self._waiting[0], self.state):
                self.state = race.admit(self.state, self._waiting.pop(0), self.rules)
            ended = self._ended()
            if ended:
                return ended
            self._round(dispatch)

    def _ended(self) -> Ended | None:
        state = self.state
        if self._purpose and state.round and not state.joining and not state.untrusted:
            reason = self._purpose.reached(state, self.posterior)
            if reason:
                return Ended(reason, at_limit=False)
        if not state.open_pairs and not self._purpose:
            return Ended(SETTLED, at_limit=False)
        if state.round == 0:  # whatever the limits, there is a result to tell
            return None
        reached = at_limit(self._config, state, self._so_far(), self._batches.size)
        return None if reached is None else Ended(reached, at_limit=True)

    def _so_far(self) -> Spent:
        return Spent(
            sum(self._spent("evaluations").values()),
            sum(self._spent("reached").values()),
            (time.monotonic() - self._began) / 3600,
        )

    @property
    def posterior(self) -> Posterior:
        """The posterior after the last round; inferred here if no round was run yet."""
        return self._last_posterior()[1].posterior

    def _last_posterior(self) -> tuple[Evidence, CachedPosterior]:
        if self._evidence is None or self._cached is None:
            record = self._store.rounds.last()
            assert record is not None, "there is no posterior before the first round"
            self._evidence = self._inference.evidence(record.state)
            self._cached = self._inference.posterior_of(record.state, self._evidence)
        return self._evidence, self._cached

    def _spent(self, what: str, state: State | None = None) -> dict[str, Any]:
        """What each algorithm has spent on the instances of the race: evaluations, or on the axis
        how far its runs have ``reached``."""
        state = state or self.state
        used = [instance.id for instance in self._batches.first(state.instances)]
        return {
            name: sum(
                getattr(run, what) for i in used if (run := self._runs.get((name, i))) is not None
            )
            for name in state.algorithms
        }

    def _round(self, dispatch: Dispatch) -> None:
        state = self.state
        horizons = race.horizons(state, self.rules) or self._horizons_beyond(state)
        instances = self._batches.next(state, self._to_fill(dispatch.workers, horizons))
        self._store.add_instances(instances, self._config.instances.suite)
        self._ahead.bring_to_light(horizons, instances)
        collect.check_unchanged(self._config, self._origin)
        tasks = self._missing(instances, horizons)
        likely = self._likely(horizons, len(instances), tasks, dispatch)
        self._watcher.staffed(dispatch.workers)
        self._watcher.begins(state, horizons, len(instances), tasks)
        self._execute(dispatch, tasks, likely)
        self._refuse_broken(state, instances, horizons)
        self._watcher.infers()
        begun = time.monotonic()
        result, record = dispatch.meanwhile(
            lambda: self._decided(state, horizons, len(instances)), likely
        )
        self.state, self._evidence, self._cached = result.state, result.evidence, result.cached
        self._deciding = time.monotonic() - begun
        self._store.rounds.add(record, result.beliefs(self.rules))
        if self._watcher.wants_draws:
            self._keep_posterior()
        self._watcher.ends(record)

    def _missing(self, instances: list[Instance], horizons: dict[str, float]) -> list[Task]:
        """Runs that have to be made so that these algorithms have run so far, long ones first."""
        plan = collect.plan(
            self._config, self._runs, instances, horizons, self._retry_failed, self._origin
        )
        return self._lengths.long_first(plan.tasks)

    def _decided(
        self, state: State, horizons: dict[str, float], drawn: int
    ) -> tuple[RoundResult, RoundRecord]:
        """The result of a round whose runs are there; nothing is changed by it."""
        more = 0 if state.joining else drawn
        evidence = self._inference.evidence(state, more)
        result = self._inference.decide(state, evidence, drawn)
        return result, self._record(result, horizons, drawn)

    def _execute(self, dispatch: Dispatch, tasks: list[Task], likely: Iterable[Task] = ()) -> None:
        """Run what a round asks for and is not there yet."""
        dispatch.run(tasks, likely)

    def _to_fill(self, workers: int, horizons: dict[str, float]) -> int:
        """On how many instances these algorithms keep all workers busy, where that is asked for."""
        if not self._config.execution.fill_workers:
            return 1
        return math.ceil(FILLING * workers / len(horizons))

    def _likely(
        self, horizons: dict[str, float], drawn: int, tasks: list[Task], dispatch: Dispatch
    ) -> Iterator[Task]:
        """What the next round is likely to ask for while this one runs and is decided."""
        if dispatch.early is None or self._waiting:
            return iter(())
        state, workers = self.state, dispatch.workers
        ahead = math.ceil(self._runs_ahead(workers, horizons) / len(horizons))
        at_least = max(ahead, self._to_fill(workers, horizons))
        return likely(
            state,
            Allowance(self.rules.limits, self._config.budget.axis, self._so_far(), tasks),
            (
                instance
                for instance in self._batches.after_next(state, drawn, at_least)
                if not any(self._ahead.hides(name, instance) for name in horizons)
            ),
            lambda instance: self._missing([instance], horizons),
            dispatch,
        )

    def _runs_ahead(self, workers: int, horizons: dict[str, float]) -> float:
        """How many runs may be ahead of the rounds: brief ones for as long as some decisions take,
        since rounds whose runs are all there follow each other at once."""
        early = self._config.execution.early * workers
        seconds = sum(self._lengths.of(*horizon) for horizon in horizons.items()) / len(horizons)
        if not seconds:
            return early
        return max(early, min(DECISIONS_AHEAD * self._deciding * workers / seconds, MOST_BRIEF))

    def _horizons_beyond(self, state: State) -> dict[str, float]:
        """Who runs how far where everything is settled, but the race's purpose is not reached."""
        assert self._purpose is not None
        return dict.fromkeys(state.candidates, self._purpose.horizon(state.times))

    def _take(self, outcome: Outcome) -> None:
        task = outcome.task
        run = StoredRun.of(outcome, collect.workers_of(self._config))
        self._runs[run.algorithm, run.instance] = run
        self._lengths.add(task.algorithm.name, outcome.seconds, task.budget)
        self._tally.add(outcome)
        self._watcher.finished(outcome)

    def _try_out(self, pool: Executor) -> None:
        """Say what a short trial shows before anything is spent; scores that are drawn are fine."""
        if self._config.instances.offers() is not Kind.SCORES:
            found = check(self._config, pool)
            self._watcher.checked([*found.errors, *found.warnings])

    def _run_failed_again(self, dispatch: Dispatch) -> None:
        """Run again what failed on the instances of rounds that are over."""
        seen = self._batches.first(self.state.instances)
        collect.check_unchanged(self._config, self._origin)
        self._execute(dispatch, collect.failed_again(self._config, self._runs, seen, self._origin))

    def _refuse_broken(
        self, state: State, instances: list[Instance], horizons: dict[str, float]
    ) -> None:
        """End a race with an error rather than let what does not run lose it."""
        first = state.round == 0 or (state.joining is not None and state.caught_up == 0)
        if first:
            refuse_broken(self._runs, list(horizons), instances)
        seen = self._batches.first(state.caught_up if state.joining else state.instances)
        failures = self._config.execution.failures
        refuse_failures(self._runs, list(horizons), [*seen, *instances], failures)
        if state.round == 0:
            refuse_hopeless(self._runs, self._tally.found_nothing, list(horizons), instances)

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
            evaluations=self._spent("evaluations", state),
            spent=None if on_evaluations else self._spent("reached", state),
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
        """The number of further instances, of those that the suite has; limits are not part of
        it, since they may change."""
        size = self._batches.size
        left = None if size is None else size - state.instances
        if left == 0:
            return None
        seed = derived_seed(self._config.seed, "forecast", state.round)
        return forecast(state, self.rules, tables, left, seed)

    def _keep_posterior(self) -> None:
        """Keep the posterior of the last round, and drop those of earlier ones."""
        if self._cached is None:
            last = self._store.rounds.last()
            if last is None or last.posterior in self._store.posteriors.stored():
                return
        evidence, cached = self._last_posterior()
        if cached.key not in self._store.posteriors.stored():
            keep(self._store, evidence, cached)
        self._store.posteriors.remove_superseded()  # only now: a reader always finds one
