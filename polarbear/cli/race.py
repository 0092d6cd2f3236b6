"""`polarbear race`: find the anytime Pareto set with few runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polarbear.cli import common, race_summary
from polarbear.cli.screen import Screen
from polarbear.wording import P_BEST

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
            help="Enter only this new algorithm of CONFIG; by default all new ones enter.",
        ),
    ] = None,
    redecide: Annotated[
        bool,
        typer.Option(
            "--redecide",
            help="If CONFIG has changed: decide again from the stored runs.",
        ),
    ] = False,
    rerun: common.Rerun = None,
    keep: common.Keep = None,
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Begin another race in the store, using its runs."),
    ] = False,
    for_: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="PREFERENCE",
            help="Race only until the choice for this preference is good enough; see `select`.",
        ),
    ] = None,
    regret: Annotated[
        float, typer.Option(help="With --for: stop below this expected regret.")
    ] = 0.01,
    page: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the page of the report after each round; an open page follows the race.",
        ),
    ] = None,
    no_check: Annotated[
        bool, typer.Option("--no-check", help="Skip the short trial before a first race.")
    ] = False,
    no_early: Annotated[
        bool,
        typer.Option("--no-early", help="Make no speculative runs."),
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

    A race continues where it stopped; algorithms that are new in CONFIG enter on stored instances.
    If anything else has changed, the changes and the cost of --redecide are printed.
    Exit code 1: an error that you can fix, for example an algorithm that fails too often.
    Exit code 3: a limit was reached with pairs unresolved; the result is valid and printed.
    """
    from polarbear.api.racing import Raced
    from polarbear.api.racing import race as race_

    message = "the same command continues from the last round; finished runs are stored"
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
            listener=Screen(quiet, verbose),
        ).result
    assert isinstance(done, Raced)
    if json:
        common.print_json(done.to_dict())
    else:
        _show(done, verbose)
    if done.at_limit:
        raise typer.Exit(AT_LIMIT)


def _show(done: Raced, verbose: bool) -> None:
    facts = done.standings
    race_summary.show(facts, verbose)
    for line in common.failure_lines(done.failures):
        common.show(line)
    if done.reached is not None:
        now = done.reached
        common.show(
            f"for '{now.preference}': {now.choice}, {P_BEST} = {now.p2bb:.2f}, "
            f"expected regret {now.expected_regret:.2g}",
        )
    if done.extra_runs and verbose:
        common.show(common.speculative_words(done.extra_runs))
    common.show(f"Stopped because {done.stopped_because}; store {facts.store}.")
    common.show(race_summary.next_commands(facts))
