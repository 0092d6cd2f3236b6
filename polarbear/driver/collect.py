"""From a configuration to the missing runs, and to the executor that makes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from polarbear.algorithms.base import Algorithm
from polarbear.config import Config
from polarbear.driver.fingerprints import changes_between, fingerprints, packages_of
from polarbear.errors import StoreMismatchError
from polarbear.execution import host
from polarbear.execution.outcome import Executor, RunLimits, Status, Task
from polarbear.problems.base import Instance
from polarbear.racing import State
from polarbear.settings.grid import SECONDS
from polarbear.store import Store, manifest
from polarbear.store.runs import StoredRun
from polarbear.store.runs import stored_runs as runs_of
from polarbear.wording import joined, noun

DEFAULT_INSTANCES = 20
DAY = 86_400.0
LOCAL = "local"
Runs = Mapping[tuple[str, str], StoredRun]  # by algorithm and instance


@dataclass(frozen=True)
class Origin:
    """Facts about earlier runs and about the code, as new runs need them.

    ``seed_names`` are those of renamed algorithms; ``aside`` has the last attempt that was set
    aside, by algorithm and instance.
    """

    fingerprints: Mapping[str, str] = field(default_factory=dict)
    seed_names: Mapping[str, str] = field(default_factory=dict)
    aside: Mapping[tuple[str, str], int] = field(default_factory=dict)


def origin_of(config: Config, store: Store) -> Origin:
    """The origin of new runs of this configuration."""
    names = [algorithm.name for algorithm in config.algorithms]
    aside = store.set_aside.runs().select("attempt", "algorithm", "instance").rows()
    return Origin(
        fingerprints(config),
        {name: store.provenance.seed_name(name) for name in names},
        {(name, instance): attempt for attempt, name, instance in sorted(aside)},
    )


def chosen_instances(config: Config, count: int | None = None) -> list[Instance]:
    """The first instances of the suite, at most ``count`` of them."""
    stream = InstanceStream(config)
    wanted = count or config.instances.count or stream.size or DEFAULT_INSTANCES
    return stream.first(wanted if stream.size is None else min(wanted, stream.size))


def stored_runs(store: Store) -> dict[tuple[str, str], StoredRun]:
    """The runs that count, by algorithm and instance."""
    return {(run.algorithm, run.instance): run for run in runs_of(store.runs())}


def missing_tasks(
    config: Config,
    stored: Runs,
    instances: Sequence[Instance],
    budgets: Mapping[str, float] | None = None,
    retry_failed: bool = False,
    origin: Origin | None = None,
) -> list[Task]:
    """The runs that are missing for algorithms to have run on these instances up to their budgets.

    Without ``budgets``, all algorithms run up to the end of the grid.
    """
    if budgets is None:
        budgets = {algorithm.name: config.budget.limit for algorithm in config.algorithms}
    chosen = [algorithm for algorithm in config.algorithms if algorithm.name in budgets]
    origin = origin or Origin()
    tasks = []
    for instance in instances:
        for algorithm in chosen:
            budget, run = budgets[algorithm.name], stored.get((algorithm.name, instance.id))
            if run is None or _is_due_again(run, budget, retry_failed):
                tasks.append(_task(config, algorithm, instance, budget, run, origin))
    return tasks


def failed_again(
    config: Config, stored: Runs, instances: Sequence[Instance], origin: Origin
) -> list[Task]:
    """Tasks that repeat the failed runs on these instances, up to the same budgets."""
    return [
        _task(config, algorithm, instance, run.budget, run, origin)
        for instance in instances
        for algorithm in config.algorithms
        if (run := stored.get((algorithm.name, instance.id))) is not None and run.status.failed
    ]


def _task(
    config: Config,
    algorithm: Algorithm,
    instance: Instance,
    budget: float,
    run: StoredRun | None,
    origin: Origin,
) -> Task:
    """The next attempt at a run."""
    name = algorithm.name
    seed = config.run_seed(algorithm, instance.id, origin.seed_names.get(name, name))
    before = max(run.attempt if run else 0, origin.aside.get((name, instance.id), 0))
    return Task(algorithm, instance, seed, budget, before + 1, origin.fingerprints.get(name))


def _is_due_again(run: StoredRun, budget: float, retry_failed: bool) -> bool:
    """Whether a stored run has to be repeated: stopped too early, lost, or failed."""
    if run.status is Status.BUDGET:
        return run.reached < budget
    return run.status is Status.LOST or (retry_failed and run.status.failed)


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


def check_hosts(config: Config, store: Store, mix_hosts: bool) -> None:
    """Refuse to mix seconds of different machines without consent."""
    if config.budget.axis != SECONDS or mix_hosts or config.execution.engine != LOCAL:
        return  # other engines check each worker
    here = host.here()
    timed_on = store.runs().select("host", "cpu").iter_rows()
    others = [other for other in timed_on if other != (here.host, here.cpu)]
    if others:
        name, cpu = others[0]
        raise StoreMismatchError(
            f"{len(others)} {noun(len(others), 'run')} in {store.path} "
            f"{noun(len(others), 'was', 'were')} timed on {name} ({cpu}), but this is "
            f"{here.host} ({here.cpu}); seconds of different machines are not comparable. Go on "
            "there, choose another folder with --store, or allow it with --mix-hosts"
        )


def check_unchanged(config: Config, origin: Origin) -> None:
    """Stop where a file or a package has changed since the runs began."""
    for name, now in fingerprints(config).items():
        before = origin.fingerprints.get(name, now)
        if now != before:
            raise StoreMismatchError(
                f"{joined(changes_between(before, now))} changed while {name} was being run. "
                "Finished runs are stored; repeat the command, and it asks what to do about runs "
                "from before the change"
            )


def workers_of(config: Config) -> int:
    return config.execution.workers or host.cores()


def limits_of(config: Config) -> RunLimits:
    """The limits of a run; without a limit of memory, a share of the machine's."""
    execution = config.execution
    default = 2 * config.budget.limit + 60 if config.budget.axis == SECONDS else DAY
    memory = execution.memory_mib
    return RunLimits(execution.seconds_per_run or default, memory * 2**20 if memory else None)


