"""The runs of a configuration: those that are missing, those of a race, and their executor."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np

from polarbear.algorithms.base import Algorithm
from polarbear.config.configuration import Config
from polarbear.driver.fingerprints import fingerprints, packages_of
from polarbear.errors import StoreMismatchError
from polarbear.execution import host
from polarbear.execution.executor_choice import chosen_executor
from polarbear.execution.outcome import Executor, RunKey, RunLimits, Status, Task
from polarbear.facts.evidence import Evidence, ranked
from polarbear.numerics.threads import available_processors
from polarbear.problems.base import Instance
from polarbear.problems.specs import PROBLEM
from polarbear.problems.weights import weight_of
from polarbear.racing import RoundCoverage, State
from polarbear.rankings import GridValues
from polarbear.rankings.archives import with_fronts
from polarbear.rankings.outcomes import violations_of, with_violations
from polarbear.settings.contract import latest, on_grid
from polarbear.settings.grid import CPU_SECONDS, SECONDS
from polarbear.store import StoreOnDisk, manifest
from polarbear.store.run_values import final_outcomes, outcomes_on_grid
from polarbear.store.runs import FinishedRun, StoredRun
from polarbear.store.runs import stored_runs as runs_of
from polarbear.wording import counted, joined, noun

DEFAULT_INSTANCES = 20
DAY = 86_400.0
RUNS_IN_A_ROW = 32  # of a user's algorithm, before the next one has its turn
LOCAL = "local"


def stored_runs(store: StoreOnDisk) -> dict[RunKey, StoredRun]:
    """The runs that count."""
    return {store.key_of(run): run for run in runs_of(store.runs())}


class RunPlan:
    """Plans the missing runs of a configuration, by its code at the time of creation."""

    def __init__(self, config: Config, store: StoreOnDisk, retry_failed: bool = False) -> None:
        self._config = config
        self._retry_failed = retry_failed
        self.fingerprints = fingerprints(config)
        by_name = {algorithm.name: algorithm for algorithm in config.algorithms}
        self._algorithms = [by_name[name] for name in store.provenance.in_order(by_name)]
        self._seed_names = {name: store.provenance.seed_name(name) for name in by_name}
        self._last_attempts_set_aside: dict[tuple[str, str], int] = {}
        runs_set_aside = store.set_aside.runs().select("attempt", "algorithm", "instance")
        for attempt, name, instance in sorted(runs_set_aside.rows()):
            self._last_attempts_set_aside[name, instance] = attempt

    def missing(
        self,
        stored: Mapping[RunKey, StoredRun],
        instances: Iterable[Instance],
        budgets: Mapping[str, Sequence[float]] | None = None,
    ) -> list[Task]:
        """Missing runs of the algorithms that have budgets, by default all up to the limit."""
        if budgets is None:
            budgets = {name: self._config.budgets_of(name) for name in self.fingerprints}
        tasks = []
        for algorithm, instance in self._in_order([*instances]):
            for budget in budgets.get(algorithm.name, ()):
                task = self._task(algorithm, instance, budget)
                run = stored.get(task.key)
                if self._is_due(run, budget):
                    tasks.append(self._next_attempt(task, run))
        return tasks

    def _in_order(self, instances: Sequence[Instance]) -> Iterator[tuple[Algorithm, Instance]]:
        """Each algorithm on each instance, in the order in which they are run.

        A process serves one algorithm of a user only, and starting it takes longer than a short
        run, so such an algorithm makes several runs in a row. Where seconds are measured, all take
        turns: a machine that slows down must not slow down the last of them only.
        """
        if self._config.budget.is_timed:
            for instance in instances:
                yield from ((algorithm, instance) for algorithm in self._algorithms)
            return
        for first in range(0, len(instances), RUNS_IN_A_ROW):
            some_instances = instances[first : first + RUNS_IN_A_ROW]
            for group in self._sharing_processes:
                for instance in some_instances:
                    yield from ((algorithm, instance) for algorithm in group)

    @cached_property
    def _sharing_processes(self) -> list[list[Algorithm]]:
        """The algorithms in groups, of which each shares processes; users' are groups of one."""
        groups: dict[str, list[Algorithm]] = {}
        for algorithm in self._algorithms:
            is_alone = algorithm.runs_user_code or self._config.instances.runs_user_code
            groups.setdefault(algorithm.name if is_alone else "", []).append(algorithm)
        return list(groups.values())

    def failed(
        self, stored: Mapping[RunKey, StoredRun], instances: Iterable[Instance]
    ) -> list[Task]:
        """Tasks that repeat the failed runs on these instances, up to the same budgets."""
        tasks = []
        for instance in instances:
            for algorithm in self._algorithms:
                for budget in self._config.budgets_of(algorithm.name):
                    task = self._task(algorithm, instance, budget)
                    run = stored.get(task.key)
                    if run is not None and run.status.failed:
                        same_end = replace(task, budget=run.budget)
                        tasks.append(self._next_attempt(same_end, run))
        return tasks

    def _is_due(self, run: StoredRun | None, budget: float) -> bool:
        """Whether a run is missing, or has to be repeated: stopped too early, lost, or failed."""
        if run is None or is_due(run, budget):
            return True
        return self._retry_failed and run.status.failed

    def _task(self, algorithm: Algorithm, instance: Instance, budget: float) -> Task:
        """The first attempt at a run."""
        name = algorithm.name
        seed = self._config.run_seed(algorithm, instance.id, self._seed_names[name], budget)
        return Task(algorithm, instance, seed, budget, fingerprint=self.fingerprints[name])

    def _next_attempt(self, task: Task, run: StoredRun | None) -> Task:
        """The attempt at a run that follows a stored one, and all that were set aside."""
        last_attempt = max(
            run.attempt if run is not None else 0,
            self._last_attempts_set_aside.get((task.algorithm.name, task.instance.id), 0),
        )
        return replace(task, attempt=last_attempt + 1)

    def check_unchanged(self) -> None:
        """Raise an error if a file or a package has changed since the runs began."""
        for name, present_fingerprint in fingerprints(self._config).items():
            fingerprint_at_start = self.fingerprints[name]
            if present_fingerprint != fingerprint_at_start:
                # A run without changes does not load this module.
                from polarbear.driver.stale_runs import changes_between

                changes = joined(changes_between(fingerprint_at_start, present_fingerprint))
                raise StoreMismatchError(
                    f"{changes} changed while {name} was being run. "
                    "Finished runs are stored; repeat the command, and it asks what to do about "
                    "runs from before the change"
                )


