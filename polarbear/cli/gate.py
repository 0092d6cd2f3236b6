"""`polarbear gate`: is a change worse than the baseline?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from typer import Argument, Option

from polarbear import api
from polarbear.cli import command_options as common
from polarbear.cli import output
from polarbear.cli.screen import Screen

if TYPE_CHECKING:
    from polarbear.api.gating import Gated

WORSE = 1
UNDECIDED = 3


def gate(
    configs: list[Path] = Argument(
        ..., metavar="CONFIG...", help="Configurations in YAML with both versions; one per suite."
    ),
    baseline: str = Option(..., metavar="NAME", help="An algorithm, or the group NAME/x."),
    candidate: str = Option(..., metavar="NAME", help="An algorithm, or the group NAME/x."),
    tolerance: float = Option(0.05, help="A win rate of 0.5 less this is tolerated."),
    alpha: float = Option(0.95, help="Level at which a verdict is shown."),
    instances: int | None = Option(
        None, min=1, help="Use at most this many; by default race.limits.instances, or 100."
    ),
    failures: str = Option(
        "worse", metavar="worse|ranked", help="What a failed run of the candidate alone means."
    ),
    undecided: str | None = Option(
        None, metavar="pass|fail", help="Exit code 0 or 1 if undecided, instead of 3."
    ),
    store: common.StoreOption = None,
    markdown: Path | None = Option(None, metavar="FILE", help="A comment for a pull request."),
    svg: Path | None = Option(None, metavar="FILE", help="A figure of win rates."),
    junit: Path | None = Option(None, metavar="FILE", help="The verdicts as JUnit XML."),
    html: Path | None = Option(None, metavar="FILE", help="The page of the (first) store."),
    workers: common.Workers = None,
    seed: common.Seed = None,
    json: common.Json = False,
    verbose: common.Verbose = False,
) -> None:
    """Check a change: is the candidate worse than the baseline, at any time within the budget?

    Runs are made in batches until the verdict is shown. Stored runs of unchanged code are used
    again, and both versions get the same seeds unless CONFIG has `seeds: separate`.
    Exit code 0: identical, no worse, or better. 1: worse. 3: undecided at the limit of instances.
    """
    message = "every finished run is stored, and the same command continues"
    with output.interruptible(message), output.announcing_compilation():
        done = api.gating.gate(
            *configs,
            baseline=baseline,
            candidate=candidate,
            tolerance=tolerance,
            alpha=alpha,
            store=store,
            instances=instances,
            failures=failures,
            undecided=undecided,
            workers=workers,
            seed=seed,
            markdown=markdown,
            svg=svg,
            junit=junit,
            html=html,
            listener=Screen(verbose),
        )
    output.result(done, json, _show)
    output.wrote(*done.written)
    undecided_code = {"pass": 0, "fail": WORSE}.get(undecided or "", UNDECIDED)
    raise typer.Exit({"worse": WORSE, "undecided": undecided_code}.get(done.verdict.value, 0))


def _show(done: Gated) -> None:
    output.show(done.verdict.value.upper())
    output.show_lines(done.sentences)
    output.show(done.cost)
