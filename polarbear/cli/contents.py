"""`polarbear status`, `show` and `watch`: the contents of a store."""

from __future__ import annotations

import time as clock
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer import Option

import polarbear
from polarbear import api
from polarbear.cli import command_options as common
from polarbear.cli import output
from polarbear.cli.output import Table
from polarbear.cli.race_summary import (
    algorithms_table,
    failure_lines,
    show_standings,
    speculative_words,
)
from polarbear.errors import ReportError
from polarbear.wording import (
    counted,
    duration,
    joined,
    noun,
    percent,
    percent_cell,
    short,
    size,
    time,
    timed,
    typed,
)

if TYPE_CHECKING:
    from polarbear.api.store_details import Duels, InstanceRuns
    from polarbear.api.store_status import StoreStatus

MAX_DUELS = 20  # in a table without --all
MAX_TIMES = 5  # in a table


def status(
    store: common.StoreFolder, race: common.RaceNumber = None, json: common.Json = False
) -> None:
    """Show the contents of a store.

    The state of its race, algorithms, runs, failures, machines, disk use, and the process that is
    writing to it; earlier races, and runs that were set aside. For a race that is running in
    another terminal: its progress by algorithm and by worker, and the remaining time.
    """
    output.result(api.store_status.status(store, race), json, _show_status)


def _show_status(found: StoreStatus) -> None:
    output.show_lines(_store_lines(found))
    if found.under_way is not None:
        output.show("")
        show_progress(found.under_way)
    if found.killed is not None:
        killed = found.killed
        ago = max(0.0, clock.time() - killed["written"])
        output.show(
            f"\na race was killed in round {killed['round']}, {duration(ago)} ago (process "
            f"{killed['pid']} on {killed['host']}); the same command continues it",
        )
    if found.race is not None:
        output.show("")
        show_standings(found.race, verbose=True)
        output.show("")
    output.show(algorithms_table(found.algorithms, found.axis, found.budget))
    output.show_lines(failure_lines(found.failures))
    output.show_lines(_more_lines(found))


def _store_lines(found: StoreStatus) -> Iterator[str]:
    yield (
        f"{found.store}: {counted(found.runs, 'run')} on {counted(found.instances, 'instance')} of "
        f"'{found.suite}', seed {found.seed}, {size(found.bytes)}"
    )
    yield (
        f"axis {found.axis}, {counted(found.times, 'time')} up to {short(found.budget)}; "
        f"created {found.created} by PolarBear {found.tool}"
    )
    if found.weights is not None:
        weighted = found.weights
        yield (
            f"{counted(weighted.instances, 'instance')} "
            f"{noun(weighted.instances, 'counts', 'count')} as {short(weighted.total)}: weights "
            f"from {short(weighted.least)} to {short(weighted.most)}"
        )
    if found.rankings:
        yield counted(found.rankings, "imported ranking")
    if found.posteriors:
        yield counted(found.posteriors, "posterior")
    if found.written_by:
        yield f"being written by {found.written_by}"


def _more_lines(found: StoreStatus) -> Iterator[str]:
    if len(found.hosts) > 1:
        hosts = ", ".join(f"{host.host} ({counted(host.runs, 'run')})" for host in found.hosts)
        yield f"runs of {len(found.hosts)} machines: {hosts}"
    if found.extra_runs:
        yield speculative_words(found.extra_runs)
    for past in found.races:
        yield (
            f"earlier race {past.race}: {counted(past.rounds, 'round')} on "
            f"{counted(past.instances, 'instance')}; Pareto set {joined(past.pareto_set)}; ended "
            f"{past.ended[:16]} because of {'; '.join(past.because)}"
        )
    for aside in found.set_aside:
        yield f"set aside: {counted(aside.runs, 'run')} of {aside.algorithm} ({aside.reason})"


def show_progress(now: Mapping[str, Any]) -> None:
    """Print the progress by algorithm and by worker of a race that is running, and the forecast."""
    output.show_lines(_progress_lines(now))
    if now["algorithms"]:
        table = Table("algorithm", "this round#", "runs so far#", "failed#", "mean duration#")
        for one in now["algorithms"]:
            asked = f"{one['round_done']} of {one['round_runs']}" if one["round_runs"] else ""
            mean = duration(one["seconds"] / one["runs"]) if one["runs"] else ""
            table.add_row(one["algorithm"], asked, str(one["runs"]), str(one["failed"]), mean)
        output.show(table)
    if now["workers"]:
        lasted = max(now["written"] - now["began"], 1e-9)
        table = Table("worker", "host", "runs#", "failed#", "busy#", "last run")
        for one in now["workers"]:
            busy = percent_cell(min(1.0, one["seconds"] / lasted))
            runs = str(one["runs"]), str(one["failed"])
            table.add_row(one["worker"], one["host"], *runs, busy, one["last"])
        output.show(table)


