"""`polarbear check`: a short trial of a configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from polarbear.cli import common
from polarbear.cli.tables import Table
from polarbear.wording import counted, duration, short, size

if TYPE_CHECKING:
    from polarbear.api.checking import Checked, Forecast

FAILED = 1  # exit code if an algorithm or a problem fails


def check(
    config: common.ConfigFile,
    workers: common.WorkersOption = None,
    seed: common.SeedOption = None,
    engine: common.EngineOption = None,
    scheduler: common.SchedulerOption = None,
    json: common.Json = False,
    debug: common.Debug = False,
) -> None:
    """Try a configuration in a second or two; nothing is stored.

    One problem is built, and each algorithm runs on it for a few evaluations. Exit code 1: an
    algorithm fails, or no problem can be built.
    """
    from polarbear.api.checking import check as check_

    with common.interruptible("nothing was stored"):
        found = check_(config, workers=workers, seed=seed, engine=engine, scheduler=scheduler)
    if json:
        common.print_json(found)
    else:
        _show(found)
    if not found.ok:
        raise typer.Exit(FAILED)


def _show(found: Checked) -> None:
    kind = f"{found.kind}, dimension {found.dimension}" if found.dimension else found.kind
    common.show(f"tried on {found.instance} ({kind}), nothing stored")
    made = Table(
        "algorithm", "trial", "evaluations#", "first value#", "best value#", "s per evaluation#"
    )
    for one in found.algorithms:
        each = one.seconds_per_evaluation
        made.add_row(
            one.algorithm,
            one.status,
            f"{one.evaluations}",
            "" if one.first is None else short(one.first),
            "" if one.best is None else short(one.best),
            "" if each is None else f"{each:.2g}",
        )
    if found.algorithms:
        common.show(made)
    for line in found.errors:
        common.show(f"error: {line}")
    for line in found.warnings:
        common.show(f"warning: {line}")
    if found.ok:
        common.show(_forecast(found.forecast))


def _forecast(ahead: Forecast) -> str:
    runs = f"{counted(ahead.runs, 'run')} on {counted(ahead.instances, 'instance')}"
    takes = "duration unknown" if ahead.seconds is None else f"about {duration(ahead.seconds)}"
    return (
        f"{runs} to the end of the budget, {ahead.workers} at once: {takes}, at most "
        f"{size(ahead.bytes)} on disk; a race may need fewer or more"
    )
