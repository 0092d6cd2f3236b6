"""`polarbear run`: run all algorithms on the same instances."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polarbear.cli import common
from polarbear.cli.screen import Screen
from polarbear.errors import ReportError
from polarbear.wording import counted, duration, timed

if TYPE_CHECKING:
    from polarbear.api.running import Collected


def run(
    config: common.ConfigFile,
    store: common.StoreOption = None,
    instances: Annotated[
        int | None, typer.Option(min=1, help="Number of instances, instead of the configuration's.")
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
            metavar="NAME", help="Repeat a stored run of this algorithm; nothing is written."
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

    Stored runs are not repeated; more algorithms, instances or budget are added to them.
    """
    if repeat is not None or on is not None:
        _repeat(config, store, repeat, on, json)
        return
    from polarbear.api.running import Collected
    from polarbear.api.running import run as run_

    with common.interruptible("every finished run is stored, and the same command continues"):
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
    assert isinstance(done, Collected)
    if json:
        common.print_json(done)
    else:
        _show(done)


def _repeat(
    config: Path, store: Path | None, algorithm: str | None, instance: str | None, json: bool
) -> None:
    from polarbear.api.running import repeat

    if algorithm is None or instance is None:
        raise ReportError("--repeat NAME and --on ID go together")
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
        common.show("identical to the stored run")
    else:
        common.show(
            f"different from the stored run, from {timed(told.differs_from, told.axis)} on",
        )


def _show(done: Collected) -> None:
    present = f", {done.present} present before" if done.present else ""
    common.show(
        f"{counted(done.executed, 'run')} in {duration(done.seconds)}{present}; "
        f"{counted(done.instances, 'instance')} in {done.store}",
    )
    first = {entry.algorithm: entry.first_at_end for entry in done.algorithms}
    common.show(common.algorithms_table(done.algorithms, done.axis, done.budget, first))
    for line in common.failure_lines(done.failures):
        common.show(line)
