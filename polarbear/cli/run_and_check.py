"""`polarbear run` and `check`: runs without a race."""

from typing import TYPE_CHECKING, Annotated

import typer

import polarbear
from polarbear.cli import completion, output
from polarbear.cli.application import app
from polarbear.cli.output import Screen
from polarbear.cli.parameters import (
    AsJson,
    ConfigFile,
    Debug,
    Engine,
    Keep,
    MixHosts,
    Quiet,
    Rerun,
    RetryFailed,
    Scheduler,
    Seed,
    StoreOption,
    Verbose,
    Workers,
)
from polarbear.cli.runs_table import show_runs
from polarbear.errors import ReportError
from polarbear.wording import counted, duration, short, size, timed

if TYPE_CHECKING:
    from polarbear.api.plain_runs import Checked, Collected, ContractCheck, Repeated

FAILED = 1  # the exit code of a check in which an algorithm or a problem fails


@app.command()
def run(
    config: ConfigFile,
    store: StoreOption = None,
    instances: Annotated[
        int | None,
        typer.Option(min=1, help="The number of instances, instead of the configuration's."),
    ] = None,
    workers: Workers = None,
    seed: Seed = None,
    engine: Engine = None,
    scheduler: Scheduler = None,
    retry_failed: RetryFailed = False,
    rerun: Rerun = None,
    keep: Keep = None,
    mix_hosts: MixHosts = False,
    repeat: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            autocompletion=completion.algorithms,
            help="Repeat a stored run of this algorithm; nothing is written.",
        ),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(metavar="ID", help="With --repeat: repeat the run on this instance."),
    ] = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Run all algorithms on the same instances.

    Stored runs are not repeated; more algorithms, instances or budget are added to them.
    """
    if (repeat is None) != (on is None):
        raise ReportError("--repeat NAME and --on ID go together")
    if repeat is not None and on is not None:
        from polarbear.api.plain_runs import repeat as repeat_run

        with output.interruptible("nothing was stored"):
            repeated = repeat_run(config, repeat, on, store)
        output.result(repeated, as_json, _show_repeated)
        return
    with output.interruptible("every finished run is stored, and the same command continues"):
        collected: Collected = polarbear.run(
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
            listener=Screen(verbose),
        ).result
    output.result(collected, as_json, _show_collected)


def _show_repeated(repeated: "Repeated") -> None:
    best = "found nothing" if repeated.best is None else f"best {repeated.best:.6g}"
    length = timed(repeated.reached, repeated.axis)
    improvements = counted(len(repeated.t), "improvement")
    output.show(
        f"{repeated.algorithm} on {repeated.instance}, seed {repeated.seed}: {best} after "
        f"{length}, {improvements}, {repeated.status}"
    )
    if repeated.message:
        output.show(repeated.message)
    if repeated.differs_from is None:
        output.show("identical to the stored run")
    else:
        first_difference = timed(repeated.differs_from, repeated.axis)
        output.show(f"different from the stored run, from {first_difference} on")


def _show_collected(collected: "Collected") -> None:
    present = f", {collected.present} present before" if collected.present else ""
    output.show(
        f"{counted(collected.executed, 'run')} in {duration(collected.seconds)}{present}; "
        f"{counted(collected.instances, 'instance')} in {collected.store}",
    )
    show_runs(collected)


@app.command()
def check(
    config: ConfigFile,
    contract: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            autocompletion=completion.algorithms,
            help="Find out whether this algorithm plans for its budget, by whole runs with "
            "several budgets.",
        ),
    ] = None,
    workers: Workers = None,
    seed: Seed = None,
    engine: Engine = None,
    scheduler: Scheduler = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Try a configuration in a second or two; nothing is stored.

    One problem is built, and each algorithm runs on it for a few evaluations. Exit code 1: an
    algorithm fails, or no problem can be built.
    """
    if contract is not None:
        with output.interruptible("nothing was stored"):
            contract_check = polarbear.check_contract(
                config, contract, workers=workers, seed=seed, engine=engine, scheduler=scheduler
            )
        output.result(contract_check, as_json, _show_contract_check)
        return
    with output.interruptible("nothing was stored"):
        checked = polarbear.check(
            config, workers=workers, seed=seed, engine=engine, scheduler=scheduler
        )
    output.result(checked, as_json, _show_checked)
    if not checked.ok:
        raise typer.Exit(FAILED)


def _show_contract_check(checked: "ContractCheck") -> None:
    output.show(f"{checked.one_line()}, nothing stored")
    rows = [
        [
            timed(row.budget, checked.axis),
            str(row.problems),
            str(row.same) if checked.repeats_itself else "-",
            str(row.better),
            str(row.worse),
            str(row.ties),
            short(row.p),
        ]
        for row in checked.budgets
    ]
    titles = ["problems#", "same run#", "better#", "worse#", "ties#", "p (sign test)#"]
    whole = timed(checked.budget, checked.axis)
    output.show_table([f"given, against {whole}", *titles], rows)
    output.show(f"recommendation: {checked.recommendation}")


def _show_checked(checked: "Checked") -> None:
    kind = f"{checked.kind}, dimension {checked.dimension}" if checked.dimension else checked.kind
    output.show(f"tried on {checked.instance} ({kind}), nothing stored")
    rows = []
    for trial in checked.algorithms:
        seconds = trial.seconds_per_evaluation
        rows.append(
            [
                trial.algorithm,
                trial.status,
                f"{trial.evaluations}",
                "" if trial.first is None else short(trial.first),
                "" if trial.best is None else short(trial.best),
                "" if seconds is None else f"{seconds:.2g}",
            ]
        )
    if rows:
        titles = ["evaluations#", "first value#", "best value#", "s per evaluation#"]
        output.show_table(["algorithm", "trial", *titles], rows)
    output.show(*(space.words for space in checked.spaces))
    output.show(*(f"error: {line}" for line in checked.errors))
    output.show(*(f"warning: {line}" for line in checked.warnings))
    output.show(*(f"note: {line}" for line in checked.notes))
    if checked.ok:
        output.show(_forecast_of(checked))


def _forecast_of(checked: "Checked") -> str:
    """The cost of running all algorithms on all instances, in words."""
    cost = checked.forecast
    runs = counted(cost.runs, "run")
    instances = counted(cost.instances, "instance")
    takes = "duration unknown" if cost.seconds is None else f"about {duration(cost.seconds)}"
    return (
        f"{runs} on {instances} to the end of the budget, {cost.workers} at once: {takes}, at most "
        f"{size(cost.bytes)} on disk; a race may need fewer or more"
    )
