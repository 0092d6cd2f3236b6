"""Runs all algorithms on the same instances, and repeats single runs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from polarbear.api import configurations
from polarbear.api.configurations import ConfigLike
from polarbear.api.listening import Listener
from polarbear.api.preflight import warn_of_busy_cores
from polarbear.api.store import Store
from polarbear.config import Overrides
from polarbear.driver import collect, inspect
from polarbear.driver.inspect import Repeated
from polarbear.driver.reconcile import Answers, take_in
from polarbear.driver.scheduler import Scheduler
from polarbear.driver.standings import Collected, collected
from polarbear.errors import ConfigError
from polarbear.store import Store as StoreOnDisk

__all__ = ["Collected", "Repeated", "repeat", "run"]


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
    """Run all algorithms on the same instances.

    Stored runs are not repeated; more algorithms, instances or budget are added to them. The store
    is the given folder, or one named after the configuration next to it. Where the code behind
    stored runs has changed, ``rerun`` and ``keep`` name the algorithms whose runs are set aside and
    made again, or still count.
    """
    if instances is not None and instances < 1:
        raise ConfigError(f"expected one instance or more, found {instances}")
    listener = listener or Listener()
    settings = configurations.read(config, Overrides(seed, workers, engine, scheduler, mix_hosts))
    folder = configurations.store_folder(config, store)
    collect.prepare_unknown(settings, folder)
    chosen = collect.chosen_instances(settings, instances)
    begun = time.monotonic()
    disk = StoreOnDisk.open_or_create(folder, settings.plain())
    with disk.writing():
        for note in take_in(settings, disk, Answers(rerun, keep), racing=False):
            listener.note(note)
        collect.check_hosts(settings, disk, mix_hosts)
        disk.add_instances(chosen, settings.instances.suite)
        stored = collect.stored_runs(disk)
        origin = collect.origin_of(settings, disk)
        plan = collect.plan(settings, stored, chosen, retry_failed=retry_failed, origin=origin)
        if plan.tasks:
            collect.prepare(settings)
        warn_of_busy_cores(settings, listener)
        with collect.pool_of(settings, disk) as pool:
            listener.planned(len(plan.tasks), plan.present, folder, pool.size)
            with listener.runs(len(plan.tasks)) as finished:
                Scheduler(pool, disk, lambda o: finished(o.status.failed)).run(plan.tasks)
        collect.check_unchanged(settings, origin)
    seconds = time.monotonic() - begun
    return Store(disk, collected(disk, settings.budget, len(plan.tasks), plan.present, seconds))


def repeat(
    config: ConfigLike, algorithm: str, instance: str, store: str | Path | None = None
) -> Repeated:
    """Make a stored run again, with its seed and budget, and compare it with the stored one.

    Nothing is written.
    """
    settings = configurations.read(config, Overrides(workers=1))
    disk = StoreOnDisk.open(configurations.store_folder(config, store))
    task = inspect.task_of(settings, disk, algorithm, instance)
    task.algorithm.prepare(settings.setting)
    with collect.pool_of(settings) as pool:
        return inspect.repeat(settings, disk, task, pool)
