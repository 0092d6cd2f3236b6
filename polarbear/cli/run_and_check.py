"""`polarbear run` and `check`: runs without a race."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from click import option

from polarbear import api
from polarbear.cli import command_options as common
from polarbear.cli import output
from polarbear.cli.command_options import AT_LEAST_1
from polarbear.cli.contents import show_runs
from polarbear.cli.output import Screen
from polarbear.errors import ReportError
from polarbear.wording import counted, duration, short, size, timed

if TYPE_CHECKING:
    from polarbear.api.plain_runs import Checked, Collected, Repeated

FAILED = 1  # exit code of a check in which an algorithm or a problem fails


@common.command
@common.config_file
@common.store_option
@option("--instances", type=AT_LEAST_1, help="Their number, instead of the configuration's.")
@common.execution
@common.retry_failed
@common.rerun
@common.keep
@common.mix_hosts
@option("--repeat", metavar="NAME", help="Repeat a stored run of it; nothing is written.")
@option("--on", metavar="ID", help="With --repeat: the run on this instance.")
@common.json
@common.verbose
def run(
    config: Path,
    store: Path | None,
    repeat: str | None,
    on: str | None,
    json: bool,
    verbose: bool,
    **options: Any,
) -> None:
    """Run all algorithms on the same instances.

    Stored runs are not repeated; more algorithms, instances or budget are added to them.
    """
    if repeat is not None or on is not None:
        if repeat is None or on is None:
            raise ReportError("--repeat NAME and --on ID go together")
        with output.interruptible("nothing was stored"):
            repeated = api.plain_runs.repeat(config, repeat, on, store)
        output.result(repeated, json, _show_repeated)
        return
    with output.interruptible("every finished run is stored, and the same command continues"):
        done = api.plain_runs.run(config, store, listener=Screen(verbose), **options).result
    output.result(done, json, _show_collected)


def _show_repeated(done: Repeated) -> None:
    best = "found nothing" if done.best is None else f"best {done.best:.6g}"
    output.show(
        f"{done.algorithm} on {done.instance}, seed {done.seed}: {best} after "
        f"{timed(done.reached, done.axis)}, {counted(len(done.t), 'improvement')}, {done.status}",
        *([done.message] if done.message else []),
        "identical to the stored run"
        if done.differs_from is None
        else f"different from the stored run, from {timed(done.differs_from, done.axis)} on",
    )


def _show_collected(done: Collected) -> None:
    present = f", {done.present} present before" if done.present else ""
    output.show(
        f"{counted(done.executed, 'run')} in {duration(done.seconds)}{present}; "
        f"{counted(done.instances, 'instance')} in {done.store}",
    )
    show_runs(done)


@common.command
@common.config_file
@common.execution
@common.json
def check(json: bool, **options: Any) -> None:
    """Try a configuration in a second or two; nothing is stored.

    One problem is built, and each algorithm runs on it for a few evaluations. Exit code 1: an
    algorithm fails, or no problem can be built.
    """
    with output.interruptible("nothing was stored"):
        found = api.plain_runs.check(**options)
    output.result(found, json, _show_checked)
    if not found.ok:
        sys.exit(FAILED)


def _show_checked(found: Checked) -> None:
    kind = f"{found.kind}, dimension {found.dimension}" if found.dimension else found.kind
    output.show(f"tried on {found.instance} ({kind}), nothing stored")
    rows = []
    for one in found.algorithms:
        values = ["" if value is None else short(value) for value in (one.first, one.best)]
        each = one.seconds_per_evaluation
        seconds = "" if each is None else f"{each:.2g}"
        rows.append([one.algorithm, one.status, f"{one.evaluations}", *values, seconds])
    titles = ["evaluations#", "first value#", "best value#", "s per evaluation#"]
    if rows:
        output.show_table(["algorithm", "trial", *titles], rows)
    output.show(*(f"error: {line}" for line in found.errors))
    output.show(*(f"warning: {line}" for line in found.warnings))
    if found.ok:
        cost = found.forecast
        takes = "duration unknown" if cost.seconds is None else f"about {duration(cost.seconds)}"
        output.show(
            f"{counted(cost.runs, 'run')} on {counted(cost.instances, 'instance')} to the end of "
            f"the budget, {cost.workers} at once: {takes}, at most {size(cost.bytes)} on disk; a "
            "race may need fewer or more"
        )
