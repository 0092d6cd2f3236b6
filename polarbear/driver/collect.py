"""From a configuration to the runs that are missing, and to who executes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from polarbear.config import Config
from polarbear.driver.fingerprints import changes_between, fingerprints, packages_of
from polarbear.errors import StoreMismatchError
from polarbear.execution import host
from polarbear.execution.executor import Executor, RunLimits
from polarbear.execution.outcome import Task
from polarbear.execution.placement import Placement
from polarbear.execution.status import Status
from polarbear.problems.base import Instance
from polarbear.settings.grid import SECONDS
from polarbear.store import Store, manifest
from polarbear.store.runs import StoredRun
from polarbear.store.runs import stored_runs as runs_of
from polarbear.wording import joined, noun

DEFAULT_INSTANCES = 20
DAY = 86_400.0
LOCAL = "local"


@dataclass(frozen=True)
class Origin:
    """What new runs note about where they come from, and what earlier ones leave them.

    ``seed_names`` are those of renamed algorithms; ``aside`` has the last attempt that was set
    aside, by algorithm and instance.
    """

    fingerprints: Mapping[str, str] = field(default_factory=dict)
    seed_names: Mapping[str, str] = field(default_factory=dict)
    aside: Mapping[tuple[str, str], int] = field(default_factory=dict)


def origin_of(config: Config, store: Store) -> Origin:
    """What runs of this configuration come from, as things are at this moment."""
    names = [algorithm.name for algorithm in config.algorithms]
    aside = store.set_aside.runs().select("attempt", "algorithm", "instance").rows()
    return Origin(
        fingerprints(config),
        {name: store.provenance.seed_name(name) for name in names},
        {(name, instance): attempt for attempt, name, instance in sorted(aside)},
    )


@dataclass(frozen=True)
class Plan:
    """The runs a configuration asks for: those to execute, and how many are there already."""

    tasks: list[Task]
    present: int


def chosen_instances(config: Config, count: int | None = None) -> list[Instance]:
    """The first instances of the suite's stream, as many as asked for or as there are."""
    setting = config.setting
    size = config.instances.size(setting)
    wanted = count or config.instances.count or size or DEFAULT_INSTANCES
    return [
        config.instances.instance(index, setting)
        for index in range(wanted if size is None else min(wanted, size))
    ]


def stored_runs(store: Store) -> dict[tuple[str, str], StoredRun]:
    """The runs that count, by algorithm and instance."""
    return {(run.algorithm, run.instance): run for run in runs_of(store.runs())}


def plan(
    config: Config,
    stored: Mapping[tuple[str, str], StoredRun],
    instances: Sequence[Instance],
    budgets: Mapping[str, float] | None = None,
    retry_failed: bool = False,
    origin: Origin | None = None,
) -> Plan:
    """What has to be run so that algorithms have run on these instances, each up to its budget.

    Without ``budgets`` that is all algorithms up to the end of the grid.
    """
    if budgets is None:
        budgets = {algorithm.name: config.budget.limit for algorithm in config.algorithms}
    chosen = [algorithm for algorithm in config.algorithms if algorithm.name in budgets]
    origin = origin or Origin()
    tasks, present = [], 0
    for instance in instances:
        for algorithm in chosen:
            budget = budgets[algorithm.name]
            run = stored.get((algorithm.name, instance.id))
            if run is not None and not _again(run.status, run.reached, budget, retry_failed):
                present += 1
                continue
            name = algorithm.name
            seed = config.run_seed(algorithm, instance.id, origin.seed_names.get(name, name))
            before = max(run.attempt if run else 0, origin.aside.get((name, instance.id), 0))
            made_by = origin.fingerprints.get(name)
            tasks.append(Task(algorithm, instance, seed, budget, before + 1, made_by))
    return Plan(tasks, present)


