"""`polarbear status`, `show` and `watch`: the contents of a store."""

import time as clock
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

import polarbear
from polarbear.cli import output
from polarbear.cli.application import app
from polarbear.cli.parameters import (
    AsJson,
    Debug,
    Pair,
    PngFile,
    Quiet,
    RaceNumber,
    StoreFolder,
    SvgFile,
    two_names,
)
from polarbear.cli.runs_table import show_runs
from polarbear.errors import ReportError
from polarbear.records import Facts
from polarbear.wording import (
    contract_words,
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
    from polarbear.api.store_handle import Duels, InstanceRuns
    from polarbear.api.store_status import StoreStatus

MAX_DUELS = 20  # in a table without --all
MAX_TIMES = 5  # in a table
HIGHEST_PORT = 65535


@app.command()
def status(
    store: StoreFolder,
    race: RaceNumber = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Show the contents of a store.

    The state of its race, algorithms, runs, failures, machines, disk use, and the process that is
    writing to it; earlier races, and runs that were set aside. For a race that is running in
    another terminal: its progress by algorithm and by worker, and the remaining time.
    """
    from polarbear.api import store_status

    output.result(store_status.status(store, race), as_json, _show_status)


def _show_status(status: "StoreStatus") -> None:
    from polarbear.api.standings_words import next_lines, standings_lines

    output.show(*_store_lines(status))
    if status.under_way is not None:
        _show_progress(status.under_way)
    if status.killed is not None:
        output.show(_killed_words(status.killed))
    if status.race is not None:
        lines = next_lines(status.race) if status.under_way is None else []
        output.show("", *standings_lines(status.race, output.columns(), verbose=True, after=lines))
    show_runs(status)
    output.show(*_lines_about_other_runs(status))


def _killed_words(killed: Facts) -> str:
    """The end of a race whose process was killed, in words."""
    seconds_ago = max(0.0, clock.time() - killed["written"])
    return (
        f"\na race was killed in round {killed['round']}, {duration(seconds_ago)} ago (process "
        f"{killed['pid']} on {killed['host']}); the same command continues it"
    )


def _store_lines(status: "StoreStatus") -> Iterator[str]:
    yield (
        f"{status.store}: {counted(status.runs, 'run')} on "
        f"{counted(status.instances, 'instance')} of '{status.suite}', seed {status.seed}, "
        f"{size(status.bytes)}"
    )
    yield (
        f"axis {status.axis}, {counted(status.times, 'time')} up to {time(status.budget)}; "
        f"created {status.created} by PolarBear {status.tool}"
    )
    for name, times in status.contracts.items():
        yield f"{name}: {contract_words(times, status.axis)}"
    if status.weights is not None:
        weights = status.weights
        instances = counted(weights.instances, "instance counts", "instances count")
        yield (
            f"{instances} as {short(weights.total)}: weights from {short(weights.least)} to "
            f"{short(weights.most)}"
        )
    if status.rankings:
        yield counted(status.rankings, "imported ranking")
    if status.posteriors:
        yield counted(status.posteriors, "posterior")
    if status.written_by:
        yield f"being written by {status.written_by}"


def _lines_about_other_runs(status: "StoreStatus") -> Iterator[str]:
    """Runs of several machines, speculative runs, earlier races, and runs that were set aside."""
    from polarbear.api.standings_words import speculative_words

    if len(status.hosts) > 1:
        hosts = ", ".join(f"{host.host} ({counted(host.runs, 'run')})" for host in status.hosts)
        yield f"runs of {len(status.hosts)} machines: {hosts}"
    if status.extra_runs:
        yield speculative_words(status.extra_runs)
    for past in status.races:
        yield (
            f"earlier race {past.race}: {counted(past.rounds, 'round')} on "
            f"{counted(past.instances, 'instance')}; not eliminated: "
            f"{joined(past.pareto_set)}; ended {past.ended[:16]} because of "
            f"{'; '.join(past.because)}"
        )
    for aside in status.set_aside:
        yield f"set aside: {counted(aside.runs, 'run')} of {aside.algorithm} ({aside.reason})"


def _show_progress(progress: Facts) -> None:
    """Print the progress by algorithm and by worker of a race that is running, and the forecast."""
    output.show("", *_progress_lines(progress))
    algorithm_rows = [_algorithm_cells(facts) for facts in progress["algorithms"]]
    titles = ["algorithm", "this round#", "runs so far#", "failed#", "mean duration#"]
    output.show_table(titles, algorithm_rows)
    seconds = max(progress["written"] - progress["began"], 1e-9)
    worker_rows = [_worker_cells(facts, seconds) for facts in progress["workers"]]
    output.show_table(["worker", "host", "runs#", "failed#", "busy#", "last run"], worker_rows)


def _algorithm_cells(facts: Facts) -> list[str]:
    """A row of the table of algorithms in a race that is running."""
    this_round = f"{facts['round_done']} of {facts['round_runs']}" if facts["round_runs"] else ""
    mean_duration = duration(facts["seconds"] / facts["runs"]) if facts["runs"] else ""
    runs = str(facts["runs"])
    failed = str(facts["failed"])
    return [facts["algorithm"], this_round, runs, failed, mean_duration]


def _worker_cells(facts: Facts, seconds: float) -> list[str]:
    """A row of the table of workers in a race that has been running for some seconds."""
    busy = percent_cell(min(1.0, facts["seconds"] / seconds))
    runs = str(facts["runs"])
    failed = str(facts["failed"])
    return [facts["worker"], facts["host"], runs, failed, busy, facts["last"]]


def _progress_lines(progress: Facts) -> list[str]:
    """The current activity, and the remaining time."""
    from polarbear.api.standings_words import finished_words

    seconds = clock.time() - progress["began"]
    parts = [f"running for {duration(seconds)}, {progress['doing']}"]
    if progress["round"]:
        finished = finished_words(progress["done"], progress["runs"], progress["failed"])
        parts.append(f"round {progress['round']}: {finished}")
    if progress["early"]:
        parts.append(counted(progress["early"], "speculative run"))
    if progress["busy"] is not None:
        parts.append(f"workers busy for {percent(progress['busy'])} of the time")
    forecasts = []
    if progress["left_in_round"] is not None:
        forecasts.append(f"{duration(progress['left_in_round'])} left in this round")
    if progress["to_go_at_least"] is not None:
        forecasts.append(_remaining_words(progress))
    lines = ["; ".join(parts)]
    if forecasts:
        lines.append(f"at this speed: {'; '.join(forecasts)}")
    return lines


def _remaining_words(progress: Facts) -> str:
    """The bounds on the remaining time of a race, in words."""
    shortest = duration(progress["to_go_at_least"])
    if progress["to_go_at_most"] is None:
        return f"the race takes at least {shortest} more"
    longest = duration(progress["to_go_at_most"])
    return f"the race takes at least {shortest} and at most {longest} more"


@app.command()
def show(
    store: StoreFolder,
    pair: Pair = None,
    at: Annotated[
        float | None,
        typer.Option(metavar="T", help="With --pair: at this time; by default the last."),
    ] = None,
    instance: Annotated[
        str | None, typer.Option(metavar="ID", help="Show every run on this instance.")
    ] = None,
    png: PngFile = None,
    svg: SvgFile = None,
    show_all: Annotated[bool, typer.Option("--all", help="Show all duels.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Show the winner on each instance, or all runs on one instance.

    With --pair, the winner of two algorithms on each instance is shown. Nothing is run or inferred.
    """
    if (pair is None) == (instance is None):
        raise ReportError("choose one: --pair A,B [--at T], or --instance ID")
    opened = polarbear.open(store)
    if pair is not None:
        a, b = two_names(pair, opened.algorithms)
        duels = opened.duels(a, b, at, png=png, svg=svg)
        most_rows = None if show_all else MAX_DUELS
        output.result(duels, as_json, lambda record: _show_duels(record, most_rows))
    elif at is not None:
        raise ReportError("--at goes with --pair; --instance shows all times")
    else:
        output.result(opened.instance(str(instance), png=png, svg=svg), as_json, _show_runs)
    output.wrote(png, svg)


def _show_duels(duels: "Duels", most_rows: int | None) -> None:
    output.show(duels.one_line(), *duels.remarks())
    rows = []
    for duel in duels.duels[:most_rows]:
        value_of_a = "-" if duel.a is None else typed(duel.a)
        value_of_b = "-" if duel.b is None else typed(duel.b)
        margin = "" if duel.margin is None else short(duel.margin)
        rows.append([duel.instance, value_of_a, value_of_b, duel.winner or "tie", margin])
    output.show_table(["instance", f"{duels.a}#", f"{duels.b}#", "winner", "by#"], rows)
    if len(rows) < len(duels.duels):
        others = counted(len(duels.duels) - len(rows), "more instance")
        output.show(f"and {others}: --all shows them")


def _show_runs(runs_on_instance: "InstanceRuns") -> None:
    output.show(runs_on_instance.one_line())
    last = len(runs_on_instance.times) - 1
    columns = sorted({round(last * step / (MAX_TIMES - 1)) for step in range(MAX_TIMES)})
    rows = []
    for run in runs_on_instance.runs:
        values_at_times = [run.at_times[column] for column in columns]
        values = ["-" if value is None else short(value) for value in values_at_times]
        improvements = str(len(run.t))
        label = run.label(runs_on_instance.axis)
        rows.append([label, *values, improvements, run.status, time(run.reached), str(run.seed)])
    time_titles = [f"{time(runs_on_instance.times[column])}#" for column in columns]
    first_title = f"{runs_on_instance.axis} ="
    titles = [first_title, *time_titles, "improvements#", "ended", "after#", "seed#"]
    output.show_table(titles, rows)
    output.show(f"to repeat a run: {runs_on_instance.repeat} NAME")
    messages = [f"{run.algorithm}: {run.message}" for run in runs_on_instance.runs if run.message]
    output.show(*messages)


@app.command()
def watch(
    store: StoreFolder,
    port: Annotated[
        int, typer.Option(min=0, max=HIGHEST_PORT, help="By default any free port.")
    ] = 0,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Serve the page of a store to browsers on this machine.

    While a race in another terminal writes to the store, an open page follows it. Other machines
    have no access; nothing is run or written. Ctrl-C ends it.
    """
    from polarbear.api.live_page import Watch

    server = Watch(store, port)
    output.show(server.address)
    server.serve_forever()