def _progress_lines(now: Mapping[str, Any]) -> list[str]:
    """The current activity, and the remaining time."""
    parts = [f"running for {duration(clock.time() - now['began'])}, {now['doing']}"]
    if now["round"]:
        failures = f", {now['failed']} failed" if now["failed"] else ""
        done = f"{now['done']} of {counted(now['runs'], 'run')}{failures}"
        parts.append(f"round {now['round']}: {done}")
    if now["early"]:
        parts.append(counted(now["early"], "speculative run"))
    if now["busy"] is not None:
        parts.append(f"workers busy for {percent(now['busy'])} of the time")
    left = []
    if now["left_in_round"] is not None:
        left.append(f"{duration(now['left_in_round'])} left in this round")
    least, most = now["to_go_at_least"], now["to_go_at_most"]
    if least is not None and most is not None:
        left.append(f"the race ends in {duration(least)} to {duration(most)}")
    elif least is not None:
        left.append(f"the race takes at least {duration(least)} more")
    return ["; ".join(parts), *([f"at this speed: {'; '.join(left)}"] if left else [])]


def show(
    store: common.StoreFolder,
    pair: str | None = Option(None, metavar="A,B", help="Show the winner on each instance."),
    at: float | None = Option(
        None, metavar="T", help="With --pair: at this time; by default the last."
    ),
    instance: str | None = Option(None, metavar="ID", help="Show every run on this instance."),
    png: Path | None = Option(None, metavar="FILE", help="Also draw it as PNG."),
    svg: Path | None = Option(None, metavar="FILE", help="Also draw it as SVG."),
    everything: bool = Option(False, "--all", help="Show all duels."),
    json: common.Json = False,
) -> None:
    """Show the instances on which one algorithm beat another, or all runs on one instance.

    Nothing is run or inferred.
    """
    if (pair is None) == (instance is None):
        raise ReportError("choose one: --pair A,B [--at T], or --instance ID")
    opened = polarbear.open(store)
    if pair is not None:
        duels = opened.duels(*common.two_names(pair, opened.algorithms), at, png=png, svg=svg)
        most = None if everything else MAX_DUELS
        output.result(duels, json, lambda found: _show_duels(found, most))
    elif at is not None:
        raise ReportError("--at goes with --pair; --instance shows all times")
    else:
        output.result(opened.instance(str(instance), png=png, svg=svg), json, _show_runs)
    output.wrote(png, svg)


def _show_duels(found: Duels, most: int | None) -> None:
    output.show(
        f"{found.a} against {found.b} at {timed(found.t, found.axis)}, on "
        f"{counted(len(found.duels), 'instance')}: {found.a} wins {found.wins_a}, {found.b} wins "
        f"{found.wins_b}, {found.ties} tied; {found.better}",
    )
    made = Table("instance", f"{found.a}#", f"{found.b}#", "winner", "by#")
    shown = found.duels[:most]
    for duel in shown:
        winner = "tie" if duel.winner is None else duel.winner
        margin = "" if duel.margin is None else short(duel.margin)
        made.add_row(duel.instance, _value(duel.a), _value(duel.b), winner, margin)
    output.show(made)
    if len(shown) < len(found.duels):
        rest = counted(len(found.duels) - len(shown), "more instance")
        output.show(f"and {rest}: --all shows them")


def _show_runs(found: InstanceRuns) -> None:
    import numpy as np

    options = ", ".join(f"{key} {value}" for key, value in found.spec.items())
    output.show(
        f"{found.instance}, number {found.index} of '{found.suite}': {options}; {found.better}",
    )
    places = np.unique(np.linspace(0, len(found.times) - 1, MAX_TIMES).round().astype(int)).tolist()
    times = [f"{short(found.times[i])}#" for i in places]
    made = Table(f"{found.axis} =", *times, "improvements#", "ended", "after#", "seed#")
    for run in found.runs:
        values = ["-" if (y := run.at_times[i]) is None else short(y) for i in places]
        ended = (str(len(run.t)), run.status, time(run.reached), str(run.seed))
        made.add_row(run.algorithm, *values, *ended)
    output.show(made)
    output.show(f"to repeat a run: {found.repeat} NAME")
    output.show_lines(f"{run.algorithm}: {run.message}" for run in found.runs if run.message)


def _value(value: float | None) -> str:
    return "-" if value is None else typed(value)


def watch(
    store: common.StoreFolder,
    port: int = Option(0, min=0, max=65535, help="The port; by default any free one."),
) -> None:
    """Serve the page of a store to browsers on this machine.

    While a race in another terminal writes to the store, an open page follows it. Other machines
    have no access; nothing is run or written. Ctrl-C ends it.
    """
    served = api.live_page.Watch(store, port)
    output.show(served.address)
    with suppress(KeyboardInterrupt):
        served.serve()
