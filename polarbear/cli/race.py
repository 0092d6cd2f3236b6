"""`polarbear race`, `run` and `check`: the commands that run algorithms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from typer import Option

from polarbear import api
from polarbear.cli import command_options as common
from polarbear.cli import output
from polarbear.cli.race_summary import (
    algorithms_table,
    failure_lines,
    next_commands,
    show_standings,
    speculative_words,
)
from polarbear.cli.screen import Screen
from polarbear.errors import ReportError
from polarbear.wording import P_BEST, counted, duration, short, size, timed

if TYPE_CHECKING:
    from polarbear.api.experiments import Checked, Collected, Raced
    from polarbear.api.store_details import Repeated

AT_LIMIT = 3  # exit code of a race that stopped with pairs unresolved
FAILED = 1  # exit code of a check in which an algorithm or a problem fails


def race(
    config: common.ConfigFile,
    store: common.StoreOption = None,
    add: list[str] | None = Option(
        None,
        metavar="NAME",
        help="Enter only this new algorithm of CONFIG; by default all new ones enter.",
    ),
    redecide: bool = Option(
        False, "--redecide", help="If CONFIG has changed: decide again from the stored runs."
    ),
    rerun: common.Rerun = None,
    keep: common.Keep = None,
    fresh: bool = Option(False, "--fresh", help="Begin another race in the store, using its runs."),
    for_: str | None = Option(
        None,
        "--for",
        metavar="PREFERENCE",
        help="Race only until the choice for this preference is good enough; see `select`.",
    ),
    regret: float = Option(0.01, help="With --for: stop below this expected regret."),
    page: Path | None = Option(
        None,
        metavar="FILE",
        help="Write the page of the report after each round; an open page follows the race.",
    ),
    no_check: bool = Option(False, "--no-check", help="Skip the short trial before a first race."),
    no_early: bool = Option(False, "--no-early", help="Make no speculative runs."),
    workers: common.Workers = None,
    seed: common.Seed = None,
    engine: common.Engine = None,
    scheduler: common.Scheduler = None,
    retry_failed: common.RetryFailed = False,
    mix_hosts: common.MixHosts = False,
    json: common.Json = False,
    verbose: common.Verbose = False,
) -> None:
    """Race algorithms until it is settled which of them belong in the anytime Pareto set.

    A race continues where it stopped; algorithms that are new in CONFIG enter on stored instances.
    If anything else has changed, the changes and the cost of --redecide are printed.
    Exit code 1: an error that you can fix, for example an algorithm that fails too often.
    Exit code 3: a limit was reached with pairs unresolved; the result is valid and printed.
    """
    message = "the same command continues from the last round; finished runs are stored"
    with output.interruptible(message), output.announcing_compilation():
        done = api.experiments.race(
            config,
            store,
            add=add or (),
            redecide=redecide,
            rerun=rerun or (),
            keep=keep or (),
            fresh=fresh,
            preference=for_,
            regret=regret,
            workers=workers,
            seed=seed,
            engine=engine,
            scheduler=scheduler,
            mix_hosts=mix_hosts,
            retry_failed=retry_failed,
            check=False if no_check else None,
            early=0 if no_early else None,
            page=page,
            listener=Screen(verbose),
        ).result
    assert isinstance(done, api.experiments.Raced)
    output.result(done, json, lambda raced: _show_raced(raced, verbose))
    if done.at_limit:
        raise typer.Exit(AT_LIMIT)


def _show_raced(done: Raced, verbose: bool) -> None:
    facts = done.standings
    show_standings(facts, verbose)
    output.show_lines(failure_lines(done.failures))
    if done.reached is not None:
        now = done.reached
        output.show(
            f"for '{now.preference}': {now.choice}, {P_BEST} = {now.p2bb:.2f}, "
            f"expected regret {now.expected_regret:.2g}",
        )
    if done.extra_runs and verbose:
        output.show(speculative_words(done.extra_runs))
    output.show(f"Stopped because {done.stopped_because}; store {facts.store}.")
    output.show(next_commands(facts))


def run(
    config: common.ConfigFile,
    store: common.StoreOption = None,
    instances: int | None = Option(
        None, min=1, help="Number of instances, instead of the configuration's."
    ),
    workers: common.Workers = None,
    seed: common.Seed = None,
    engine: common.Engine = None,
    scheduler: common.Scheduler = None,
    retry_failed: common.RetryFailed = False,
    rerun: common.Rerun = None,
    keep: common.Keep = None,
    mix_hosts: common.MixHosts = False,
    repeat: str | None = Option(
        None, metavar="NAME", help="Repeat a stored run of this algorithm; nothing is written."
    ),
    on: str | None = Option(None, metavar="ID", help="With --repeat: the run on this instance."),
    json: common.Json = False,
    verbose: common.Verbose = False,
) -> None:
    """Run all algorithms on the same instances.

    Stored runs are not repeated; more algorithms, instances or budget are added to them.
    """
    if repeat is not None or on is not None:
        if repeat is None or on is None:
            raise ReportError("--repeat NAME and --on ID go together")
        with output.interruptible("nothing was stored"):
            repeated = api.store_details.repeat(config, repeat, on, store)
        output.result(repeated, json, _show_repeated)
        return
    with output.interruptible("every finished run is stored, and the same command continues"):
        done = api.experiments.run(
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
    assert isinstance(done, api.experiments.Collected)
    output.result(done, json, _show_collected)


def _show_repeated(done: Repeated) -> None:
    best = "found nothing" if done.best is None else f"best {done.best:.6g}"
    output.show(
        f"{done.algorithm} on {done.instance}, seed {done.seed}: {best} after "
        f"{timed(done.reached, done.axis)}, {counted(len(done.t), 'improvement')}, {done.status}",
    )
    if done.message:
        output.show(done.message)
    if done.differs_from is None:
        output.show("identical to the stored run")
    else:
        output.show(f"different from the stored run, from {timed(done.differs_from, done.axis)} on")


def _show_collected(done: Collected) -> None:
    present = f", {done.present} present before" if done.present else ""
    output.show(
        f"{counted(done.executed, 'run')} in {duration(done.seconds)}{present}; "
        f"{counted(done.instances, 'instance')} in {done.store}",
    )
    first = {entry.algorithm: entry.first_at_end for entry in done.algorithms}
    output.show(algorithms_table(done.algorithms, done.axis, done.budget, first))
    output.show_lines(failure_lines(done.failures))


def check(
    config: common.ConfigFile,
    workers: common.Workers = None,
    seed: common.Seed = None,
    engine: common.Engine = None,
    scheduler: common.Scheduler = None,
    json: common.Json = False,
) -> None:
    """Try a configuration in a second or two; nothing is stored.

    One problem is built, and each algorithm runs on it for a few evaluations. Exit code 1: an
    algorithm fails, or no problem can be built.
    """
    with output.interruptible("nothing was stored"):
        found = api.experiments.check(
            config, workers=workers, seed=seed, engine=engine, scheduler=scheduler
        )
    output.result(found, json, _show_checked)
    if not found.ok:
        raise typer.Exit(FAILED)


def _show_checked(found: Checked) -> None:
    kind = f"{found.kind}, dimension {found.dimension}" if found.dimension else found.kind
    output.show(f"tried on {found.instance} ({kind}), nothing stored")
    values = ("first value#", "best value#", "s per evaluation#")
    made = output.Table("algorithm", "trial", "evaluations#", *values)
    for one in found.algorithms:
        each = one.seconds_per_evaluation
        cells = ("" if value is None else short(value) for value in (one.first, one.best))
        seconds = "" if each is None else f"{each:.2g}"
        made.add_row(one.algorithm, one.status, f"{one.evaluations}", *cells, seconds)
    if found.algorithms:
        output.show(made)
    output.show_lines(f"error: {line}" for line in found.errors)
    output.show_lines(f"warning: {line}" for line in found.warnings)
    if found.ok:
        ahead = found.forecast
        takes = "duration unknown" if ahead.seconds is None else f"about {duration(ahead.seconds)}"
        output.show(
            f"{counted(ahead.runs, 'run')} on {counted(ahead.instances, 'instance')} to the end of "
            f"the budget, {ahead.workers} at once: {takes}, at most {size(ahead.bytes)} on disk; a "
            "race may need fewer or more"
        )