def is_due(run: StoredRun, budget: float) -> bool:
    """Whether a run was stopped before a budget, or was lost."""
    if run.status is Status.LOST:
        return True
    return run.status is Status.BUDGET and run.reached < budget


def prepare(config: Config) -> None:
    """Raise errors that would make every run fail, before anything runs."""
    config.instances.check_weights(config.setting)
    for algorithm in config.algorithms:
        algorithm.prepare(config.setting)


def prepare_new(config: Config, store: Path) -> None:
    """Raise errors that would make every run fail, before a store is created.

    With a store, algorithms are prepared when there is something to run: a finished race loads no
    optimiser.
    """
    if not manifest.has_config(store):
        prepare(config)


def check_hosts(config: Config, store: StoreOnDisk, mix_hosts: bool) -> None:
    """Refuse to mix seconds of different machines without consent."""
    if not config.budget.is_timed or mix_hosts or config.execution.engine != LOCAL:
        return  # Other engines check each worker.
    this_machine = host.here()
    for name, cpu in store.runs().select("host", "cpu").iter_rows():
        if (name, cpu) != (this_machine.host, this_machine.cpu):
            raise StoreMismatchError(
                f"runs in {store.path} were timed on {name} ({cpu}), but this is "
                f"{this_machine.host} ({this_machine.cpu}); seconds of different machines are not "
                "comparable. Go on there, choose another folder with --store, or allow it with "
                "--mix-hosts"
            )


