"""The driver of a race: runs what a round asks for, infers, steps, and keeps a checkpoint.

A round is a function of the state before it and of runs that depend on the seed alone, so a race
that is killed anywhere and started again ends with the same checkpoints.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from polarbear import racing as race
from polarbear.config import Config
from polarbear.driver import collect
from polarbear.driver.ahead import Ahead
from polarbear.driver.broken import refuse_broken, refuse_failures, why
from polarbear.driver.check import check
from polarbear.driver.entrants import entrants, settings_kept
from polarbear.driver.evidence import Evidence, Tally
from polarbear.driver.judgement import Judgement, refined, relations_of, threats
from polarbear.driver.posteriors import Learned, keep, learn, learn_newcomer
from polarbear.errors import AlgorithmError
from polarbear.execution.outcome import Outcome, Task
from polarbear.execution.pool import Pool
from polarbear.inference import ModelOptions, Posterior
from polarbear.inference.relations import Pointwise
from polarbear.numerics.seeds import derived_seed
from polarbear.problems.base import Instance, Kind
from polarbear.racing import Forecast, RoundRecord, State
from polarbear.racing.rules import Rules
from polarbear.settings.grid import EVALUATIONS
from polarbear.store import Store
from polarbear.wording import counted, timed, typed_time

MORE = 4  # times as many draws where a decision hangs on their number

SETTLED = "every relation is settled"


class Watcher:
    """Someone who looks on while a race goes on; this one sees nothing."""

    wants_draws = False  # in the store after each round, not only after the last

    def checked(self, findings: Sequence[str]) -> None:
        """Everything was tried out for a moment, and this was found."""

    def begins(self, state: State, horizons: dict[str, float], drawn: int, runs: int) -> None:
        """A round begins: who runs how far, on how many instances, in how many runs."""

    def finished(self, outcome: Outcome) -> None:
        """A run is finished."""

    def infers(self) -> None:
        """The runs of a round are there; inference begins."""

    def ends(self, record: RoundRecord) -> None:
        """A round is over and kept."""


@dataclass(frozen=True)
class Ended:
    """How a race ended: why, and whether a limit was the reason."""

    because: str
    at_limit: bool


class Purpose(Protocol):
    """What a race may be run for other than to settle everything."""

    def reached(self, state: State, posterior: Posterior) -> str | None:
        """Why the race has served its purpose, if it has."""

    def horizon(self, times: Sequence[float]) -> float:
        """The last time that matters for it."""


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
        self._origin = collect.origin_of(config, store)
        self._tally = Tally(store, config.budget, config.race.tie_tolerance)
        self._stream: list[Instance] = []
        self._last: Judgement | None = None
        seen = self._instances(self.state.caught_up)
        self._ahead = Ahead(store.entered(), self.state, seen, self._runs, self._tally)

    @property
    def rules(self) -> Rules:
        return self._config.race

    def run(self) -> Ended:
        """Race until everything is settled or a limit is reached; however it ends, the state and
        the posterior behind it are in the store."""
        if self._waiting or self._ended() is None:
            collect.prepare(self._config)
        try:
            with collect.pool_of(self._config) as pool:
                if self._tries_out and not self._runs:
                    self._try_out(pool)
                if self._retry_failed:
                    self._run_failed_again(pool)
                while True:
                    if self._waiting and self._ahead.may_enter(self._waiting[0], self.state):
                        self.state = race.admit(self.state, self._waiting.pop(0), self.rules)
                    ended = self._ended()
                    if ended:
                        return ended
                    self._round(pool)
        finally:
            self._keep_posterior()

    def _ended(self) -> Ended | None:
        state, limits = self.state, self.rules.limits
        if self._purpose and state.round and not state.joining and not state.untrusted:
            reason = self._purpose.reached(state, self.posterior)
            if reason:
                return Ended(reason, at_limit=False)
        if not state.open_pairs and not self._purpose:
            return Ended(SETTLED, at_limit=False)
        if state.round == 0:  # whatever the limits, there is a result to tell
            return None
        size = self._config.instances.size(self._config.setting)
        hours = (time.monotonic() - self._began) / 3600
        evaluations = sum(self._spent("evaluations").values())
        spent = sum(self._spent("reached").values())
        if state.untrusted >= race.PATIENCE:
            return Ended(
                f"the posterior failed its checks in {counted(state.untrusted, 'round')} in a row",
                True,
            )
        if limits.rounds is not None and state.round >= limits.rounds:
            return Ended(f"the limit of {counted(limits.rounds, 'round')} is reached", True)
        if limits.evaluations is not None and evaluations >= limits.evaluations:
            return Ended(
                f"the limit of {counted(limits.evaluations, 'evaluation')} is reached", True
            )
        if limits.spent is not None and spent >= limits.spent:
            axis = self._config.budget.axis
            return Ended(f"the limit of {timed(limits.spent, axis)} is reached", True)
        if limits.hours is not None and hours >= limits.hours:
            return Ended(f"the limit of {typed_time(limits.hours, 'hours')} is reached", True)
        if state.joining:
            return None
        if limits.instances is not None and state.instances >= limits.instances:
            return Ended(f"the limit of {counted(limits.instances, 'instance')} is reached", True)
        if size is not None and state.instances >= size:
            return Ended(f"the suite has no further instance: all {size} are used", True)
        return None

    @property
    def posterior(self) -> Posterior:
        """What is believed after the last round; inferred anew where no round was run yet."""
        return self._inferred_now().learned.posterior

    def _inferred_now(self) -> Judgement:
        if self._last is None:
            record = self._store.last_round()
            assert record is not None, "before the first round nothing is believed"
            state = record.state
            before = replace(state, round=state.round - 1, joining=record.newcomer)
            self._last = self._infer(before, self._evidence(state))
            self._last = self._among(state, self._last)
        return self._last

    def _spent(self, what: str) -> dict[str, Any]:
        """What each algorithm has spent on the instances of the race: evaluations, or on the axis
        how far its runs have ``reached``."""
        used = [instance.id for instance in self._instances(self.state.instances)]
        return {
            name: sum(run[what] for i in used if (run := self._runs.get((name, i))) is not None)
            for name in self.state.algorithms
        }

    def _instances(self, count: int) -> list[Instance]:
        suite, setting = self._config.instances, self._config.setting
        for index in range(len(self._stream), count):
            self._stream.append(suite.instance(index, setting))
        return self._stream[:count]

    def _evidence(self, state: State, more: int = 0) -> Evidence:
        """What the instances of a state say, and so many more."""
        return self._tally.evidence(self._instances(state.instances + more), state.algorithms)

    def _round(self, pool: Pool) -> None:
        state = self.state
        horizons = race.horizons(state, self.rules) or self._horizons_beyond(state)
        instances = self._next_instances()
        self._store.add_instances(instances, self._config.instances.suite)
        self._ahead.bring_to_light(horizons, instances)
        collect.check_unchanged(self._config, self._origin)
        plan = collect.plan(
            self._config, self._runs, instances, horizons, self._retry_failed, self._origin
        )
        self._watcher.begins(state, horizons, len(instances), len(plan.tasks))
        self._execute(pool, plan.tasks)
        self._refuse_broken(state, instances, horizons)
        self._watcher.infers()
        inferred = self._infer(
            state, self._evidence(state, more=0 if state.joining else len(instances))
        )
        self.state, decisions = race.step(
            state,
            self.rules,
            len(instances),
            inferred.pointwise,
            inferred.joint,
            inferred.duels(self.rules),
        )
        inferred = self._last = self._among(self.state, inferred)
        record = self._record(inferred, decisions, horizons, len(instances))
        self._store.add_round(record, inferred.beliefs())
        if self._watcher.wants_draws:
            self._keep_posterior()
        self._watcher.ends(record)

    def _execute(self, pool: Pool, tasks: list[Task]) -> None:
        """Run what a round asks for and is not there yet."""
        collect.collect(pool, self._store, tasks, self._take)

    def _horizons_beyond(self, state: State) -> dict[str, float]:
        """Who runs how far where everything is settled, but the race's purpose is not reached."""
        assert self._purpose is not None
        return dict.fromkeys(state.candidates, self._purpose.horizon(state.times))

    def _next_instances(self) -> list[Instance]:
        state, limit = self.state, self.rules.limits.instances
        size = self._config.instances.size(self._config.setting)
        first, batch = state.instances, state.batch
        if state.joining:
            first, last = state.caught_up, min(state.caught_up + batch, state.instances)
        else:
            last = min(
                first + batch,
                first + batch if limit is None else limit,
                first + batch if size is None else size,
            )
        return self._instances(last)[first:]

    def _take(self, outcome: Outcome) -> None:
        task = outcome.task
        self._runs[task.algorithm.name, task.instance.id] = {
            "status": outcome.status.value,
            "reached": outcome.reached,
            "attempt": task.attempt,
            "evaluations": outcome.evaluations,
            "message": outcome.message,
            "invalid": outcome.invalid,
            "points": len(outcome.values),
        }
        self._tally.add(outcome)
        self._watcher.finished(outcome)

    def _try_out(self, pool: Pool) -> None:
        """Say what a short trial shows before anything is spent; scores that are drawn are fine."""
        if self._config.instances.offers() is not Kind.SCORES:
            found = check(self._config, pool)
            self._watcher.checked([*found.errors, *found.warnings])

    def _run_failed_again(self, pool: Pool) -> None:
        """Run again what failed on the instances of rounds that are over."""
        seen = self._instances(self.state.instances)
        collect.check_unchanged(self._config, self._origin)
        self._execute(pool, collect.failed_again(self._config, self._runs, seen, self._origin))

    def _refuse_broken(
        self, state: State, instances: list[Instance], horizons: dict[str, float]
    ) -> None:
        """End a race with an error rather than let what does not run lose it."""
        first = state.round == 0 or (state.joining is not None and state.caught_up == 0)
        if first:
            refuse_broken(self._runs, list(horizons), instances)
        seen = self._instances(state.caught_up if state.joining else state.instances)
        failures = self._config.execution.failures
        refuse_failures(self._runs, list(horizons), [*seen, *instances], failures)
        if state.round == 0:
            self._refuse_hopeless(instances, horizons)

    def _refuse_hopeless(self, instances: list[Instance], horizons: dict[str, float]) -> None:
        """End a race in which nobody finds anything: it would go on until all are called alike."""
        found = [
            not self._tally.found_nothing(name, instance)
            for name in horizons
            for instance in instances
        ]
        if not any(found):
            name, first = next(iter(horizons)), instances[0]
            raise AlgorithmError(
                f"no run of the first round has found anything; {name} on {first.id}: "
                f"{why(self._runs[name, first.id])}"
            )

    def _infer(self, state: State, evidence: Evidence) -> Judgement:
        """The posterior, and relations that have enough draws for the decisions at hand."""
        options, rules = self._config.inference, self.rules
        more = options.model_copy(update={"draws": MORE * options.draws})
        learned = self._learn(state, evidence, options)
        if not learned.posterior.usable:
            options, learned = more, self._learn(state, evidence, more)
            if not learned.posterior.usable:
                return Judgement(learned, evidence, None, None, options.draws)
        pointwise, joint = relations_of(learned.posterior, rules)
        hanging = race.hanging(state, rules, pointwise, joint)
        if not hanging.any() or options is more:
            return Judgement(learned, evidence, pointwise, joint, options.draws)
        if options.splits_by_time and not state.joining:
            seed = derived_seed(self._config.seed, "race", state.round + 1, "more")
            pointwise = refined(evidence, more, seed, rules, hanging, pointwise)
        else:
            pointwise, joint = relations_of(self._learn(state, evidence, more).posterior, rules)
        return Judgement(learned, evidence, pointwise, joint, more.draws)

    def _among(self, state: State, inferred: Judgement) -> Judgement:
        """The same, first places being among those who are still in."""
        options = inferred.learned.posterior.options
        if options.plackett_luce:
            return inferred
        seed = inferred.learned.posterior.seed
        learned = learn(self._store, inferred.evidence, options, seed, state.candidates)
        return replace(inferred, learned=learned)

    def _learn(self, state: State, evidence: Evidence, options: ModelOptions) -> Learned:
        """A round's posterior; while a newcomer catches up, it moves nobody else's."""
        seed = derived_seed(self._config.seed, "race", state.round + 1)
        if not state.joining or not options.plackett_luce:
            return learn(self._store, evidence, options, seed, state.candidates)
        others = self._tally.evidence(
            self._instances(len(evidence.grid.instances)), state.algorithms[:-1]
        )
        before = derived_seed(self._config.seed, "race", state.entered)
        believed = learn(self._store, others, options, before)
        return learn_newcomer(self._store, believed, evidence, seed)

    def _record(
        self,
        inferred: Judgement,
        decisions: race.Decisions,
        horizons: dict[str, float],
        drawn: int,
    ) -> RoundRecord:
        """What is kept of a round."""
        pointwise, joint = inferred.pointwise, inferred.joint
        ahead = None if pointwise is None else self._forecast(pointwise)
        return RoundRecord(
            state=self.state,
            decisions=decisions,
            drawn=drawn,
            ran_to=horizons,
            evaluations=self._spent("evaluations"),
            spent=(None if self._config.budget.axis == EVALUATIONS else self._spent("reached")),
            threats=threats(self.state, pointwise, joint),
            instances_to_go=ahead.likely if ahead else None if self.state.open_pairs else 0,
            forecast=ahead,
            draws=inferred.draws,
            problems=tuple(inferred.learned.posterior.diagnostics.problems),
            posterior=inferred.learned.key,
            p_any_wrong=inferred.p_any_wrong(self.state.eliminated),
            fit=inferred.fit,
            **settings_kept(self._config),
        )

    def _forecast(self, pointwise: Pointwise) -> Forecast | None:
        """How many more instances the race will take, of those that there are; limits may change,
        and are no part of what is kept."""
        state = self.state
        size = self._config.instances.size(self._config.setting)
        left = None if size is None else size - state.instances
        if left == 0:
            return None
        seed = derived_seed(self._config.seed, "forecast", state.round)
        return race.forecast(state, self.rules, pointwise, left, seed)

    def _keep_posterior(self) -> None:
        """Keep the posterior of the last round, in the place of earlier ones."""
        if self._last is None:  # no round was run: it is there, unless the last race was killed
            last = self._store.last_round()
            if last is None or last.posterior in self._store.posterior_keys():
                return
            self._last = self._inferred_now()
        past = self._store.past_posteriors()
        for number in self._store.round_numbers():
            key = self._store.round(number).posterior
            if key != self._last.learned.key and key not in past:
                self._store.drop_posterior(key)
        keep(self._store, self._last.evidence, self._last.learned)