def failed_again(
    config: Config,
    stored: Mapping[tuple[str, str], StoredRun],
    instances: Sequence[Instance],
    origin: Origin,
) -> list[Task]:
    """Stored runs on these instances that failed, to be run again as far as they were to go."""
    tasks = []
    for instance in instances:
        for algorithm in config.algorithms:
            run = stored.get((algorithm.name, instance.id))
            if run is not None and Status(run.status).failed:
                before = max(run.attempt, origin.aside.get((algorithm.name, instance.id), 0))
                made_by = origin.fingerprints.get(algorithm.name)
                tasks.append(Task(algorithm, instance, run.seed, run.budget, before + 1, made_by))
    return tasks


def _again(status: str, reached: float, budget: float, retry_failed: bool) -> bool:
    """Whether a stored run does not do: stopped too early, lost, or failed and to be retried."""
    if status == Status.BUDGET:
        return reached < budget
    if status == Status.LOST:
        return True
    return retry_failed and Status(status).failed


def prepare(config: Config) -> None:
    """Raise now what would make every run fail; for whoever is about to run something."""
    config.instances.check_weights(config.setting)
    for algorithm in config.algorithms:
        algorithm.prepare(config.setting)


def prepare_unknown(config: Config, store: Path) -> None:
    """Raise what would make every run of an algorithm fail, before a store takes it in.

    Those that it has were prepared then, and are again only when there is something to run: a call
    that finds everything done loads no optimiser.
    """
    there = manifest.has_config(store)
    known = Store.open(store).config["algorithms"] if there else {}
    plain = config.plain()["algorithms"]
    for algorithm in config.algorithms:
        if known.get(algorithm.name) != plain[algorithm.name]:
            algorithm.prepare(config.setting)


def check_hosts(config: Config, store: Store, mix_hosts: bool) -> None:
    """Seconds of two machines are not comparable; mixing them must be meant."""
    if config.budget.axis != SECONDS or mix_hosts or config.execution.engine != LOCAL:
        return  # of other machines each worker says what it is
    here = host.here()
    timed_on = store.runs().select("host", "cpu").iter_rows()
    others = [other for other in timed_on if other != (here.host, here.cpu)]
    if others:
        name, cpu = others[0]
        raise StoreMismatchError(
            f"{len(others)} {noun(len(others), 'run')} in {store.path} "
            f"{noun(len(others), 'was', 'were')} timed on {name} ({cpu}), but this is "
            f"{here.host} ({here.cpu}); seconds of different machines are not comparable. Go on "
            "there, choose another folder with --store, or say --mix-hosts if you mean it"
        )


def check_unchanged(config: Config, origin: Origin) -> None:
    """Stop where a file or a package was changed under the runs that are being made."""
    for name, now in fingerprints(config).items():
        before = origin.fingerprints.get(name, now)
        if now != before:
            raise StoreMismatchError(
                f"{joined(changes_between(before, now))} changed while {name} was being run. What "
                "is finished is stored; give the same command again, and it asks what to do about "
                "runs from before the change"
            )


def workers_of(config: Config) -> int:
    return config.execution.workers or host.cores()


def limits_of(config: Config) -> RunLimits:
    """The limits of a run; memory that is not stated is a share of what a machine has."""
    execution = config.execution
    default = 2 * config.budget.limit + 60 if config.budget.axis == SECONDS else DAY
    memory = execution.memory_mib
    return RunLimits(execution.seconds_per_run or default, memory * 2**20 if memory else None)


def pool_of(config: Config, store: Store | None = None) -> Executor:
    """Who executes runs, as a configuration asks for it; the store tells where they were timed."""
    if config.execution.engine != LOCAL:
        from polarbear.execution.dask import DaskExecutor

        packages = packages_of(fingerprints(config).values())
        return DaskExecutor(config, limits_of(config), packages, _placement(config, store))
    from polarbear.execution.pool import Pool  # which a finished race has no use for

    return Pool(
        config.instances,
        config.setting,
        workers_of(config),
        limits_of(config),
        config.execution.threads,
    )


def _placement(config: Config, store: Store | None) -> Placement:
    rule = config.execution.processors
    if config.budget.axis != SECONDS or rule == "mixed":
        return Placement("mixed")
    runs = () if store is None else store.runs().select("instance", "cpu").iter_rows()
    return Placement(rule, dict(runs))
