"""`polarbear status`, `show` and `watch`: the contents of a store."""

from __future__ import annotations

import time as clock
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click import option

import polarbear
from polarbear import api
from polarbear.cli import command_options as common
from polarbear.cli import output
from polarbear.errors import ReportError
from polarbear.records import Facts
from polarbear.wording import (
    counted,
    duration,
    joined,
    percent,
    percent_cell,
    short,
    size,
    time,
    typed,
)

if TYPE_CHECKING:
    from polarbear.api.plain_runs import Collected
    from polarbear.api.store_handle import Duels, InstanceRuns
    from polarbear.api.store_status import StoreStatus

MAX_DUELS = 20  # in a table without --all
MAX_TIMES = 5  # in a table


@common.command
@common.store_folder
@common.race_number
@common.json
def status(store: Path, race: int | None, json: bool) -> None:
    """Show the contents of a store.

    The state of its race, algorithms, runs, failures, machines, disk use, and the process that is
    writing to it; earlier races, and runs that were set aside. For a race that is running in
    another terminal: its progress by algorithm and by worker, and the remaining time.
    """
    output.result(api.store_status.status(store, race), json, _show_status)


def _show_status(found: StoreStatus) -> None:
    output.show(*_store_lines(found))
    if found.under_way is not None:
        _show_progress(found.under_way)
    if found.killed is not None:
        killed = found.killed
        ago = max(0.0, clock.time() - killed["written"])
        output.show(
            f"\na race was killed in round {killed['round']}, {duration(ago)} ago (process "
            f"{killed['pid']} on {killed['host']}); the same command continues it",
        )
    if found.race is not None:
        columns = output.columns()
        output.show("", *api.standings_words.standings_lines(found.race, columns, verbose=True))
    show_runs(found)
    output.show(*_more_lines(found))


def show_runs(found: StoreStatus | Collected) -> None:
    """Print runs and costs of each algorithm and, after `run`, its share of first places."""
    entries, axis = found.algorithms, found.axis
    columns = {
        "algorithm": [entry.algorithm for entry in entries],
        "runs#": [f"{entry.runs}" for entry in entries],
        "failed#": [f"{entry.failed}" for entry in entries],
        "ended early#": [f"{entry.ended}" for entry in entries],
        f"{axis}#": [time(entry.spent) for entry in entries],
    }
    # Of imported runs nothing is known but the axis.
    for cost in ("evaluations", "seconds"):
        numbers = [getattr(entry, cost) for entry in entries]
        if cost != axis and any(numbers):
            columns[f"{cost}#"] = ["unknown" if one is None else time(one) for one in numbers]
    first = [getattr(entry, "first_at_end", None) for entry in entries]
    if any(share is not None for share in first):
        cells = ["" if share is None else percent_cell(share) for share in first]
        columns[f"best at {axis} {time(found.budget)}#"] = cells
    output.show_table(list(columns), zip(*columns.values(), strict=True))
    output.show(*api.standings_words.failure_lines(found.failures))


def _store_lines(found: StoreStatus) -> Iterator[str]:
    yield (
        f"{found.store}: {counted(found.runs, 'run')} on {counted(found.instances, 'instance')} of "
        f"'{found.suite}', seed {found.seed}, {size(found.bytes)}"
    )
    yield (
        f"axis {found.axis}, {counted(found.times, 'time')} up to {time(found.budget)}; "
        f"created {found.created} by PolarBear {found.tool}"
    )
    if found.weights is not None:
        weighted, span = found.weights, (short(found.weights.least), short(found.weights.most))
        instances = counted(weighted.instances, "instance counts", "instances count")
        yield f"{instances} as {short(weighted.total)}: weights from {' to '.join(span)}"
    for number, what in ((found.rankings, "imported ranking"), (found.posteriors, "posterior")):
        if number:
            yield counted(number, what)
    if found.written_by:
        yield f"being written by {found.written_by}"


def _more_lines(found: StoreStatus) -> Iterator[str]:
    if len(found.hosts) > 1:
        hosts = ", ".join(f"{host.host} ({counted(host.runs, 'run')})" for host in found.hosts)
        yield f"runs of {len(found.hosts)} machines: {hosts}"
    if found.extra_runs:
        yield api.standings_words.speculative_words(found.extra_runs)
    for past in found.races:
        yield (
            f"earlier race {past.race}: {counted(past.rounds, 'round')} on "
            f"{counted(past.instances, 'instance')}; Pareto set {joined(past.pareto_set)}; ended "
            f"{past.ended[:16]} because of {'; '.join(past.because)}"
        )
    for aside in found.set_aside:
        yield f"set aside: {counted(aside.runs, 'run')} of {aside.algorithm} ({aside.reason})"


