"""`polarbear gate`: is a change worse than the baseline?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import polarbear
from polarbear.api.choices import FailedCandidate, Undecided, decision_levels
from polarbear.cli import completion, output
from polarbear.cli.application import app
from polarbear.cli.output import Screen
from polarbear.cli.parameters import (
    AsJson,
    Debug,
    Quiet,
    Seed,
    StoreOption,
    Verbose,
    Workers,
    member_of,
)

if TYPE_CHECKING:
    from polarbear.api.gating import Gated

UNDECIDED = 3
WORSE = 4


@app.command()
def gate(
    configs: Annotated[list[Path], typer.Argument(metavar="CONFIG", help="One for each suite.")],
    baseline: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            autocompletion=completion.algorithms,
            help="An algorithm, or the group NAME/x.",
        ),
    ],
    candidate: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            autocompletion=completion.algorithms,
            help="An algorithm, or the group NAME/x.",
        ),
    ],
    tolerance: Annotated[
        str,
        typer.Option(
            help="A win rate of 0.5 less this is tolerated; or, as in 10%, that much more time."
        ),
    ] = str(decision_levels.DEFAULT_GATE_TOLERANCE),
    alpha: Annotated[
        float, typer.Option(help="Level at which a verdict is shown.")
    ] = decision_levels.DEFAULT_GATE_ALPHA,
    instances: Annotated[
        int | None,
        typer.Option(min=1, help="At most; by default race.limits.instances, or 100."),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(help="As many instances as fit into this time, instead of a number."),
    ] = None,
    failures: Annotated[
        FailedCandidate,
        typer.Option(
            parser=member_of(FailedCandidate),
            help="If a run fails for the candidate only: the candidate is worse, or the run is "
            "ranked like any other.",
        ),
    ] = FailedCandidate.WORSE,
    undecided: Annotated[
        Undecided,
        typer.Option(
            parser=member_of(Undecided),
            help="If no regression is shown, nor that there is none: exit code 0 with 'pass', 3 "
            "with 'fail'.",
        ),
    ] = Undecided.PASS,
    store: StoreOption = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a comment for a pull request.")
    ] = None,
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw a figure of win rates.")
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the verdicts as JUnit XML.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the page of the (first) store.")
    ] = None,
    history: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Keep the candidate's values, on all instances, as those of this commit for "
            "`polarbear history DIR`.",
        ),
    ] = None,
    workers: Workers = None,
    seed: Seed = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Decide whether a change is worse than the baseline.

    The candidate is compared with the baseline at every time within the budget.
    A CONFIG is a configuration in YAML with both versions; there may be one per suite.
    Runs are made in batches until the verdict is shown. Stored runs of unchanged code are used
    again, and both versions get the same seeds unless CONFIG has `seeds: separate`.
    Exit code 0: not worse, or no regression shown. 4: worse. 3: undecided, with --undecided fail.
    1: an error that you can fix.
    """
    message = "every finished run is stored, and the same command continues"
    with output.interruptible(message), output.announcing_compilation():
        gated = polarbear.gate(
            *configs,
            baseline=baseline,
            candidate=candidate,
            tolerance=tolerance,
            alpha=alpha,
            store=store,
            instances=instances,
            minutes=minutes,
            failures=failures,
            undecided=undecided,
            workers=workers,
            seed=seed,
            markdown=markdown,
            svg=svg,
            junit=junit,
            html=html,
            history=history,
            listener=Screen(verbose),
        )
    output.result(gated, as_json, _show_gated)
    output.wrote(*gated.written)
    if gated.verdict == "worse":
        raise typer.Exit(WORSE)
    if not gated.passes:
        raise typer.Exit(UNDECIDED)


def _show_gated(gated: "Gated") -> None:
    is_failure = not gated.verdict.is_shown and not gated.passes
    output.show((gated.verdict.value if is_failure else gated.verdict.words).upper())
    output.show(*gated.sentences)
    output.show(gated.cost)
