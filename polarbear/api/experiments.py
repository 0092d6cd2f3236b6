"""Runs the algorithms of a configuration: in a race, all on the same instances, or as a trial."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polarbear import api
from polarbear.api import configurations
from polarbear.api.configurations import ConfigLike
from polarbear.api.listening import Listener
from polarbear.api.progress_display import Progress
from polarbear.api.store_handle import Store
from polarbear.config import Config, Execution, Overrides
from polarbear.driver import collect
from polarbear.driver.check import Checked
from polarbear.driver.check import check as run_trial
from polarbear.driver.loop import Race
from polarbear.driver.race_progress import ProgressFile
from polarbear.driver.reconcile import Answers, take_in
from polarbear.driver.scheduler import Scheduler
from polarbear.driver.standings import Collected, Standings, collected, standings
from polarbear.errors import ConfigError, RaceError
from polarbear.execution.host import cores, free_cores
from polarbear.plain import Record, plain
from polarbear.settings.grid import SECONDS
from polarbear.settings.options import Source, validate
from polarbear.store import Store as StoreOnDisk
from polarbear.store import summary
from polarbear.store.summary import Failure
from polarbear.wording import counted, noun

if TYPE_CHECKING:
    from polarbear.selection.expected_regret import Prospect

__all__ = ["Checked", "Collected", "Raced", "check", "race", "run"]


@dataclass(frozen=True, repr=False)
class Raced(Record):
    """The result of a race; ``reached`` is set if it was for one preference.

    ``extra_runs`` is the number of speculative runs that no round has used.
    """

    stopped_because: str
    at_limit: bool
    standings: Standings
    failures: tuple[Failure, ...]
    reached: Prospect | None
    extra_runs: int
    ROWS = ("algorithms",)

    def to_dict(self) -> dict[str, Any]:
        """The facts that `polarbear race --json` prints."""
        ended = {
            "stopped_because": self.stopped_because,
            "failures": plain(self.failures),
            "extra_runs": self.extra_runs,
        }
        aim = {} if self.reached is None else {"for": plain(self.reached)}
        return {**self.standings.to_dict(), **ended, **aim}

    def one_line(self) -> str:
        return f"stopped because {self.stopped_because}"


def race(
    config: ConfigLike,
    store: str | Path | None = None,
    *,
    add: Sequence[str] = (),
    redecide: bool = False,
    rerun: Sequence[str] = (),
    keep: Sequence[str] = (),
    fresh: bool = False,
    preference: str | None = None,
    regret: float = 0.01,
    workers: int | None = None,
    seed: int | None = None,
    engine: str | None = None,
    scheduler: str | None = None,
    mix_hosts: bool = False,
    retry_failed: bool = False,
    check: bool | None = None,
    early: int | None = None,
    page: str | Path | None = None,
    listener: Listener | None = None,
) -> Store:
    """Race algorithms until it is settled which of them belong in the anytime Pareto set.

    ``config`` is a file, a mapping or a `Config`. A race continues where it stopped. Algorithms
    that are new in the configuration enter on the stored instances; ``add`` restricts this to the
    named ones. The ``store`` is the given folder, or one named after the configuration next to it.
    With a ``preference`` the race ends as soon as the choice for it has an expected regret below
    ``regret``. ``retry_failed`` first repeats failed runs. A first race begins with a short trial,
    unless ``check`` or the configuration disables it. Idle workers begin up to ``early``
    speculative runs each that the next round will probably need; no decision depends on them.

    If the configuration of the stored race has changed, ``redecide`` decides again from the stored
    runs; ``fresh`` begins another race. Earlier rounds are kept. If the code behind stored runs has
    changed, ``rerun`` and ``keep`` name the algorithms whose runs are set aside and made again, or
    still count. ``page`` names a file for the page of the report, rewritten after each round; an
    open page follows the race.

    ``workers``, ``seed``, ``engine`` and ``scheduler`` replace those of the configuration;
    ``mix_hosts`` allows seconds of different machines. Progress is shown in a notebook and on a
    terminal; another ``listener`` receives it instead.

    >>> pb.race(config, "another", seed=2).standings().pareto_set
    ('powell',)
    """
    if add and (fresh or redecide):
        raise RaceError(
            "--add enters an algorithm into the stored race; --fresh and --redecide begin with "
            "all algorithms of the configuration: choose one"
        )
    if page is not None:
        api.live_page.check_place(Path(page))
    listener = listener or Progress()
    overrides = Overrides(seed, workers, engine, scheduler, mix_hosts)
    settings = configurations.read(config, overrides, store)
    if early is not None:
        wanted = {**settings.execution.model_dump(), "early": early}
        execution = validate(Execution, wanted, Source("execution"))
        settings = replace(settings, execution=execution)
    purpose = None
    if preference is not None:
        purpose = api.selecting.regret_purpose(settings, preference, regret)
    folder = configurations.store_folder(config, store)
    collect.prepare_new(settings, folder)
    if settings.inference.engine == "stan":
        api.posterior.announce_stan(settings.inference, listener)
    disk = StoreOnDisk.open_or_create(folder, settings.plain())
    with disk.writing():
        for note in take_in(settings, disk, Answers(rerun, keep, redecide, fresh), racing=True):
            listener.note(note)
        collect.check_hosts(settings, disk, mix_hosts)
        _warn_of_busy_cores(settings, listener)
        if retry_failed and disk.rounds.numbers() and summary.failures(disk):
            listener.note(
                "failed runs are repeated; the decisions of earlier rounds stay, unless --redecide "
                "takes them again"
            )
        trial = settings.execution.check if check is None else check
        live = None if page is None else api.live_page.LivePage(disk, Path(page), listener)
        with listener.race(disk) as shown, ProgressFile(disk) as written:
            watchers = [watcher for watcher in (written, shown, live) if watcher is not None]
            on_finding = listener.warn if trial else None
            running = Race(settings, disk, watchers, add, purpose, retry_failed, on_finding)
            ended = running.run()
        reached = purpose.prospect(running.state, running.posterior) if purpose else None
        if live is not None:
            live.write(follows=False)
    result = standings(disk)
    assert result is not None  # whatever the limits, there was a round
    failures, extra = tuple(summary.failures(disk)), len(disk.speculative.table())
    return Store(disk, Raced(ended.because, ended.at_limit, result, failures, reached, extra))


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
    disk = StoreOnDisk.open_or_create(folder, settings.plain())
    with disk.writing():
        for note in take_in(settings, disk, Answers(rerun, keep), racing=False):
            listener.note(note)
        collect.check_hosts(settings, disk, mix_hosts)
        disk.add_instances(chosen, settings.instances.suite)
        stored = collect.stored_runs(disk)
        plan = collect.RunPlan(settings, disk, retry_failed)
        tasks = plan.missing(stored, chosen)
        present = len(chosen) * len(settings.algorithms) - len(tasks)
        if tasks:
            collect.prepare(settings)
        _warn_of_busy_cores(settings, listener)
        with collect.pool_of(settings, disk) as pool:
            listener.planned(len(tasks), present, folder, pool.size)
            with listener.runs(len(tasks)) as finished:
                Scheduler(pool, disk, lambda o: finished(o.status.failed)).run(tasks)
        plan.check_unchanged()
    seconds = time.monotonic() - begun
    return Store(disk, collected(disk, settings.budget, len(tasks), present, seconds))


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


def _warn_of_busy_cores(config: Config, listener: Listener) -> None:
    """Warn if times in seconds are measured on cores that are busy."""
    if config.execution.scheduler or config.execution.job_queue:
        return  # the cores of other machines
    workers, free = collect.workers_of(config), free_cores()
    if config.budget.axis == SECONDS and workers > free:
        remedy = f"--workers {free} avoids that" if free else "wait until the machine is idle"
        listener.warn(
            f"{free} of {counted(cores(), 'core')} {noun(free, 'is', 'are')} free for "
            f"{counted(workers, 'run')} at once: measured seconds will be too long; "
            f"{remedy}"
        )
