"""`polarbear race`: compare algorithms on more and more instances."""

from typing import TYPE_CHECKING, Annotated

import typer

import polarbear
from polarbear.api.choices import defaults
from polarbear.cli import completion, output
from polarbear.cli.application import app
from polarbear.cli.output import Screen
from polarbear.cli.parameters import (
    AsJson,
    ConfigFile,
    Debug,
    Engine,
    Keep,
    MixHosts,
    PageFile,
    Quiet,
    Rerun,
    RetryFailed,
    Scheduler,
    Seed,
    StoreOption,
    Verbose,
    Workers,
    check_preferences,
)

if TYPE_CHECKING:
    from polarbear.api.experiments import Raced

FAILED = 1  # the exit code where an algorithm that --add names has failed
AT_LIMIT = 3  # the exit code of a race that stopped with something open


@app.command()
def race(
    config: ConfigFile,
    store: StoreOption = None,
    add: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            autocompletion=completion.algorithms,
            help="Enter only this new algorithm of CONFIG; by default all new ones enter. May be "
            "given several times.",
        ),
    ] = None,
    redecide: Annotated[
        bool,
        typer.Option("--redecide", help="If CONFIG has changed: decide again from stored runs."),
    ] = False,
    rerun: Rerun = None,
    keep: Keep = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin another race in the store, using its runs.")
    ] = False,
    preference: Annotated[
        list[str] | None,
        typer.Option(
            "--for",
            metavar="PREFERENCE",
            callback=check_preferences,
            autocompletion=completion.preferences,
            help="Make only the runs that the choice for this preference needs. May be given "
            "several times.",
        ),
    ] = None,
    regret: Annotated[
        float, typer.Option(help="With --for: stop below this expected regret.")
    ] = defaults.REGRET,
    more: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Run all candidates on N further problems, whether relations are open or not; "
            "after an interruption the same command finishes them.",
        ),
    ] = None,
    page: PageFile = None,
    no_check: Annotated[
        bool, typer.Option("--no-check", help="Skip the short trial before a first race.")
    ] = False,
    no_early: Annotated[bool, typer.Option("--no-early", help="Make no speculative runs.")] = False,
    workers: Workers = None,
    seed: Seed = None,
    engine: Engine = None,
    scheduler: Scheduler = None,
    retry_failed: RetryFailed = False,
    mix_hosts: MixHosts = False,
    as_json: AsJson = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Race algorithms, and eliminate those that another one beats at every time.

    CONFIG is a configuration in YAML; `polarbear init` writes one.
    A race continues where it stopped; algorithms that are new in CONFIG enter on stored instances.
    If anything else has changed, the changes and the cost of --redecide are printed.
    Exit code 1: an error that you can fix, for example an algorithm that fails too often.
    Exit code 3: a limit was reached with pairs or choices open; the result is valid and printed.
    """
    message = "the same command continues from the last round; finished runs are stored"
    with output.interruptible(message), output.announcing_compilation():
        ended_race: Raced = polarbear.race(
            config,
            store,
            add=add or (),
            redecide=redecide,
            rerun=rerun or (),
            keep=keep or (),
            fresh=fresh,
            preference=preference or None,
            regret=regret,
            more=more,
            workers=workers,
            seed=seed,
            engine=engine,
            scheduler=scheduler,
            mix_hosts=mix_hosts,
            retry_failed=retry_failed,
            check=False if no_check else None,
            early=0 if no_early else None,
            page=page,
            listener=Screen(verbose),
        ).result
    output.result(ended_race, as_json, lambda raced: _show_raced(raced, verbose))
    if any(judgement.has_failed for judgement in ended_race.judgements):
        raise typer.Exit(FAILED)
    if ended_race.at_limit:
        raise typer.Exit(AT_LIMIT)


def _show_raced(raced: "Raced", verbose: bool) -> None:
    from polarbear.api import standings_words

    standings = raced.standings
    closing_lines = [judgement.text for judgement in raced.judgements]
    closing_lines += standings_words.failure_lines(raced.failures)
    closing_lines += [standings_words.purpose_words(purpose) for purpose in raced.purposes]
    if raced.extra_runs and verbose:
        closing_lines.append(standings_words.speculative_words(raced.extra_runs))
    closing_lines.append(f"Stopped because {raced.stopped_because}; store {standings.store}.")
    closing_lines += standings_words.next_lines(standings)
    lines = standings_words.standings_lines(standings, output.columns(), verbose, closing_lines)
    output.show(*lines)
