"""`polarbear design`: search for configurations and programs, one set for every budget."""

from typing import TYPE_CHECKING, Annotated

import typer

import polarbear
from polarbear.cli import output
from polarbear.cli.application import app
from polarbear.cli.output import Screen
from polarbear.cli.parameters import (
    AsJson,
    ConfigFile,
    Debug,
    Engine,
    Quiet,
    Scheduler,
    Seed,
    StoreOption,
    Verbose,
    Workers,
)
from polarbear.wording import counted, joined, percent_cell

if TYPE_CHECKING:
    from polarbear.api.designing import Designed

AT_LIMIT = 3  # the exit code of a search that stopped at a limit


@app.command()
def design(
    config: ConfigFile,
    store: StoreOption = None,
    test_instances: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Run the final set on N instances that the search has not seen, too.",
        ),
    ] = None,
    generations: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="At most this number, instead of the configuration's."
        ),
    ] = None,
    workers: Workers = None,
    seed: Seed = None,
    engine: Engine = None,
    scheduler: Scheduler = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Search for configurations or programs: one set that serves every budget.

    The algorithms of CONFIG are raced first; those with a `space` are varied. In each generation a
    proposer suggests newcomers, which are judged against the set. The search ends when the set is
    stable, or at a limit of generations, runs or time; the same command continues it.
    Exit code 3: a limit was reached; the set is valid and printed.
    """
    message = "the same command continues; proposals, verdicts and finished runs are stored"
    with output.interruptible(message), output.announcing_compilation():
        designed: Designed = polarbear.design(
            config,
            store,
            test_instances=test_instances,
            generations=generations,
            workers=workers,
            seed=seed,
            engine=engine,
            scheduler=scheduler,
            listener=Screen(verbose),
        ).result
    output.result(designed, as_json, _show_designed)
    if designed.at_limit:
        raise typer.Exit(AT_LIMIT)


def _show_designed(designed: "Designed") -> None:
    from polarbear.api.designing import preset_words

    output.show(f"The set: {joined(list(designed.pareto_set))}", "")
    output.show(*(f"  {line}" for line in preset_words(designed)), "")
    if designed.validated:
        rows = [
            [
                preset.algorithm,
                "" if preset.win_rate is None else percent_cell(preset.win_rate),
                "" if preset.test_win_rate is None else percent_cell(preset.test_win_rate),
            ]
            for preset in designed.presets
        ]
        titles = ["win rate against its strongest rival", "in the search#", "on fresh instances#"]
        output.show_table(titles, rows)
    output.show(
        f"{counted(designed.generations, 'generation')} with "
        f"{counted(designed.candidates, 'candidate')} on {counted(designed.problems, 'problem')}, "
        f"{counted(designed.evaluations, 'evaluation')}. Stopped because "
        f"{designed.stopped_because}."
    )
    output.show(*(f"failed: {line}" for line in designed.failures))
    output.show(f"Presets: {designed.written}")
    output.show(f"To choose for a budget: polarbear select {designed.store}")
