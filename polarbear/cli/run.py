"""`polarbear run`: run every algorithm on the same instances and keep the trajectories."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polarbear.cli import common

if TYPE_CHECKING:
    from polarbear.config import Config
    from polarbear.store import Store


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
                    f"{len(plan.tasks)} runs to do, {plan.present} in {folder} already, "
                    f"{collect.workers_of(settings)} at once"
                )
            with (
                RunProgress(len(plan.tasks), quiet) as progress,
                collect.pool_of(settings) as pool,
            ):
                collect.collect(
                    pool, target, plan.tasks, lambda o: progress.advance(o.status.failed)
                )
    facts = _facts(target, settings, len(plan.tasks), plan.present, time.monotonic() - begun)
    if json:
        common.print_json(facts)
    else:
        _show(facts)


def _facts(
    store: Store, settings: Config, executed: int, present: int, seconds: float
) -> dict[str, Any]:
    from polarbear.store import summary

    algorithms = summary.by_algorithm(store)
    first = summary.first_at(store, settings.budget.limit)
    for entry in algorithms:
        entry["first_at_end"] = first.get(entry["algorithm"])
    return {
        "store": str(store.path),
        "axis": settings.budget.axis,
        "budget": settings.budget.limit,
        "instances": len(store.instances()),
        "executed": executed,
        "present": present,
        "failed_runs": sum(entry["failed"] for entry in algorithms),
        "evaluations": {entry["algorithm"]: entry["evaluations"] for entry in algorithms},
        "algorithms": algorithms,
        "failures": summary.failures(store),
        "seconds": round(seconds, 3),
    }


def _show(facts: dict[str, Any]) -> None:
    console = common.console()
    console.print(
        f"{facts['executed']} runs in {common.human_seconds(facts['seconds'])}"
        + (f", {facts['present']} were there already" if facts["present"] else "")
        + f"; {facts['instances']} instances in {facts['store']}",
        markup=False,
    )
    console.print(common.algorithms_table(facts["algorithms"], facts["axis"], facts["budget"]))
    for line in common.failure_lines(facts["failures"]):
        console.print(line, markup=False)
