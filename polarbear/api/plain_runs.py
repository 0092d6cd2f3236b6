"""Runs without a race: all algorithms on the same instances, one run again, or a short trial."""

import time
from collections.abc import Sequence
from pathlib import Path

from polarbear.api import configurations
from polarbear.api.configurations import ConfigLike
from polarbear.api.listening import Listener, Progress
from polarbear.api.store_handle import Store
from polarbear.config.configuration import Config, Overrides
from polarbear.driver import collect, repeated_run
from polarbear.driver.check import Checked
from polarbear.driver.check import check as run_trial
from polarbear.driver.contract_check import ContractCheck
from polarbear.driver.contract_check import check_contract as compare_budgets
from polarbear.driver.instance_features import FeatureCollector
from polarbear.driver.reconcile import Answers, take_in
from polarbear.driver.repeated_run import Repeated
from polarbear.driver.scheduler import Scheduler
from polarbear.errors import ConfigError
from polarbear.facts.collected_runs import Collected, collected
from polarbear.problems.base import Instance
from polarbear.store import StoreOnDisk

__all__ = [
    "Checked",
    "Collected",
    "ContractCheck",
    "Repeated",
    "check",
    "check_contract",
    "repeat",
    "run",
]


def run(
    config: ConfigLike,
    store: str | Path | None = None,
    *,
    instances: int | None = None,
    retry_failed: bool = False,
    rerun: Sequence[str] = (),
    keep: Sequence[str] = (),
    workers: int | None = None,
    seed: int | None = None,
    engine: str | None = None,
    scheduler: str | None = None,
    mix_hosts: bool = False,
    listener: Listener | None = None,
) -> Store:
    """Run all algorithms of a ``config`` on the same ``instances``, by default the suite's count.

    Stored runs are not repeated, except those that failed with ``retry_failed``; more algorithms,
    instances or budget are added to them. The ``store`` is the given folder, or one named after the
    configuration next to it. Where the code behind stored runs has changed, ``rerun`` and ``keep``
    name the algorithms whose runs are set aside and made again, or still count. ``workers``,
    ``seed``, ``engine``, ``scheduler``, ``mix_hosts`` and ``listener`` are those of `race`.

    >>> pb.run(config, "runs", instances=3).result
    <Collected: 6 runs executed, 0 present before>
    """
    if instances is not None and instances < 1:
        raise ConfigError(f"expected one instance or more, found {instances}")
    listener = listener or Progress()
    overrides = Overrides(seed, workers, engine, scheduler, mix_hosts)
    settings = configurations.read(config, overrides, store)
    folder = configurations.store_folder(config, store)
    collect.prepare_new(settings, folder)
    chosen = collect.chosen_instances(settings, instances)
    begun = time.monotonic()
    disk = StoreOnDisk.create(folder, settings.stored())
    with disk.writing():
        for note in take_in(settings, disk, Answers(rerun, keep), racing=False):
            listener.note(note)
        collect.check_hosts(settings, disk, mix_hosts)
        executed = run_on(settings, disk, chosen, listener, retry_failed)
    present = len(chosen) * settings.runs_on_an_instance - executed
    seconds = time.monotonic() - begun
    return Store(disk, collected(disk, settings.budget, executed, present, seconds))


def run_on(
    settings: Config,
    disk: StoreOnDisk,
    instances: Sequence[Instance],
    listener: Listener,
    retry_failed: bool = False,
) -> int:
    """Run all algorithms on these instances; returns the number of runs that were missing.

    The caller holds the store's lock.
    """
    disk.add_instances(instances, settings.instances.suite)
    FeatureCollector(settings, disk, listener.warn).add(instances)
    stored = collect.stored_runs(disk)
    plan = collect.RunPlan(settings, disk, retry_failed)
    tasks = plan.missing(stored, instances)
    present = len(instances) * settings.runs_on_an_instance - len(tasks)
    if tasks:
        collect.prepare(settings)
    busy_cores = collect.busy_cores_words(settings)
    if busy_cores is not None:
        listener.warn(busy_cores)
    with collect.pool_of(settings, disk) as pool:
        listener.planned(len(tasks), present, disk.path, pool.size)
        with listener.runs(len(tasks)) as finished:
            Scheduler(pool, disk, lambda outcome, _: finished(outcome.status.failed)).run(tasks)
    plan.check_unchanged()
    return len(tasks)


def check(
    config: ConfigLike,
    *,
    workers: int | None = None,
    seed: int | None = None,
    engine: str | None = None,
    scheduler: str | None = None,
) -> Checked:
    """Build one problem, run each algorithm on it for a few evaluations, and report the findings.

    A cause that makes every run fail, such as a missing program, is raised. The findings of the
    trial are ``errors`` and ``warnings``. Nothing is stored. ``config``, ``workers``, ``seed``,
    ``engine`` and ``scheduler`` are those of `race`.

    >>> pb.check(config).ok
    True
    """
    settings = configurations.read(config, Overrides(seed, workers, engine, scheduler))
    collect.prepare(settings)
    with collect.pool_of(settings) as pool:
        return run_trial(settings, pool)


def check_contract(
    config: ConfigLike,
    algorithm: str,
    *,
    workers: int | None = None,
    seed: int | None = None,
    engine: str | None = None,
    scheduler: str | None = None,
) -> ContractCheck:
    """Run an ``algorithm`` with several budgets, and report whether it plans for its budget.

    Where its runs repeat themselves, trajectories are compared, otherwise values. Nothing is
    stored. ``config``, ``workers``, ``seed``, ``engine`` and ``scheduler`` are those of `race`.

    >>> pb.check_contract(config, "powell").finding.value
    'does not depend on its budget'
    """
    settings = configurations.read(config, Overrides(seed, workers, engine, scheduler))
    collect.prepare(settings)
    with collect.pool_of(settings) as pool:
        return compare_budgets(settings, algorithm, pool)


def repeat(
    config: ConfigLike, algorithm: str, instance: str, store: str | Path | None = None
) -> Repeated:
    """Make a stored run again, with its seed and budget, and compare it with the stored one.

    Nothing is written.
    """
    settings = configurations.read(config, Overrides(workers=1))
    disk = StoreOnDisk.open(configurations.store_folder(config, store))
    task = repeated_run.task_of(settings, disk, algorithm, instance)
    task.algorithm.prepare(settings.setting)
    with collect.pool_of(settings) as pool:
        return repeated_run.repeat(settings, disk, task, pool)
