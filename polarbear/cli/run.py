"""`polarbear run`: run every algorithm on the same instances and keep the trajectories."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from polarbear.cli import common
from polarbear.wording import duration, noun

if TYPE_CHECKING:
    from polarbear.driver.collected import Collected


def run(
    config: common.ConfigFile,
    store: common.StoreOption = None,
    instances: Annotated[
        int | None, typer.Option(min=1, help="How many instances, not the configuration's count.")
    ] = None,
    workers: common.WorkersOption = None,
    seed: common.SeedOption = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run again what crashed or was killed.")
    ] = False,
    mix_hosts: common.MixHosts = False,
    json: common.Json = False,
    quiet: common.Quiet = False,
    verbose: common.Verbose = False,
    debug: common.Debug = False,
) -> None:
    """Run all algorithms on the same instances.

    What is stored already is not run again; more algorithms, instances or budget are added to it.
    """
    from polarbear.cli.progress import RunProgress
    from polarbear.config import load
    from polarbear.driver import collect
    from polarbear.driver.collected import collected
    from polarbear.store import Store

    settings = load(config, seed, workers)
    collect.prepare(settings)
    chosen = collect.chosen_instances(settings, instances)
    folder = common.store_of(config, store)
    begun = time.monotonic()
    with common.interruptible("every finished run is stored, and the same command goes on"):
        target = Store.open_or_create(folder, settings.plain())
        with target.writing():
            target.adopt(settings.plain(), settings.instances.uses_grid)
            collect.check_hosts(settings, target, mix_hosts)
            target.add_instances(chosen, settings.instances.suite)
            stored = collect.stored_runs(target)
            plan = collect.plan(settings, stored, chosen, retry_failed=retry_failed)
            common.warn_of_busy_cores(settings, quiet)
            if verbose:
                common.note(
                    f"{len(plan.tasks)} {noun(len(plan.tasks), 'run')} to do, "
                    f"{plan.present} in {folder} already, "
                    f"{collect.workers_of(settings)} at once"
                )
            with (
                RunProgress(len(plan.tasks), quiet) as progress,
                collect.pool_of(settings) as pool,
            ):
                collect.collect(
                    pool, target, plan.tasks, lambda o: progress.advance(o.status.failed)
                )
    seconds = time.monotonic() - begun
    told = collected(target, settings.budget, len(plan.tasks), plan.present, seconds)
    if json:
        common.print_json(told)
    else:
        _show(told)


def _show(told: Collected) -> None:
    console = common.console()
    there = f", {told.present} {noun(told.present, 'was', 'were')} there already"
    console.print(
        f"{told.executed} {noun(told.executed, 'run')} in {duration(told.seconds)}"
        f"{there if told.present else ''}"
        f"; {told.instances} {noun(told.instances, 'instance')} in {told.store}",
        markup=False,
    )
    first = {entry.algorithm: entry.first_at_end for entry in told.algorithms}
    console.print(common.algorithms_table(told.algorithms, told.axis, told.budget, first))
    for line in common.failure_lines(told.failures):
        console.print(line, markup=False)
