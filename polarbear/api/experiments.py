"""Races the algorithms of a configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from polarbear.api import configurations
from polarbear.api.configurations import ConfigLike
from polarbear.api.listening import Listener, Progress
from polarbear.api.store_handle import Store
from polarbear.config.configuration import Config, Overrides
from polarbear.driver import collect
from polarbear.driver.loop import Race, resumed
from polarbear.driver.race_progress import ProgressFile
from polarbear.errors import RaceError
from polarbear.facts.standings import Standings, standings
from polarbear.facts.summary import Failure, failures
from polarbear.racing import ChoiceQuestion
from polarbear.racing.purpose import Purpose
from polarbear.records import Facts, Record, json_values
from polarbear.settings import defaults
from polarbear.store import StoreOnDisk

if TYPE_CHECKING:
    from polarbear.api.judging import Judgement  # few races have newcomers that are named

__all__ = ["Raced", "race"]

JUDGEMENT_KEYS = ("verdict", "score", "text", "cost")  # of the last newcomer


@dataclass(frozen=True, repr=False)
class Raced(Record):
    """The result of a race; ``purposes`` are the choices for the preferences that it was for.

    ``extra_runs`` is the number of speculative runs that no round has used. ``judgements`` are
    those of the newcomers that the call has named.
    """

    stopped_because: str
    at_limit: bool
    standings: Standings
    failures: tuple[Failure, ...]
    purposes: tuple[ChoiceQuestion, ...]
    extra_runs: int
    judgements: tuple[Judgement, ...] = ()
    ROWS = "algorithms"

    def to_dict(self) -> Facts:
        """The facts that `polarbear race --json` prints."""
        facts = self.standings.to_dict()
        facts["stopped_because"] = self.stopped_because
        facts["failures"] = json_values(self.failures)
        facts["extra_runs"] = self.extra_runs
        if self.purposes:
            facts["for"] = [
                {**json_values(purpose), "answered": purpose.is_answered}
                for purpose in self.purposes
            ]
        if self.judgements:
            last = self.judgements[-1].to_dict()
            facts |= {key: last[key] for key in JUDGEMENT_KEYS}
            facts["judgements"] = json_values(self.judgements)
        return facts

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
    preference: str | Sequence[str] | None = None,
    regret: float = defaults.REGRET,
    more: int | None = None,
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
    """Race algorithms, and eliminate those that another one beats at every time.

    ``config`` is a file, a mapping or a `Config`. A race continues where it stopped. Algorithms
    that are new in the configuration enter on the stored instances; ``add`` restricts this to the
    named ones, which are judged as by `judge` first. The ``store`` is the given folder, or one
    named after the configuration next to it.
    With a ``preference``, or several, the race makes only the runs that the choice for it needs,
    and ends as soon as its expected regret is below ``regret``. With ``more`` it ends after this
    number of further problems, on which all candidates run, whether relations are open or not.
    ``retry_failed`` first repeats failed runs. A first race begins with a short trial, unless
    ``check`` or the configuration disables it. Idle workers begin up to ``early`` speculative runs
    each that the next round will probably need; no decision depends on them.

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
    _check_more(more, begins_again=fresh or redecide, is_for_purpose=preference is not None)
    if page is not None:
        from polarbear.api.live_page import LivePage, check_place  # imports the report

        check_place(Path(page))
    listener = listener or Progress()
    overrides = Overrides(seed, workers, engine, scheduler, mix_hosts, check, early)
    settings = configurations.read(config, overrides, store)
    purposes = _purposes(settings, preference, regret)
    folder = configurations.store_folder(config, store)
    collect.prepare_new(settings, folder)
    if settings.inference.engine == "stan":
        from polarbear.api.posterior import announce_stan  # other races do not load it

        announce_stan(settings.inference, listener)
    disk = StoreOnDisk.create(folder, settings.stored())
    with disk.writing():
        if disk.catalog.manifest.files or disk.settings != settings.stored() or rerun or keep:
            from polarbear.driver.reconcile import Answers, take_in  # not for a new store

            answers = Answers(rerun, keep, redecide, fresh)
            for note in take_in(settings, disk, answers, racing=True):
                listener.note(note)
        collect.check_hosts(settings, disk, mix_hosts)
        busy_cores = collect.busy_cores_words(settings)
        if busy_cores is not None:
            listener.warn(busy_cores)
        if retry_failed and disk.rounds.numbers() and failures(disk):
            listener.note(
                "failed runs are repeated; the decisions of earlier rounds stay, unless --redecide "
                "takes them again"
            )
        judgements: tuple[Judgement, ...] = ()
        if add:
            judgements = _judged(disk, settings, add, purposes, listener, mix_hosts)
            settings, add = _without_failed(disk, settings, add, judgements)
        live_page = None if page is None else LivePage(disk, Path(page), listener)
        with listener.race(disk) as display, ProgressFile(disk) as progress_file:
            watchers = [
                watcher for watcher in (progress_file, display, live_page) if watcher is not None
            ]
            on_finding = listener.warn if settings.execution.check else None
            running = Race(
                settings,
                disk,
                watchers,
                add,
                purposes,
                retry_failed,
                on_finding,
                more,
                warn=listener.warn,
            )
            end = running.run()
        if live_page is not None:
            live_page.write(follows=False)
    file = Path(config) if isinstance(config, str | Path) else None
    final_standings = standings(disk, config=file, is_used_up=running.is_used_up)
    assert final_standings is not None  # each limit allows at least one round
    result = Raced(
        stopped_because=end.because,
        at_limit=end.at_limit,
        standings=final_standings,
        failures=tuple(failures(disk)),
        purposes=running.state.choices if purposes else (),
        extra_runs=len(disk.speculative.table()),
        judgements=judgements,
    )
    return Store(disk, result)


