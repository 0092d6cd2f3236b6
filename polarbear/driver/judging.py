"""Judges a newcomer against the present set of a store: runs it on cached problems, in batches.

Members of the set are not run again. Every look is a function of stored runs, of which each depends
on its seed alone, so that a judgement that was killed ends with the same verdict.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np

from polarbear.algorithms.base import Algorithm
from polarbear.config.configuration import Config
from polarbear.driver.collect import InstanceStream, RaceRuns, RunPlan
from polarbear.driver.loop import failure_of
from polarbear.driver.scheduler import Scheduler
from polarbear.errors import PolarBearError, RaceError
from polarbear.execution.outcome import Executor
from polarbear.facts.evidence import Evidence
from polarbear.inference.empirical.decisions import decide_by_duels
from polarbear.racing.newcomers import Examination, Look, NewcomerVerdict, next_look
from polarbear.racing.state import Elimination
from polarbear.store import StoreOnDisk
from polarbear.store.runs import StoredRun


@dataclass(frozen=True)
class PresentSet:
    """The members that a newcomer has to beat, and the number of problems that they were run on."""

    members: tuple[str, ...]
    cached: int


@dataclass(frozen=True)
class Judged:
    """The judgement of a newcomer, and the runs behind it.

    It was decided after ``decided_after`` of the ``cached`` problems. A member was run on all of
    them: ``confirmation`` has the duels on those that it was not selected on. ``evidence`` is about
    the members and then the newcomer. ``failure`` says why it failed.
    """

    newcomer: str
    verdict: NewcomerVerdict
    members: tuple[str, ...]
    entrant: int
    cached: int
    decided_after: int
    runs: tuple[StoredRun, ...]
    selection: Evidence | None = None
    confirmation: Evidence | None = None
    evidence: Evidence | None = None
    elimination: Elimination | None = None
    failure: str | None = None

    @classmethod
    def unable_to_start(
        cls, newcomer: str, entrant: int, present: PresentSet, failure: str
    ) -> Self:
        """The judgement of an algorithm that cannot be run at all."""
        return cls(
            newcomer=newcomer,
            verdict=NewcomerVerdict.FAILED,
            members=present.members,
            entrant=entrant,
            cached=present.cached,
            decided_after=0,
            runs=(),
            failure=failure,
        )


def present_set(config: Config, store: StoreOnDisk, newcomer: str) -> PresentSet:
    """The candidates of the store's race and its problems.

    Without a race, they are all other algorithms and the first problems that all of these were run
    on.
    """
    last_round = store.rounds.last()
    if last_round is not None:
        members = tuple(name for name in last_round.state.candidates if name != newcomer)
        return PresentSet(members, last_round.state.instances)
    members = tuple(algorithm.name for algorithm in config.algorithms if algorithm.name != newcomer)
    runs = RaceRuns(config, store, InstanceStream(config))
    return PresentSet(members, runs.complete_until(0, members))


class NewcomerJudge:
    """Judges one algorithm of a configuration; the caller holds the store's lock.

    ``entrant`` is its number in the stream of newcomers. With ``gives_up`` it is no gain as soon as
    the remaining problems are very unlikely to make it a member.
    """

    def __init__(
        self,
        config: Config,
        store: StoreOnDisk,
        newcomer: str,
        entrant: int,
        present: PresentSet,
        gives_up: bool = True,
    ) -> None:
        if not present.cached:
            raise RaceError(
                f"{store.path} has no problem that the whole set was run on; `polarbear race` or "
                "`polarbear run` runs it"
            )
        self._config = config
        self._store = store
        self._newcomer = newcomer
        self._entrant = entrant
        self._present = present
        self._runs = RaceRuns(config, store, InstanceStream(config))
        self._plan = RunPlan(config, store)
        self._instances = InstanceStream(config).first(present.cached)
        self._examination = Examination.of(
            present.members,
            newcomer,
            tuple(config.budget.times.tolist()),
            config.race,
            entrant,
            present.cached,
            config.contracts,
            gives_up,
        )

    def judge(self, pool: Executor) -> Judged:
        """The judgement, by runs of an executor."""
        scheduler = Scheduler(
            pool, self._store, on_outcome=lambda _, finished: self._runs.add(finished)
        )
        n_seen = 0
        log_wealth = self._examination.nothing_shown
        while True:
            n = next_look(n_seen, self._present.cached)
            failure = self._execute(scheduler, n_seen, n)
            if failure is not None:
                return self._judged(NewcomerVerdict.FAILED, n, failure=failure)
            n_seen = n
            look = self._look(n_seen, log_wealth)
            log_wealth = look.log_wealth
            if look.verdict is not None:
                break
        if look.verdict == NewcomerVerdict.MEMBER:
            return self._confirmed(scheduler, n_seen)
        return self._judged(
            look.verdict, n_seen, evidence=self._evidence(n_seen), elimination=look.elimination
        )

    def _confirmed(self, scheduler: Scheduler, n_seen: int) -> Judged:
        """The judgement of a member, after runs on the problems that it was not selected on."""
        selection = self._evidence(n_seen)
        failure = self._execute(scheduler, n_seen, self._present.cached)
        if failure is not None:
            return self._judged(NewcomerVerdict.FAILED, self._present.cached, failure=failure)
        evidence = self._evidence(self._present.cached)
        confirmation = None
        if n_seen < self._present.cached:
            confirmation = evidence.of_instances(slice(n_seen, None))
        return self._judged(
            NewcomerVerdict.MEMBER,
            n_seen,
            evidence=evidence,
            selection=selection.of_instances(slice(n_seen)),
            confirmation=confirmation,
        )

    def _judged(
        self,
        verdict: NewcomerVerdict,
        n_seen: int,
        evidence: Evidence | None = None,
        selection: Evidence | None = None,
        confirmation: Evidence | None = None,
        elimination: Elimination | None = None,
        failure: str | None = None,
    ) -> Judged:
        instances = self._instances
        if verdict != NewcomerVerdict.MEMBER:
            instances = instances[:n_seen]
        return Judged(
            newcomer=self._newcomer,
            verdict=verdict,
            members=self._present.members,
            entrant=self._entrant,
            cached=self._present.cached,
            decided_after=n_seen,
            runs=tuple(self._runs.of(self._newcomer, instances)),
            evidence=evidence,
            selection=selection,
            confirmation=confirmation,
            elimination=elimination,
            failure=failure,
        )

    def _execute(self, scheduler: Scheduler, first: int, stop: int) -> str | None:
        """Run the newcomer on these cached problems; returns why it has failed, if it has."""
        budgets = {self._newcomer: self._config.budgets_of(self._newcomer)}
        self._plan.check_unchanged()
        tasks = self._plan.missing(self._runs.stored, self._instances[first:stop], budgets)
        scheduler.run(tasks)
        runs = self._runs.of(self._newcomer, self._instances[:stop])
        failures = self._config.execution.failures
        return failure_of(failures, self._newcomer, runs, are_first=first == 0)

    def _evidence(self, n_seen: int) -> Evidence:
        """The rankings of the members and, on the first problems, of the newcomer."""
        return self._runs.evidence(replace(self._examination.state, caught_up=n_seen))

    def _look(self, n_seen: int, wealth_before: np.ndarray) -> Look:
        evidence = self._evidence(n_seen)
        record = evidence.duels.record().decided_at(self._examination.state.decided_at)
        tables = partial(
            decide_by_duels,
            record,
            self._config.race.epsilon,
            self._config.inference.concentration,
        )
        bets = record.scaled(self._config.instances.bet_per_problem)
        is_run = ~np.isnan(evidence.grid.values[n_seen:, :-1])
        ahead = is_run.sum(axis=0).T
        return self._examination.look(n_seen, bets, tables, wealth_before, ahead)


def failure_to_start(config: Config, algorithm: Algorithm) -> str | None:
    """Why an algorithm cannot be run at all, such as code that cannot be imported."""
    try:
        algorithm.prepare(config.setting)
    except PolarBearError as error:
        return str(error)
    return None