def pool_of(config: Config, store: Store | None = None) -> Executor:
    """The executor of a configuration; the store says on which processors runs were timed."""
    if config.execution.engine != LOCAL:
        from polarbear.execution.dask import DaskExecutor

        packages = packages_of(fingerprints(config).values())
        return DaskExecutor(config, limits_of(config), packages, _timed_on(config, store))
    from polarbear.execution.pool import Pool  # not loaded by a finished race

    return Pool(
        config.instances,
        config.setting,
        workers_of(config),
        limits_of(config),
        config.execution.threads,
    )


def _timed_on(config: Config, store: Store | None) -> dict[str, str] | None:
    """The processor of the stored runs on each instance; None if seconds are not compared."""
    if config.budget.axis != SECONDS:
        return None
    return {} if store is None else dict(store.runs().select("instance", "cpu").iter_rows())


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
        suite, setting = self._config.instances, self._config.setting
        for index in range(len(self._drawn), count):
            self._drawn.append(suite.instance(index, setting))
        return self._drawn[:count]

    def next_batch(self, state: State, at_least: int = 1) -> list[Instance]:
        """The instances of the next round: new ones, or earlier ones for a newcomer."""
        first = state.caught_up if state.joining else state.instances
        return self._batch(state, first, max(state.batch, at_least))

    def batch_after(self, state: State, drawn: int, at_least: int = 1) -> list[Instance]:
        """Possible instances of the round after one on ``drawn`` instances, the likeliest first."""
        first = drawn + (state.caught_up if state.joining else state.instances)
        largest = self._config.race.batch.within(2 * state.batch, first)
        return self._batch(state, first, max(largest, at_least))

    def _batch(self, state: State, first: int, count: int) -> list[Instance]:
        ends = [first + count]
        if state.joining:
            ends.append(state.instances)
        else:
            limits = (self._config.race.limits.instances, self.size)
            ends += [limit for limit in limits if limit is not None]
        return self.first(min(ends))[first:]
