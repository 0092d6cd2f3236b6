"""All algorithms on the same instances, from a configuration to the store that holds the runs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from polarbear.api import configurations
from polarbear.api.configurations import ConfigLike
from polarbear.api.listening import Listener
from polarbear.api.showing import Shown, dressed
from polarbear.api.store import Store
from polarbear.api.warming import warn_of_busy_cores
from polarbear.driver import collect
from polarbear.driver.collected import Collected, collected
from polarbear.errors import ConfigError
from polarbear.store import Store as StoreOnDisk
from polarbear.wording import counted


@dataclass(frozen=True, repr=False)
class Ran(Shown, Collected):
    """What a call of `run` did, and what the store now holds."""

    def _in_a_line(self) -> str:
        return f"{counted(self.executed, 'run')} executed, {self.present} there already"


def run(
    config: ConfigLike,
    store: str | Path | None = None,
    *,
    instances: int | None = None,
    retry_failed: bool = False,
    workers: int | None = None,
    seed: int | None = None,
    mix_hosts: bool = False,
    listener: Listener | None = None,
) -> Store:
    """Run all algorithms on the same instances.

    What is stored already is not run again; more algorithms, instances or budget are added to it.
    The store is the folder named, or one named after the configuration beside it.
    """
    if instances is not None and instances < 1:
        raise ConfigError(f"expected one instance or more, found {instances}")
    listener = listener or Listener()
    settings = configurations.read(config, seed, workers)
    folder = configurations.store_folder(config, store)
    collect.prepare_unknown(settings, folder)
    chosen = collect.chosen_instances(settings, instances)
    begun = time.monotonic()
    disk = StoreOnDisk.open_or_create(folder, settings.plain())
    with disk.writing():
        disk.adopt(settings.plain(), settings.instances.uses_grid)
        collect.check_hosts(settings, disk, mix_hosts)
        disk.add_instances(chosen, settings.instances.suite)
        stored = collect.stored_runs(disk)
        plan = collect.plan(settings, stored, chosen, retry_failed=retry_failed)
        if plan.tasks:
            collect.prepare(settings)
        warn_of_busy_cores(settings, listener)
        listener.planned(len(plan.tasks), plan.present, folder, collect.workers_of(settings))
        with listener.runs(len(plan.tasks)) as finished, collect.pool_of(settings) as pool:
            collect.collect(pool, disk, plan.tasks, lambda o: finished(o.status.failed))
    seconds = time.monotonic() - begun
    told = collected(disk, settings.budget, len(plan.tasks), plan.present, seconds)
    return Store(disk, dressed(Ran, told))
