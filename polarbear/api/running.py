"""All algorithms on the same instances, from a configuration to the store that holds the runs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from polarbear.api import configurations
from polarbear.api.configurations import ConfigLike
from polarbear.api.listening import Listener
from polarbear.api.showing import Shown, dressed
from polarbear.api.store import Store
from polarbear.api.warming import warn_of_busy_cores
from polarbear.config import Overrides
from polarbear.driver import collect
from polarbear.driver.changes import Answers, take_in
from polarbear.driver.collected import Collected, collected
from polarbear.driver.dispatch import Dispatch
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

    What is stored already is not run again; more algorithms, instances or budget are added to it.
    The store is the folder named, or one named after the configuration beside it. Where what made
    stored runs has changed, ``rerun`` and ``keep`` name the algorithms whose runs are set aside and
    run again, or count in spite of it.
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
                Dispatch(pool, disk, lambda o: finished(o.status.failed)).run(plan.tasks)
        collect.check_unchanged(settings, origin)
    seconds = time.monotonic() - begun
    told = collected(disk, settings.budget, len(plan.tasks), plan.present, seconds)
    return Store(disk, dressed(Ran, told))