def busy_cores_words(config: Config) -> str | None:
    """A warning, if times in seconds are measured on cores of this machine that are busy."""
    execution = config.execution
    workers = workers_of(config)
    free = host.free_cores()
    runs_elsewhere = execution.scheduler or execution.job_queue
    if runs_elsewhere or config.budget.axis != SECONDS or workers <= free:
        return None
    remedy = f"--workers {free} avoids that" if free else "wait until the machine is idle"
    return (
        f"{free} of {counted(available_processors(), 'core')} {noun(free, 'is', 'are')} free "
        f"for {counted(workers, 'run')} at once: measured seconds will be too long; {remedy}"
    )


def workers_of(config: Config) -> int:
    return config.execution.workers or available_processors()


def pool_of(config: Config, store: StoreOnDisk | None = None) -> Executor:
    """The executor of a configuration, unless `use_executor` has chosen another one.

    The store says on which processors runs were timed.
    """
    chosen = chosen_executor(config)
    if chosen is not None:
        return chosen
    if config.execution.engine != LOCAL:
        return _dask_executor(config, store)
    from polarbear.execution.pool import Pool  # A finished race does not load it.

    return Pool(
        config.instances,
        config.setting,
        workers_of(config),
        _run_limits(config),
        config.execution.threads,
        isolation=config.execution.isolation,
    )


def _run_limits(config: Config) -> RunLimits:
    """The limits of one run; without one on memory, a run has a share of the machine's."""
    execution = config.execution
    default_seconds = {
        SECONDS: 2 * config.budget.limit + 60,
        # A run may wait for others, or for something else, without using the processor.
        CPU_SECONDS: 10 * config.budget.limit + 60,
    }.get(config.budget.axis, DAY)
    memory_bytes = execution.memory_mib * 2**20 if execution.memory_mib else None
    return RunLimits(execution.seconds_per_run or default_seconds, memory_bytes)


def _dask_executor(config: Config, store: StoreOnDisk | None) -> Executor:
    from polarbear.execution.dask import DaskExecutor

    processor_of_instance = None
    if config.budget.is_timed:
        processor_of_instance = {} if store is None else _processor_of_instance(store)
    packages = packages_of(fingerprints(config).values())
    return DaskExecutor(config, _run_limits(config), packages, processor_of_instance)


def _processor_of_instance(store: StoreOnDisk) -> dict[str, str]:
    """The processor on which the stored runs of each instance were timed."""
    return dict(store.runs().select("instance", "cpu").iter_rows())


