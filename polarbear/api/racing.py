"""A race, from a configuration to the store that holds its result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from polarbear.api import configurations
from polarbear.api.configurations import ConfigLike
from polarbear.api.listening import Listener
from polarbear.api.paging import Paged, check_place
from polarbear.api.showing import Shown
from polarbear.api.standing import Standings, standings
from polarbear.api.store import Store
from polarbear.api.warming import announce_stan, warn_of_busy_cores
from polarbear.config import Config, Execution, Overrides
from polarbear.driver import collect
from polarbear.driver.changes import Answers, take_in
from polarbear.driver.progress import Progress
from polarbear.driver.rounds import Race
from polarbear.errors import RaceError
from polarbear.plain import plain
from polarbear.preferences import Context, read_preference
from polarbear.select.regret_stop import Prospect, RegretStop, regret_stop
from polarbear.settings.options import Source, validate
from polarbear.store import Store as StoreOnDisk
from polarbear.store import summary
from polarbear.store.summary import Failure


@dataclass(frozen=True, repr=False)
class Raced(Shown):
    """How a call of `race` ended; ``reached`` is there where it raced for one preference.

    ``extra_runs`` were begun before a round asked for them, and none has used them so far.
    """

    stopped_because: str
    at_limit: bool
    standings: Standings
    failures: tuple[Failure, ...]
    reached: Prospect | None
    extra_runs: int

    def to_dict(self) -> dict[str, Any]:
        """What `polarbear race --json` prints."""
        ended = {
            "stopped_because": self.stopped_because,
            "failures": plain(self.failures),
            "extra_runs": self.extra_runs,
        }
        aim = {} if self.reached is None else {"for": plain(self.reached)}
        return {**self.standings.to_dict(), **ended, **aim}

    def _in_a_line(self) -> str:
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

    Goes on where it stopped; algorithms that are new in the configuration enter on instances
    already seen, or only those named by ``add``. The store is the folder named, or one named after
    the configuration beside it. With a ``preference`` the race ends as soon as the choice for it
    has an expected regret below ``regret``. ``retry_failed`` first runs again what failed before.
    A first race begins with a short trial of everything, unless ``check`` or the configuration says
    no. Workers that have nothing to do begin what the next round is likely to ask for, ``early``
    runs for each of them if that is more than a batch, and none if it is 0; no decision depends on
    it.

    Where the configuration is not that of the stored race any more, ``redecide`` takes decisions
    anew from the runs that are there; ``fresh`` begins another race in any case. Earlier rounds are
    kept. Where what made stored runs has changed, ``rerun`` and ``keep`` name the algorithms whose
    runs are set aside and run again, or count in spite of it. ``page`` names a file that is
    rewritten after each round: the report's page, which follows the race while it is open.
    """
    if add and (fresh or redecide):
        raise RaceError(
            "--add lets somebody enter the race that is there; --fresh and --redecide "
            "begin with all algorithms of the configuration: choose one"
        )
    if page is not None:
        check_place(Path(page))
    listener = listener or Listener()
    settings = configurations.read(config, Overrides(seed, workers, engine, scheduler, mix_hosts))
    if early is not None:
        wanted = {**settings.execution.model_dump(), "early": early}
        execution = validate(Execution, wanted, Source("execution"))
        settings = replace(settings, execution=execution)
    purpose = _purpose(settings, preference, regret) if preference is not None else None
    folder = configurations.store_folder(config, store)
    collect.prepare_unknown(settings, folder)
    announce_stan(settings.inference, listener)
    disk = StoreOnDisk.open_or_create(folder, settings.plain())
    with disk.writing():
        for note in take_in(settings, disk, Answers(rerun, keep, redecide, fresh), racing=True):
            listener.note(note)
        collect.check_hosts(settings, disk, mix_hosts)
        warn_of_busy_cores(settings, listener)
        if retry_failed and disk.rounds.numbers() and summary.failures(disk):
            listener.note(
                "what failed is run again; rounds that are over stay as they were decided, "
                "unless --redecide takes them anew"
            )
        with listener.race(disk) as watcher:
            tried = settings.execution.check if check is None else check
            paged = None if page is None else Paged(watcher, disk, Path(page), listener)
            with Progress(disk, paged or watcher) as told:
                running = Race(settings, disk, told, add, purpose, retry_failed, tried)
                ended = running.run()
            reached = purpose.prospect(running.state, running.posterior) if purpose else None
            if paged is not None:
                paged.write(follows=False)
    failures = tuple(summary.failures(disk))
    extra = disk.speculative.count()
    done = Raced(ended.because, ended.at_limit, standings(disk), failures, reached, extra)
    return Store(disk, done)


def _purpose(settings: Config, preference: str, threshold: float) -> RegretStop:
    wanted, folder = read_preference(preference)
    budget, joint = settings.budget, settings.inference.joint
    context = Context(budget.times, budget.axis, folder, settings.seed, joint)
    return regret_stop(wanted, context, threshold)
