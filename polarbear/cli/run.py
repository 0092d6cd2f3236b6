"""`polarbear run`: run every algorithm on the same instances and keep the trajectories."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polarbear.cli import common
from polarbear.cli.screen import Screen
from polarbear.wording import counted, duration, noun, timed

if TYPE_CHECKING:
    from polarbear.api.running import Ran


def run(
    config: common.ConfigFile,
    store: common.StoreOption = None,
    instances: Annotated[
        int | None, typer.Option(min=1, help="How many instances, not the configuration's count.")
    ] = None,
    workers: common.WorkersOption = None,
    seed: common.SeedOption = None,
    engine: common.EngineOption = None,
    scheduler: common.SchedulerOption = None,
    retry_failed: common.RetryFailed = False,
    rerun: common.Rerun = None,
    keep: common.Keep = None,
    mix_hosts: common.MixHosts = False,
    repeat: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Make a stored run of this algorithm again; nothing is written."
        ),
    ] = None,
    on: Annotated[
        str | None, typer.Option(metavar="ID", help="With --repeat: the run on this instance.")
    ] = None,
    json: common.Json = False,
    quiet: common.Quiet = False,
    verbose: common.Verbose = False,
    debug: common.Debug = False,
) -> None:
    """Run all algorithms on the same instances.

    What is stored already is not run again; more algorithms, instances or budget are added to it.
    """
    if repeat is not None or on is not None:
        _repeat(config, store, repeat, on, json)
        return
    from polarbear.api.running import Ran
    from polarbear.api.running import run as run_

    with common.interruptible("every finished run is stored, and the same command goes on"):
        done = run_(
            config,
            store,
            instances=instances,
            retry_failed=retry_failed,
            rerun=rerun or (),
            keep=keep or (),
            workers=workers,
            seed=seed,
            engine=engine,
            scheduler=scheduler,
            mix_hosts=mix_hosts,
            listener=Screen(quiet, verbose),
        ).result
    assert isinstance(done, Ran)
    if json:
        common.print_json(done)
    else:
        _show(done)


def _repeat(
    config: Path, store: Path | None, algorithm: str | None, instance: str | None, json: bool
) -> None:
    from polarbear.api.repeating import repeat
    from polarbear.errors import ReportError

    if algorithm is None or instance is None:
        raise ReportError("one run is repeated by --repeat NAME --on ID, both of them")
    with common.interruptible("nothing was stored"):
        told = repeat(config, algorithm, instance, store)
    if json:
        common.print_json(told)
        return
    best = "found nothing" if told.best is None else f"best {told.best:.6g}"
    common.show(
        f"{told.algorithm} on {told.instance}, seed {told.seed}: {best} after "
        f"{timed(told.reached, told.axis)}, {counted(len(told.t), 'improvement')}, {told.status}",
    )
    if told.message:
        common.show(told.message)
    if told.differs_from is None:
        common.show("the same run as the one in the store, to the last improvement")
    else:
        common.show(
            f"another run than the one in the store, from {timed(told.differs_from, told.axis)} on",
        )


def _show(told: Ran) -> None:
    there = f", {told.present} {noun(told.present, 'was', 'were')} there already"
    common.show(
        f"{told.executed} {noun(told.executed, 'run')} in {duration(told.seconds)}"
        f"{there if told.present else ''}"
        f"; {told.instances} {noun(told.instances, 'instance')} in {told.store}",
    )
    first = {entry.algorithm: entry.first_at_end for entry in told.algorithms}
    common.show(common.algorithms_table(told.algorithms, told.axis, told.budget, first))
    for line in common.failure_lines(told.failures):
        common.show(line)