class InstanceStream:
    """The instances of a suite, in the batches that a race draws."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._drawn: list[Instance] = []

    @property
    def size(self) -> int | None:
        """The number of instances of a finite suite."""
        return self._config.instances.size(self._config.setting)

    def first(self, count: int) -> list[Instance]:
        """The first instances."""
        for index in range(len(self._drawn), count):
            instance = self._config.instances.instance(index, self._config.setting)
            self._drawn.append(instance)
        return self._drawn[:count]

    def next_batch(self, state: State, at_least: int = 1) -> list[Instance]:
        """The instances of the next round: new ones, or earlier ones to catch up on."""
        return self._batch(state, state.seen, max(state.batch, at_least))

    def further(self, state: State, count: int) -> list[Instance]:
        """The next instances, as far as the suite has them; limits of the race do not apply."""
        end = state.instances + count
        if self.size is not None:
            end = min(end, self.size)
        return self.first(end)[state.instances :]

    def is_exhausted(self, state: State) -> bool:
        """Whether the race may use no further instance."""
        limit = self._config.race.limits.instances
        return self.is_used_up(state) or (limit is not None and state.instances >= limit)

    def is_used_up(self, state: State) -> bool:
        """Whether the suite has no further instance."""
        return self.size is not None and state.instances >= self.size

    def batch_after(self, state: State, drawn: int, at_least: int = 1) -> list[Instance]:
        """Possible instances of the round after one on ``drawn`` instances, the likeliest first."""
        first = state.seen + drawn
        largest = self._config.race.batch.within(2 * state.batch, first)
        return self._batch(state, first, max(largest, at_least))

    def _batch(self, state: State, first: int, count: int) -> list[Instance]:
        """A number of instances from one on, as far as the race may use them."""
        if state.joining:
            limits = [state.instances]
        else:
            limits_or_none = [self._config.race.limits.instances, self.size]
            limits = [limit for limit in limits_or_none if limit is not None]
        end = min([first + count, *limits])
        return self.first(end)[first:]


def chosen_instances(config: Config, count: int | None = None) -> list[Instance]:
    """The first instances of the suite, at most ``count`` of them."""
    stream = InstanceStream(config)
    requested = count or config.instances.count or stream.size or DEFAULT_INSTANCES
    return stream.first(requested if stream.size is None else min(requested, stream.size))


class RaceRuns:
    """All runs of a race in memory, and their values on the grid.

    A race that is decided again replays rounds whose runs are stored, and later runs are stored as
    well. Those of most algorithms do not matter, since they are on instances that later rounds
    draw. An algorithm that catches up runs on instances of earlier rounds, so its runs on those
    that it has not caught up on are used only as far as earlier rounds asked for them.
    """

    def __init__(self, config: Config, store: StoreOnDisk, stream: InstanceStream) -> None:
        self._config = config
        self._store = store
        self._stream = stream
        self._rank_of_failures = store.settings.failures.ranks
        self._absent = np.full(len(config.budget.times), np.nan)
        grid = store.on_grid(config.budget.times)
        self._values: dict[tuple[str, str], np.ndarray] = {}
        self._violations: dict[tuple[str, str], np.ndarray] = {}  # 0 where there is no entry
        self._fronts: dict[tuple[str, str], np.ndarray] = {}  # with several objectives
        for i, instance in enumerate(grid.instances):
            for a, name in enumerate(grid.algorithms):
                self._values[name, instance] = grid.values[i, a]
                if grid.violations is not None:
                    self._violations[name, instance] = grid.violations[i, a]
                if grid.fronts is not None:
                    self._fronts[name, instance] = grid.fronts[i, a]
        self.stored = stored_runs(store)
        self.coverage = RoundCoverage(map(store.rounds.read, store.rounds.numbers()))
        self._entered = store.rounds.entered()

    def add(self, finished: FinishedRun) -> None:
        """Take in a finished run."""
        run = finished.run
        self.stored[self._store.key_of(run)] = run
        times = self._config.budget.times
        improvements = finished.improvements
        pair = (run.algorithm, run.instance)
        contract_times = self._config.contracts.get(run.algorithm)
        if contract_times is None:
            outcomes = outcomes_on_grid(run, improvements, times, self._rank_of_failures)
            self._values[pair] = outcomes.values
            self._violations.pop(pair, None)
            if outcomes.violations is not None:
                self._violations[pair] = outcomes.violations
            if outcomes.fronts is not None:
                self._fronts[pair] = outcomes.fronts
        else:
            finals = final_outcomes([(run, improvements)], contract_times, self._rank_of_failures)
            is_of_run = contract_times[latest(contract_times, times)] == run.budget
            values = self._values.get(pair, self._absent)
            new_values = on_grid(contract_times, finals.values, times)
            self._values[pair] = np.where(is_of_run, new_values, values)
            if finals.violations is not None or pair in self._violations:
                violations = self._violations.get(pair, violations_of(values))
                new_violations = violations_of(new_values)
                if finals.violations is not None:
                    new_violations = on_grid(contract_times, finals.violations, times)
                self._violations[pair] = np.where(is_of_run, new_violations, violations)

    def may_enter(self, name: str, state: State) -> bool:
        """Whether no other newcomer is catching up, and no earlier round is replayed."""
        return state.joining is None and self._entered.get(name, 0) <= state.round

    def used(self, state: State) -> dict[str, list[StoredRun]]:
        """The runs of each algorithm on the instances of the race."""
        instances = self._stream.first(state.instances)
        runs = {name: self.of(name, instances) for name in state.algorithms}
        if state.joining:
            used = [
                instance
                for index, instance in enumerate(instances)
                if index < state.caught_up or self.coverage.until(state.joining, index) > 0
            ]
            runs[state.joining] = self.of(state.joining, used)
        return runs

    def n_complete_after(self, state: State) -> int:
        """The number of next instances that all candidates were run on to the end already."""
        return self.complete_until(state.instances, state.candidates) - state.instances

    def complete_until(self, first: int, names: Collection[str]) -> int:
        """The index of the first instance from ``first`` on that one of these did not finish."""
        stored_indices = {*self._store.instances()["index"]}
        index = first
        while index in stored_indices and self._are_complete(names, index):
            index += 1
        return index

    def _are_complete(self, names: Collection[str], index: int) -> bool:
        """Whether these algorithms were run to the end on an instance of the suite."""
        instance = self._stream.first(index + 1)[index]
        for name in names:
            for key, budget in self._keys(name, instance):
                run = self.stored.get(key)
                if run is None or is_due(run, budget):
                    return False
        return True

    def _keys(self, name: str, instance: Instance) -> Iterator[tuple[RunKey, float]]:
        """The runs of an algorithm on an instance, each with its budget."""
        for budget in self._config.budgets_of(name):
            contract = budget if name in self._config.contracts else None
            yield RunKey(name, instance.id, contract), budget

    def of(self, name: str, instances: Iterable[Instance]) -> list[StoredRun]:
        """The runs of an algorithm on these instances."""
        keys = [key for instance in instances for key, _ in self._keys(name, instance)]
        return [self.stored[key] for key in keys if key in self.stored]

    def seen(self, state: State) -> list[Instance]:
        """The instances of earlier rounds, or those that the newcomer has caught up on."""
        return self._stream.first(state.seen)

    def found_nothing(self, names: Iterable[str], instances: Sequence[Instance]) -> bool:
        """Whether no run of these algorithms on these instances has a value."""
        values = (self._value(name, instance) for name in names for instance in instances)
        return not any(np.isfinite(value).any() for value in values)

    def evidence(self, state: State, drawn: int = 0) -> Evidence:
        """Rankings on the instances of a state, and on those drawn for the next round."""
        names = state.algorithms
        n_instances = state.instances
        if not state.joining:
            n_instances += drawn
        instances = self._stream.first(n_instances)
        values = np.array(
            [[self._value(name, instance) for name in names] for instance in instances]
        )
        cells = {
            (i, a): (name, instance.id)
            for i, instance in enumerate(instances)
            for a, name in enumerate(names)
        }
        violations = {
            cell: self._violations[pair] for cell, pair in cells.items() if pair in self._violations
        }
        fronts = None
        n_objectives = self._config.instances.objectives
        if n_objectives > 1:
            known_fronts = {
                cell: self._fronts[pair] for cell, pair in cells.items() if pair in self._fronts
            }
            fronts = with_fronts(values, known_fronts, n_objectives)
        if state.joining:
            algorithm = names.index(state.joining)
            for index in range(state.caught_up + drawn, n_instances):
                is_used = self.coverage.is_run(state, state.joining, index)
                values[index, algorithm, ~is_used] = np.nan
        ids = tuple(instance.id for instance in instances)
        weight_of_instance = self._config.instances.weights
        weights = None
        if weight_of_instance:
            weights = [weight_of(instance_id, weight_of_instance) for instance_id in ids]
        return ranked(
            GridValues(
                ids,
                names,
                self._config.budget.times,
                values,
                with_violations(values, violations),
                fronts,
            ),
            self._config.budget.unit_times,
            self._config.race.tie_tolerance,
            problems=[str(instance.spec.get(PROBLEM, instance.id)) for instance in instances],
            weights=weights,
            duels=self._config.duels,
        )

    def _value(self, algorithm: str, instance: Instance) -> np.ndarray:
        return self._values.get((algorithm, instance.id), self._absent)