def _show_progress(now: Facts) -> None:
    """Print the progress by algorithm and by worker of a race that is running, and the forecast."""
    output.show("", *_progress_lines(now))
    rows = []
    for one in now["algorithms"]:
        this_round = f"{one['round_done']} of {one['round_runs']}" if one["round_runs"] else ""
        mean = duration(one["seconds"] / one["runs"]) if one["runs"] else ""
        rows.append([one["algorithm"], this_round, str(one["runs"]), str(one["failed"]), mean])
    titles = ["algorithm", "this round#", "runs so far#", "failed#", "mean duration#"]
    output.show_table(titles, rows)
    lasted = max(now["written"] - now["began"], 1e-9)
    rows = []
    for one in now["workers"]:
        busy = percent_cell(min(1.0, one["seconds"] / lasted))
        runs = str(one["runs"]), str(one["failed"])
        rows.append([one["worker"], one["host"], *runs, busy, one["last"]])
    output.show_table(["worker", "host", "runs#", "failed#", "busy#", "last run"], rows)


def _progress_lines(now: Facts) -> list[str]:
    """The current activity, and the remaining time."""
    parts = [f"running for {duration(clock.time() - now['began'])}, {now['doing']}"]
    if now["round"]:
        counts = now["done"], now["runs"], now["failed"]
        parts.append(f"round {now['round']}: {api.standings_words.finished_words(*counts)}")
    if now["early"]:
        parts.append(counted(now["early"], "speculative run"))
    if now["busy"] is not None:
        parts.append(f"workers busy for {percent(now['busy'])} of the time")
    left = []
    if now["left_in_round"] is not None:
        left.append(f"{duration(now['left_in_round'])} left in this round")
    least, most = now["to_go_at_least"], now["to_go_at_most"]
    if least is not None:
        longest = "" if most is None else f" and at most {duration(most)}"
        left.append(f"the race takes at least {duration(least)}{longest} more")
    return ["; ".join(parts), *([f"at this speed: {'; '.join(left)}"] if left else [])]


@common.command
@common.store_folder
@option("--pair", metavar="A,B", help="Show the winner on each instance.")
@option("--at", type=float, metavar="T", help="With --pair: at this time; by default the last.")
@option("--instance", metavar="ID", help="Show every run on this instance.")
@common.path("--png", "FILE", "Also draw it as PNG.")
@common.path("--svg", "FILE", "Also draw it as SVG.")
@common.flag("--all", "Show all duels.", "everything")
@common.json
def show(
    store: Path,
    pair: str | None,
    at: float | None,
    instance: str | None,
    everything: bool,
    json: bool,
    **drawings: Path | None,
) -> None:
    """Show the winner on each instance, or all runs on one instance.

    Nothing is run or inferred.
    """
    if (pair is None) == (instance is None):
        raise ReportError("choose one: --pair A,B [--at T], or --instance ID")
    opened = polarbear.open(store)
    if pair is not None:
        a, b = common.two_names(pair, opened.algorithms)
        duels = opened.duels(a, b, at, **drawings)
        most = None if everything else MAX_DUELS
        output.result(duels, json, lambda found: _show_duels(found, most))
    elif at is not None:
        raise ReportError("--at goes with --pair; --instance shows all times")
    else:
        output.result(opened.instance(str(instance), **drawings), json, _show_runs)
    output.wrote(*drawings.values())


def _show_duels(found: Duels, most: int | None) -> None:
    output.show(found.one_line())
    rows = []
    for duel in found.duels[:most]:
        values = ["-" if value is None else typed(value) for value in (duel.a, duel.b)]
        margin = "" if duel.margin is None else short(duel.margin)
        rows.append([duel.instance, *values, duel.winner or "tie", margin])
    output.show_table(["instance", f"{found.a}#", f"{found.b}#", "winner", "by#"], rows)
    if len(rows) < len(found.duels):
        rest = counted(len(found.duels) - len(rows), "more instance")
        output.show(f"and {rest}: --all shows them")


def _show_runs(found: InstanceRuns) -> None:
    output.show(found.one_line())
    last = len(found.times) - 1
    places = sorted({round(last * step / (MAX_TIMES - 1)) for step in range(MAX_TIMES)})
    rows = []
    for run in found.runs:
        values = ["-" if (y := run.at_times[i]) is None else short(y) for i in places]
        ended = (str(len(run.t)), run.status, time(run.reached), str(run.seed))
        rows.append([run.algorithm, *values, *ended])
    times = (f"{time(found.times[i])}#" for i in places)
    titles = [f"{found.axis} =", *times, "improvements#", "ended", "after#", "seed#"]
    output.show_table(titles, rows)
    output.show(f"to repeat a run: {found.repeat} NAME")
    output.show(*(f"{run.algorithm}: {run.message}" for run in found.runs if run.message))


@common.command
@common.store_folder
@option("--port", default=0, type=click.IntRange(0, 65535), help="By default any free port.")
def watch(store: Path, port: int) -> None:
    """Serve the page of a store to browsers on this machine.

    While a race in another terminal writes to the store, an open page follows it. Other machines
    have no access; nothing is run or written. Ctrl-C ends it.
    """
    served = api.live_page.Watch(store, port)
    output.show(served.address)
    with suppress(KeyboardInterrupt):
        served.serve_forever()
