"""`polarbear gate`: is a change worse than the baseline?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click import option

from polarbear import api
from polarbear.cli import command_options as common
from polarbear.cli import output
from polarbear.cli.command_options import AT_LEAST_1, path
from polarbear.cli.output import Screen

if TYPE_CHECKING:
    from polarbear.api.gating import Gated

WORSE = 1
UNDECIDED = 3


@common.command
@click.argument("configs", metavar="CONFIG...", nargs=-1, required=True, type=Path)
@option("--baseline", required=True, metavar="NAME", help="An algorithm, or the group NAME/x.")
@option("--candidate", required=True, metavar="NAME", help="An algorithm, or the group NAME/x.")
@option("--tolerance", default=0.05, help="A win rate of 0.5 less this is tolerated.")
@option("--alpha", default=0.95, help="Level at which a verdict is shown.")
@option("--instances", type=AT_LEAST_1, help="At most; by default race.limits.instances, or 100.")
@option("--failures", default="worse", help="A failed run of the candidate alone: worse, ranked.")
@option("--undecided", metavar="pass|fail", help="Exit code 0 or 1 if undecided, instead of 3.")
@common.store_option
@path("--markdown", "FILE", "A comment for a pull request.")
@path("--svg", "FILE", "A figure of win rates.")
@path("--junit", "FILE", "The verdicts as JUnit XML.")
@path("--html", "FILE", "The page of the (first) store.")
@common.workers
@common.seed
@common.json
@common.verbose
def gate(configs: tuple[Path, ...], json: bool, verbose: bool, **options: Any) -> None:
    """Decide whether a change is worse than the baseline.

    The candidate is compared with the baseline at every time within the budget.
    A CONFIG is a configuration in YAML with both versions; there may be one per suite.
    Runs are made in batches until the verdict is shown. Stored runs of unchanged code are used
    again, and both versions get the same seeds unless CONFIG has `seeds: separate`.
    Exit code 0: identical, no worse, or better. 1: worse. 3: undecided at the limit of instances.
    """
    message = "every finished run is stored, and the same command continues"
    with output.interruptible(message), output.announcing_compilation():
        done = api.gating.gate(*configs, listener=Screen(verbose), **options)
    output.result(done, json, _show)
    output.wrote(*done.written)
    undecided_code = {"pass": 0, "fail": WORSE}.get(options["undecided"], UNDECIDED)
    sys.exit({"worse": WORSE, "undecided": undecided_code}.get(done.verdict.value, 0))


def _show(done: Gated) -> None:
    output.show(done.verdict.value.upper())
    output.show(*done.sentences)
    output.show(done.cost)
