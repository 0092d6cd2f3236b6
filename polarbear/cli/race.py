"""`polarbear race`: find the anytime Pareto set with as few runs as possible."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polarbear.cli import common

if TYPE_CHECKING:
    from polarbear.config import Config
    from polarbear.driver.standings import Standings
    from polarbear.select.aim import Aim

AT_LIMIT = 3  # exit code of a race that stopped with pairs unresolved


def race(
    config: common.ConfigFile,
    store: common.StoreOption = None,
    add: Annotated[
        list[str] | None,
        typer.Option(
            "--add",
            metavar="NAME",
            help="Let only this new algorithm of CONFIG enter; by default all new ones do.",
        ),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start over, in a new folder beside the old one.")
    ] = False,
    for_: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="PREFERENCE",
            help="Race only until the choice for this preference is good enough; as in `select`.",
        ),
    ] = None,
    regret: Annotated[
        float, typer.Option(help="With --for: the expected regret that is good enough.")
    ] = 0.01,
    workers: common.WorkersOption = None,
    seed: common.SeedOption = None,
    mix_hosts: common.MixHosts = False,
    json: common.Json = False,
    quiet: common.Quiet = False,
    verbose: common.Verbose = False,
    debug: common.Debug = False,
) -> None:
    """Race algorithms until it is settled which of them belong in the anytime Pareto set.

    Goes on where it stopped; algorithms that are new in CONFIG enter on instances already seen.
    Exit code 3: a limit was reached with pairs unresolved; the result is valid and printed.
    """
    from polarbear.cli.watch import RaceProgress
    from polarbear.config import load
    from polarbear.driver import collect
    from polarbear.driver.rounds import Race
    from polarbear.driver.standings import standings
    from polarbear.store import Store, summary

    settings = load(config, seed, workers)
    aim = _aim(settings, for_, regret) if for_ is not None else None
    collect.prepare(settings)
    common.announce_stan(settings.inference, quiet)
    folder = _fresh(common.store_of(config, store)) if fresh else common.store_of(config, store)
    if fresh:
        common.note(f"a new race, in {folder}", quiet)
    message = "the race goes on from its last round, and no finished run is run again"
    with common.interruptible(message), common.announcing_compilation(quiet):
        target = Store.open_or_create(folder, settings.plain())
        with target.writing():
            target.adopt(settings.plain(), settings.instances.uses_grid)
            collect.check_hosts(settings, target, mix_hosts)
            common.warn_of_busy_cores(settings, quiet)
            with RaceProgress(target, quiet) as progress:
                running = Race(settings, target, progress, add or (), aim)
                ended = running.run()
                reached = aim and aim.standing(running.state, running.posterior)
    found = standings(target)
    assert found is not None, "a race that has ended has had a round"
    facts: dict[str, Any] = {"stopped_because": ended.because, "failures": summary.failures(target)}
    if reached is not None:
        facts["for"] = reached
    if json:
        common.print_json({**found.to_plain(), **facts})
    else:
        _show(found, facts)
    if ended.at_limit:
        raise typer.Exit(AT_LIMIT)


def _aim(settings: Config, preference: str, threshold: float) -> Aim:
    from polarbear.preferences import Context, read_preference
    from polarbear.select.aim import aim

    wanted, folder = read_preference(preference)
    budget, joint = settings.budget, settings.inference.temporal
    context = Context(budget.times, budget.axis, folder, settings.seed, joint)
    return aim(wanted, context, threshold)


def _fresh(folder: Path) -> Path:
    """The first folder of this name, or of this name and a number, that is not there yet."""
    number, found = 1, folder
    while found.exists():
        number += 1
        found = folder.with_name(f"{folder.name}-{number}")
    return found


def _show(found: Standings, facts: dict[str, Any]) -> None:
    from polarbear.cli import standings

    console = common.console()
    standings.show(found, console)
    for line in common.failure_lines(facts["failures"]):
        console.print(line, markup=False)
    if "for" in facts:
        now = facts["for"]
        console.print(
            f"for '{now['preference']}': {now['choice']}, {now['p2bb']:.2f} likely to be the best, "
            f"expected regret {now['expected_regret']:.2g}",
            markup=False,
        )
    console.print(f"stopped because {facts['stopped_because']}; store {found.store}", markup=False)
