"""`polarbear race`: find the anytime Pareto set with as few runs as possible."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polarbear.cli import common
from polarbear.cli.screen import Screen

if TYPE_CHECKING:
    from polarbear.api.racing import Raced

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
    redecide: Annotated[
        bool,
        typer.Option(
            "--redecide",
            help="Where CONFIG has changed: take all decisions anew, from the runs that are there.",
        ),
    ] = False,
    rerun: common.Rerun = None,
    keep: common.Keep = None,
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Begin another race in the store, with all runs that fit."),
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
    page: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Rewrite the report's page after each round; an open one follows the race.",
        ),
    ] = None,
    no_check: Annotated[
        bool, typer.Option("--no-check", help="Do not try everything out first.")
    ] = False,
    no_early: Annotated[
        bool,
        typer.Option("--no-early", help="Begin no run before a round asks for it."),
    ] = False,
    workers: common.WorkersOption = None,
    seed: common.SeedOption = None,
    engine: common.EngineOption = None,
    scheduler: common.SchedulerOption = None,
    retry_failed: common.RetryFailed = False,
    mix_hosts: common.MixHosts = False,
    json: common.Json = False,
    quiet: common.Quiet = False,
    verbose: common.Verbose = False,
    debug: common.Debug = False,
) -> None:
    """Race algorithms until it is settled which of them belong in the anytime Pareto set.

    Goes on where it stopped; algorithms that are new in CONFIG enter on instances already seen.
    Where anything else has changed, it says what, and what --redecide would cost.
    Exit code 1: an algorithm is broken or fails too often, or something else is to be mended.
    Exit code 3: a limit was reached with pairs unresolved; the result is valid and printed.
    """
    from polarbear.api.racing import Raced
    from polarbear.api.racing import race as race_

    message = "the race goes on from its last round, and no finished run is run again"
    with common.interruptible(message), common.announcing_compilation(quiet):
        done = race_(
            config,
            store,
            add=add or (),
            redecide=redecide,
            rerun=rerun or (),
            keep=keep or (),
            fresh=fresh,
            preference=for_,
            regret=regret,
            workers=workers,
            seed=seed,
            engine=engine,
            scheduler=scheduler,
            mix_hosts=mix_hosts,
            retry_failed=retry_failed,
            check=False if no_check else None,
            early=0 if no_early else None,
            page=page,
            listener=Screen(quiet),
        ).result
    assert isinstance(done, Raced)
    if json:
        common.print_json(done.to_dict())
    else:
        _show(done)
    if done.at_limit:
        raise typer.Exit(AT_LIMIT)


def _show(done: Raced) -> None:
    from polarbear.cli import standings

    standings.show(done.standings)
    for line in common.failure_lines(done.failures):
        common.show(line)
    if done.reached is not None:
        now = done.reached
        common.show(
            f"for '{now.preference}': {now.choice}, {now.p2bb:.2f} likely to be the best, "
            f"expected regret {now.expected_regret:.2g}",
        )
    if done.extra_runs:
        common.show(common.extra_words(done.extra_runs))
    common.show(f"stopped because {done.stopped_because}; store {done.standings.store}")