def _judged(
    disk: StoreOnDisk,
    settings: Config,
    add: Sequence[str],
    purposes: Sequence[Purpose],
    listener: Listener,
    mix_hosts: bool,
) -> tuple[Judgement, ...]:
    """The judgements of newcomers, on the problems of the race; they enter it afterwards."""
    from polarbear.api.judging import judge_in

    resumed(settings, disk, add)  # refuses a wrong name before any run
    preference = purposes[0].preference if purposes else None
    return tuple(
        judge_in(disk, settings, name, preference, listener, mix_hosts, gives_up=False)
        for name in add
    )


def _without_failed(
    disk: StoreOnDisk, settings: Config, add: Sequence[str], judgements: Sequence[Judgement]
) -> tuple[Config, list[str]]:
    """The configuration and the newcomers without those that failed, which do not enter."""
    from polarbear.api.judging import drop

    failed = [judgement.algorithm for judgement in judgements if judgement.has_failed]
    for name in failed:
        drop(disk, settings, name)
    entering = [name for name in add if name not in failed]
    remaining = [one for one in settings.algorithms if one.name not in failed]
    last_round = disk.rounds.last()
    if last_round is not None and not entering:
        # No other new algorithm of the configuration enters in their place.
        remaining = [one for one in remaining if one.name in last_round.state.algorithms]
    return replace(settings, algorithms=tuple(remaining)), entering


def _purposes(
    config: Config, preference: str | Sequence[str] | None, regret: float
) -> list[Purpose]:
    """The purposes of a race for one preference or several, each of them once."""
    if preference is None:
        return []
    from polarbear.api.selecting import purpose_of  # few races are for a preference

    preferences = [preference] if isinstance(preference, str) else preference
    purposes = [purpose_of(config, text, regret) for text in preferences]
    return list({purpose.preference: purpose for purpose in purposes}.values())


def _check_more(more: int | None, begins_again: bool, is_for_purpose: bool) -> None:
    """Refuse a number of further problems that is none, or that contradicts another option."""
    if more is None:
        return
    if more < 1:
        raise RaceError(f"--more takes a number of further problems, one or more; found {more}")
    if begins_again:
        raise RaceError(
            "--more adds problems to the stored race; --fresh and --redecide begin another one: "
            "choose one"
        )
    if is_for_purpose:
        raise RaceError(
            "--more runs this number of problems; --for runs as many as its preference needs: "
            "choose one"
        )
