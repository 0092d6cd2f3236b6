"""`polarbear race`, `run` and `check`: the commands that run algorithms."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from click import option

from polarbear import api
from polarbear.cli import command_options as common
from polarbear.cli import output, race_summary
from polarbear.cli.command_options import AT_LEAST_1, flag, several
from polarbear.cli.output import Screen
from polarbear.errors import ReportError
from polarbear.wording import P_BEST, counted, duration, short, size, timed

if TYPE_CHECKING:
    from polarbear.api.experiments import Checked, Collected, Raced
    from polarbear.api.store_details import Repeated

AT_LIMIT = 3  # exit code of a race that stopped with pairs unresolved
FAILED = 1  # exit code of a check in which an algorithm or a problem fails


@common.command
@common.config_file
@common.store_option
@several("--add", "Enter only this new algorithm of CONFIG; by default all new ones enter.")
@flag("--redecide", "If CONFIG has changed: decide again from the stored runs.")
@common.rerun
@common.keep
@flag("--fresh", "Begin another race in the store, using its runs.")
@option("--for", "preference", help="End when the choice for this preference is good enough.")
@option("--regret", default=0.01, help="With --for: stop below this expected regret.")
@common.path("--page", "FILE", "Write the report's page after each round; an open page follows.")
@flag("--no-check", "Skip the short trial before a first race.")
@flag("--no-early", "Make no speculative runs.")
@common.execution
@common.retry_failed
@common.mix_hosts
@common.json
@common.verbose
def race(no_check: bool, no_early: bool, json: bool, verbose: bool, **options: Any) -> None:
    """Race algorithms until it is settled which of them belong in the anytime Pareto set.

    CONFIG is a configuration in YAML; `polarbear init` writes one.
    A race continues where it stopped; algorithms that are new in CONFIG enter on stored instances.
    If anything else has changed, the changes and the cost of --redecide are printed.
    Exit code 1: an error that you can fix, for example an algorithm that fails too often.
    Exit code 3: a limit was reached with pairs unresolved; the result is valid and printed.
    """
    message = "the same command continues from the last round; finished runs are stored"
    check, early = False if no_check else None, 0 if no_early else None
    with output.interruptible(message), output.announcing_compilation():
        done = api.experiments.race(
            **options, check=check, early=early, listener=Screen(verbose)
        ).result
    assert isinstance(done, api.experiments.Raced)
    output.result(done, json, lambda raced: _show_raced(raced, verbose))
    if done.at_limit:
        sys.exit(AT_LIMIT)


def _show_raced(done: Raced, verbose: bool) -> None:
    after = race_summary.failure_lines(done.failures)
    if done.reached is not None:
        now = done.reached
        after.append(
            f"for '{now.preference}': {now.choice}, {P_BEST} = {now.p2bb:.2f}, "
            f"expected regret {now.expected_regret:.2g}",
        )
    if done.extra_runs and verbose:
        after.append(race_summary.speculative_words(done.extra_runs))
    after.append(f"Stopped because {done.stopped_because}; store {done.standings.store}.")
    after += race_summary.next_commands(done.standings)
    race_summary.show_standings(done.standings, verbose, after)


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
            repeated = api.store_details.repeat(config, repeat, on, store)
        output.result(repeated, json, _show_repeated)
        return
    with output.interruptible("every finished run is stored, and the same command continues"):
        done = api.experiments.run(config, store, listener=Screen(verbose), **options).result
    assert isinstance(done, api.experiments.Collected)
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
    race_summary.show_algorithms(done.algorithms, done.axis, done.budget)
    output.show(*race_summary.failure_lines(done.failures))


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
        found = api.experiments.check(**options)
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
        ahead = found.forecast
        takes = "duration unknown" if ahead.seconds is None else f"about {duration(ahead.seconds)}"
        output.show(
            f"{counted(ahead.runs, 'run')} on {counted(ahead.instances, 'instance')} to the end of "
            f"the budget, {ahead.workers} at once: {takes}, at most {size(ahead.bytes)} on disk; a "
            "race may need fewer or more"
        )
