"""The loop of a race: run what a round needs, infer, decide, and store a checkpoint.

A round is a function of the state before it and of runs that depend on the seed alone. So a race
that is killed anywhere and started again ends with the same checkpoints.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from threading import Event

from polarbear import racing as race
from polarbear.config.configuration import Config
from polarbear.config.execution import Failures
from polarbear.driver import collect
from polarbear.driver.check import check, failure_reason, run_failed
from polarbear.driver.collect import InstanceStream, RaceRuns, RunPlan
from polarbear.driver.instance_features import FeatureCollector
from polarbear.driver.race_progress import RoundStart, Watcher
from polarbear.driver.round_posterior import RoundInference, RoundResult
from polarbear.driver.scheduler import Scheduler, SpeculativeRuns
from polarbear.errors import AlgorithmError, RaceError
from polarbear.execution.outcome import Executor, Outcome, Status, Task
from polarbear.problems.base import Instance, Kind
from polarbear.racing import RoundRecord, State
from polarbear.racing.choosing import answer_words, unanswered
from polarbear.racing.purpose import Purpose
from polarbear.settings.options import unknown
from polarbear.store import StoreOnDisk
from polarbear.store.rounds import RequestedProblems
from polarbear.store.runs import FinishedRun, StoredRun
from polarbear.wording import counted, percent, short, timed, typed_time

SETTLED = "every relation is settled"
REMEDY = "Fix the cause and continue with --retry-failed"
RUNS_PER_WORKER = 2  # the number of runs in a round that keeps all workers busy


@dataclass(frozen=True)
class Ended:
    """How a race ended: why, and whether a limit was the reason."""

    because: str
    at_limit: bool


def resumed(config: Config, store: StoreOnDisk, add: Sequence[str]) -> tuple[State, list[str]]:
    """The state to continue from, and the newcomers that wait to enter."""
    names = store.provenance.in_order(algorithm.name for algorithm in config.algorithms)
    if store.rounds.numbers():
        from polarbear.store.verify import check_rounds  # not for a new race

        check_rounds(store.path)
    last_round = store.rounds.last()
    entered_after_round = store.rounds.entered()
    _check_newcomers(store, last_round, add, names)
    if last_round is None:
        starters = [name for name in names if name not in entered_after_round]
        newcomers = [name for name in names if name in entered_after_round]
        newcomers.sort(key=entered_after_round.__getitem__)
        times = config.budget.times.tolist()
        return race.start(starters, times, config.race, config.contracts), newcomers
    state = last_round.state
    newcomers = [
        name for name in names if name not in state.algorithms and (not add or name in add)
    ]
    newcomers.sort(key=lambda name: entered_after_round.get(name, state.round))
    return state, newcomers


def _check_newcomers(
    store: StoreOnDisk, last_round: RoundRecord | None, add: Sequence[str], names: Sequence[str]
) -> None:
    """Refuse newcomers that are not configured, are in the race already, or have no race."""
    for name in add:
        if name not in names:
            raise RaceError(f"--add: {unknown('algorithm', name, names)} (in the configuration)")
        if last_round is None:
            raise RaceError(
                f"there is no race in {store.path} that '{name}' could enter; start one without "
                "--add"
            )
        was_judged = store.judgements.of(name) is not None  # then the same command continues
        if name in last_round.state.algorithms and not was_judged:
            raise RaceError(
                f"--add: '{name}' is in the race in {store.path} already; a newcomer needs another "
                "name"
            )


class Race:
    """A race on a store; the caller holds the store's lock.

    ``on_finding`` receives the findings of a short trial before the first race; None for no trial.
    With ``more`` the race ends after this number of further problems, whatever its limits are;
    with ``only_newcomers`` once those that were added have caught up. ``warn`` receives lines about
    features that are unknown.
    """

    def __init__(
        self,
        config: Config,
        store: StoreOnDisk,
        watchers: Sequence[Watcher] = (),
        add: Sequence[str] = (),
        purposes: Sequence[Purpose] = (),
        retry_failed: bool = False,
        on_finding: Callable[[str], None] | None = None,
        more: int | None = None,
        warn: Callable[[str], None] = lambda line: None,
        only_newcomers: bool = False,
    ) -> None:
        self._config = config
        self._rules = config.race
        self._store = store
        self._watchers = watchers
        self._purposes = purposes
        self._retry_failed = retry_failed
        self._on_finding = on_finding
        self._only_newcomers = only_newcomers
        self._began = time.monotonic()
        self._added = tuple(add)
        self.state, self._waiting = resumed(config, store, add)
        self._plan = RunPlan(config, store, retry_failed)
        self._stream = InstanceStream(config)
        self._runs = RaceRuns(config, store, self._stream)
        self._inference = RoundInference(config, store, self._runs, purposes)
        self._requested = self._requested_problems(more)
        self._speculative = self._speculative_runs()
        self._features = FeatureCollector(config, store, warn)

    def _speculative_runs(self) -> SpeculativeRuns | None:
        """None where seconds are measured, or a limit bounds what runs may spend.

        Inference at the same time would slow measured runs down.
        """
        limits = self._rules.limits
        is_limited = limits.evaluations is not None or limits.spent is not None
        is_timed = self._config.budget.is_timed
        if not self._config.execution.early or is_timed or is_limited:
            return None
        return SpeculativeRuns(
            self._config, self._store, self._plan.fingerprints, self._retry_failed
        )

    def _requested_problems(self, more: int | None) -> RequestedProblems | None:
        """The further problems that this command asks for.

        The store keeps the request until a race has ended with it, so that the same command asks
        for the same problems after an interruption.
        """
        if more is None:
            return None
        pending = self._store.rounds.requested()
        if pending is not None and pending.problems == more:
            return pending
        return RequestedProblems(more, upto=self.state.instances + more)

    @property
    def is_used_up(self) -> bool:
        """Whether the suite has no further instance."""
        return self._stream.is_used_up(self.state)

    def run(self) -> Ended:
        """Race until everything that is asked is answered, or a limit is reached.

        However it ends, the state and its posterior are in the store.
        """
        self._store.rounds.request(self._requested)
        self._features.add(self._stream.first(self.state.instances))
        try:
            self._ask()
            ended = None if self._waiting or self._retry_failed else self._ended()
            ended = ended or self._run()
        finally:
            self._inference.keep()
        self._store.rounds.request(None)
        return ended

    def _ask(self) -> None:
        """Ask what this race is for; the last checkpoint says what is open of it."""
        state = self._inference.with_choices(self.state)
        if state is self.state:
            return
        self.state = state
        last_round = self._store.rounds.last()
        if last_round is not None:
            self._store.rounds.replace(last_round._replace(state=state))

    def _run(self) -> Ended:
        collect.prepare(self._config)
        with collect.pool_of(self._config, self._store) as pool:
            self._try_out(pool)
            scheduler = self._scheduler(pool)
            try:
                if self._retry_failed:
                    self._repeat_failed_runs(scheduler)
                while (ended := self._ended()) is None:
                    self._round(scheduler)
            finally:
                scheduler.flush()
            self._store.merge_parts(at_the_end=True)
            return ended

    def _repeat_failed_runs(self, scheduler: Scheduler) -> None:
        """Repeat the failed runs on the instances of earlier rounds."""
        self._plan.check_unchanged()
        instances = self._stream.first(self.state.instances)
        self._execute(scheduler, self._plan.failed(self._runs.stored, instances))

    def _ended(self) -> Ended | None:
        """How the race has ended, if it has; a newcomer that waits enters first."""
        if self._only_newcomers and not self._waiting and self.state.joining not in self._added:
            return Ended("the newcomers have caught up", at_limit=False)
        self._let_catch_up()
        if self._requested is not None:
            return self._ended_with(self._requested)
        ended = self._over()
        return None if ended is not None and self._n_complete() else ended

    def _let_catch_up(self) -> None:
        """Let an algorithm begin, or end, to catch up: a newcomer, or one that lacks problems."""
        if self._waiting and self._runs.may_enter(self._waiting[0], self.state):
            newcomer = self._waiting.pop(0)
            contract_times = self._config.contracts.get(newcomer)
            admitted = race.admit(self.state, newcomer, self._rules, contract_times)
            self.state = unanswered(admitted, self._purposes, self._rules)
        is_exhausted = self._requested is None and self._stream.is_exhausted(self.state)
        self.state = race.catching_up(self.state, self._runs.coverage, is_exhausted)

    def _ended_with(self, requested: RequestedProblems) -> Ended | None:
        """How a race for a number of further problems has ended, if it has."""
        if self.state.joining:
            return None
        if self.state.instances >= requested.upto:
            return Ended(requested.words, at_limit=False)
        if self._stream.is_used_up(self.state):
            return Ended(used_up_words(self.state.instances), at_limit=True)
        return None

    def _n_complete(self) -> int:
        """The number of next problems that all candidates were run on already.

        They cost nothing, so a race uses them, unless its number of rounds is limited.
        """
        limit = self._rules.limits.rounds
        is_last_round = limit is not None and self.state.round >= limit
        if self.state.joining or self.state.round == 0 or is_last_round:
            return 0
        return self._runs.n_complete_after(self.state)

    def _over(self) -> Ended | None:
        """Whether nothing is left to decide, or a limit is reached."""
        reason = self._settled_reason()
        if reason is not None:
            return Ended(reason, at_limit=False)
        if self.state.round == 0:
            return None  # A race has a result whatever its limits are.
        runs = list(chain.from_iterable(self._runs.used(self.state).values()))
        hours = (time.monotonic() - self._began) / 3600
        reason = at_limit(self._config, self.state, runs, hours, self._stream.size)
        return None if reason is None else Ended(reason, at_limit=True)

    def _settled_reason(self) -> str | None:
        """Why nothing is left to decide: every question of the race is answered."""
        state = self.state
        if race.open_questions(state):
            return None
        if not self._purposes:
            regret = self._rules.regret
            return SETTLED if regret is None else settled_and_chosen_words(regret)
        if not state.round or state.joining or state.untrusted:
            return None
        return "; ".join(map(answer_words, state.choices))

    def _scheduler(self, pool: Executor) -> Scheduler:
        return Scheduler(
            pool,
            self._store,
            on_outcome=self._take,
            speculative=self._speculative,
            on_speculative=self._take_speculative,
        )

    def _round(self, scheduler: Scheduler) -> None:
        """Run what a round needs, decide it, and store its checkpoint."""
        state = self.state
        n_further = self._n_further()
        if n_further:
            budgets = {name: self._config.budgets_of(name) for name in state.candidates}
            horizons = dict.fromkeys(state.candidates, state.times[-1])
            instances = self._stream.further(state, n_further)
        else:
            budgets = race.budgets(state, self._rules)
            horizons = {name: times[-1] for name, times in budgets.items()}
            instances = self._stream.next_batch(state, self._to_fill(scheduler.workers, budgets))
        self._store.add_instances(instances, self._config.instances.suite)
        self._features.add(instances)
        self._plan.check_unchanged()
        tasks = self._plan.missing(self._runs.stored, instances, budgets)
        likely_tasks: Iterator[Task] = iter(())
        if not n_further:
            likely_tasks = self._likely(budgets, len(instances), scheduler)
        start = RoundStart(state, horizons, len(instances), tasks, scheduler.workers)
        for watcher in self._watchers:
            watcher.begins(start)
        self._execute(scheduler, tasks, likely_tasks)
        refuse_failures(self._config, self._runs, state, instances, list(horizons))
        for watcher in self._watchers:
            watcher.infers()
        decide = partial(self._decided, state, budgets, len(instances))
        self._take_result(scheduler.run_beside(decide, likely_tasks))

    def _n_further(self) -> int:
        """The number of next problems that all candidates run on, whether they need them or not.

        They are requested, or all candidates were run on them before the race ended.
        """
        if self.state.joining:
            return 0
        if self._requested is not None:
            return self._requested.upto - self.state.instances
        n_complete = self._n_complete()
        return n_complete if n_complete and self._over() is not None else 0

    def _take_result(self, result: RoundResult) -> None:
        """Store a decided round, and continue from its state."""
        self.state = result.record.state
        self._inference.remember(result)
        self._runs.coverage.add(result.record)
        self._store.rounds.add(result.record, result.beliefs)
        if any(watcher.wants_draws for watcher in self._watchers):
            self._inference.keep()
        for watcher in self._watchers:
            watcher.ends(result.record)

    def _decided(
        self, state: State, budgets: race.Budgets, drawn: int, cancelled: Event
    ) -> RoundResult:
        """The result of a round whose runs are finished; changes nothing."""
        return self._inference.decide(state, budgets, drawn, self._stream.size, cancelled)

    def _execute(
        self, scheduler: Scheduler, tasks: list[Task], likely: Iterable[Task] = ()
    ) -> None:
        scheduler.run(tasks, likely)

    def _to_fill(self, workers: int, budgets: race.Budgets) -> int:
        """The number of instances that keeps all workers busy, if the configuration asks for it."""
        if not self._config.execution.fill_workers:
            return 1
        return math.ceil(RUNS_PER_WORKER * workers / len(budgets))

    def _likely(self, budgets: race.Budgets, drawn: int, scheduler: Scheduler) -> Iterator[Task]:
        """Runs that the next round is likely to need, instance by instance."""
        last_round = self._rules.limits.rounds
        is_last = last_round is not None and self.state.round + 1 >= last_round
        if self._speculative is None or self._waiting or is_last:
            return
        workers = scheduler.workers
        n_ahead = math.ceil(self._config.execution.early * workers / len(budgets))
        at_least = max(n_ahead, self._to_fill(workers, budgets))
        for instance in self._stream.batch_after(self.state, drawn, at_least):
            yield from self._plan.missing(self._runs.stored, [instance], budgets)

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
            checked = check(self._config, pool)
            for finding in (*checked.errors, *checked.warnings, *checked.notes):
                self._on_finding(finding)


def at_limit(
    config: Config, state: State, runs: Sequence[StoredRun], hours: float, size: int | None
) -> str | None:
    """The limit that a race has reached by its runs or hours, if any.

    ``size`` is that of a finite suite.
    """
    if state.untrusted >= race.MAX_UNTRUSTED_ROUNDS:
        return f"the posterior failed its checks in {counted(state.untrusted, 'round')} in a row"
    limit = _limit_words(config, state, runs, hours)
    if limit is not None:
        return f"the limit of {limit} is reached"
    if size is not None and state.instances >= size and not state.joining:
        return used_up_words(size)
    return None


def settled_and_chosen_words(regret: float) -> str:
    """Why a race ends that asks for a choice at every time, too."""
    return (
        f"{SETTLED}, and at each time the choice has an expected regret of at most "
        f"{short(regret)} or is as good as its rivals"
    )


def used_up_words(size: int) -> str:
    """Why a race on a finite suite ends with its last instance."""
    return f"the suite has no further instance: all {size} are used"


def _limit_words(
    config: Config, state: State, runs: Sequence[StoredRun], hours: float
) -> str | None:
    """The configured limit that is reached, in words."""
    limits = config.race.limits
    if limits.rounds is not None and state.round >= limits.rounds:
        return counted(limits.rounds, "round")
    evaluations = sum(run.evaluations for run in runs)
    if limits.evaluations is not None and evaluations >= limits.evaluations:
        return counted(limits.evaluations, "evaluation")
    if limits.spent is not None and sum(run.reached for run in runs) >= limits.spent:
        return timed(limits.spent, config.budget.axis)
    if limits.hours is not None and hours >= limits.hours:
        return typed_time(limits.hours, "hours")
    if limits.instances is not None and state.instances >= limits.instances and not state.joining:
        return counted(limits.instances, "instance")
    return None


def refuse_failures(
    config: Config, runs: RaceRuns, state: State, instances: Sequence[Instance], names: list[str]
) -> None:
    """End a race with an error rather than let a broken algorithm lose.

    Raises if an algorithm has failed in all of its first runs, or more often than is tolerated, or
    if no run has found anything: all algorithms would end as equivalent.
    """
    new_runs = {name: runs.of(name, instances) for name in names}
    if state.round == 0 or (state.joining and state.caught_up == 0):
        _refuse_broken_algorithms(new_runs)
    earlier_instances = runs.seen(state)
    for name in names:
        all_runs = runs.of(name, [*earlier_instances, *instances])
        _refuse_intolerable_failures(config.execution.failures, name, all_runs)
    if state.round == 0 and runs.found_nothing(names, instances):
        first_name = names[0]
        example = _example(new_runs[first_name][:1])
        raise AlgorithmError(
            f"no run of the first round has found anything; {first_name} on {example}"
        )


def failure_of(
    failures: Failures, name: str, runs: Sequence[StoredRun], are_first: bool
) -> str | None:
    """Why an algorithm has failed by the rules of a race; None if it has not.

    With ``are_first`` these are its first runs, of which one must have worked.
    """
    broken = _broken_words(name, runs) if are_first else None
    return broken or _intolerable_words(failures, name, runs)


def _refuse_broken_algorithms(first_runs: Mapping[str, Sequence[StoredRun]]) -> None:
    """Raise an error if an algorithm has failed in all of its first runs."""
    words = [_broken_words(name, runs) for name, runs in first_runs.items()]
    lines = [line for line in words if line is not None]
    if lines:
        remedy = f"{REMEDY}, or remove it from the configuration."
        raise AlgorithmError("\n".join([*lines, remedy]))


def _broken_words(name: str, first_runs: Sequence[StoredRun]) -> str | None:
    """What is said of an algorithm that has failed in all of its first runs."""
    if not first_runs or not all(map(run_failed, first_runs)):
        return None
    return (
        f"'{name}' failed in all {len(first_runs)} of its first runs, so nothing is decided about "
        f"it; on {_example(first_runs)}"
    )


def _refuse_intolerable_failures(failures: Failures, name: str, runs: Sequence[StoredRun]) -> None:
    """Raise an error if an algorithm has failed more often than the configuration tolerates."""
    words = _intolerable_words(failures, name, runs)
    if words is None:
        return
    if failures.means == "ends":
        raise AlgorithmError(f"{words}\n{REMEDY}.")
    raise AlgorithmError(f"{words}\n{REMEDY}, or raise `tolerated` if such failures are normal.")


def _intolerable_words(failures: Failures, name: str, runs: Sequence[StoredRun]) -> str | None:
    """What is said of an algorithm that has failed more often than the configuration tolerates."""
    failed_runs = [run for run in runs if run.status.failed]
    if failed_runs and failures.means == "ends":
        return (
            f"'{name}' failed, which ends the race by `execution.failures.means: ends`; "
            f"on {_example(failed_runs)}"
        )
    if len(failed_runs) > failures.tolerated * len(runs):
        return (
            f"'{name}' failed in {len(failed_runs)} of {counted(len(runs), 'run')}, more than "
            f"the {percent(failures.tolerated)} of `execution.failures.tolerated`; "
            f"on {_example(failed_runs)}"
        )
    return None


def _example(runs: Sequence[StoredRun]) -> str:
    """An instance and its failure, preferably one without an external cause."""
    run = min(runs, key=lambda run: run.status is Status.LOST)
    reason = failure_reason(run)
    if run.status is Status.LOST:
        reason = f"it was killed from outside, {run.attempt} times: {reason}"
    return f"{run.instance}: {reason}"
