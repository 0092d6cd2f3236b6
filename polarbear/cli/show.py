"""`polarbear show`: a closer look at a pair's duels, or at the runs on one instance."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polarbear.cli import common
from polarbear.cli.tables import Table
from polarbear.wording import counted, short, time, timed

if TYPE_CHECKING:
    from polarbear.driver.looking import Duels, InstanceRuns

DIGITS = (4, 6, 8, 10, 12, 15)  # of a value
NEARLY = 0.05  # of a distance, by which two rounded values may have another one
WRITTEN_OUT = 1e7  # from here on, values are written with a power of ten
SHOWN = 20  # duels in a table for people, unless they ask for all
COLUMNS = 5  # times of the grid in it


def show(
    store: common.StoreFolder,
    pair: Annotated[
        str | None, typer.Option(metavar="A,B", help="Show who won on which instance.")
    ] = None,
    at: Annotated[
        float | None,
        typer.Option(metavar="T", help="With --pair: at this time; by default the grid's last."),
    ] = None,
    instance: Annotated[
        str | None, typer.Option(metavar="ID", help="Show every run on this instance.")
    ] = None,
    png: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it, too, as PNG.")] = None,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it, too, as SVG.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Show all duels.")] = False,
    json: common.Json = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> None:
    """Look closer: on which instances one algorithm beat another, or how runs went on one.

    Nothing is run and nothing is inferred.
    """
    import polarbear
    from polarbear.errors import ReportError

    if (pair is None) == (instance is None):
        raise ReportError("say what to look at: --pair A,B [--at T], or --instance ID")
    opened = polarbear.open(store)
    if pair is not None:
        duels = opened.duels(*common.two_names(pair, opened.algorithms), at, png=png, svg=svg)
        common.print_json(duels) if json else _show_duels(duels, everything)
    elif at is not None:
        raise ReportError("--at goes with --pair; --instance shows all times")
    else:
        runs = opened.instance(str(instance), png=png, svg=svg)
        common.print_json(runs) if json else _show_runs(runs)
    for path in (png, svg):
        if path is not None:
            common.note(f"drew {path}", quiet)


def _show_duels(told: Duels, everything: bool) -> None:
    common.show(
        f"{told.a} against {told.b} at {timed(told.t, told.axis)}, on "
        f"{counted(len(told.duels), 'instance')}: {told.a} wins {told.wins_a}, {told.b} wins "
        f"{told.wins_b}, {told.ties} tied; {told.better}",
    )
    made = Table("instance", f"{told.a}#", f"{told.b}#", "winner", "by#")
    shown = told.duels if everything else told.duels[:SHOWN]
    for duel in shown:
        made.add_row(
            duel.instance,
            *_apart(duel.a, duel.b),
            "tie" if duel.winner is None else duel.winner,
            "" if duel.margin is None else _value(duel.margin),
        )
    common.show(made)
    if len(shown) < len(told.duels):
        rest = counted(len(told.duels) - len(shown), "more instance")
        common.show(f"and {rest}: --all shows them")


def _show_runs(told: InstanceRuns) -> None:
    import numpy as np

    options = ", ".join(f"{key} {value}" for key, value in told.spec.items())
    common.show(
        f"{told.instance}, number {told.index} of '{told.suite}': {options}; {told.better}",
    )
    places = np.unique(np.linspace(0, len(told.times) - 1, COLUMNS).round().astype(int)).tolist()
    times = [f"{short(told.times[i])}#" for i in places]
    made = Table(f"{told.axis} =", *times, "improvements#", "ended", "after#", "seed#")
    for run in told.runs:
        made.add_row(
            run.algorithm,
            *(_value(run.at_times[i]) for i in places),
            str(len(run.t)),
            run.status,
            time(run.reached),
            str(run.seed),
        )
    common.show(made)
    common.show(f"to make one again: {told.repeat} NAME")
    for run in told.runs:
        if run.message:
            common.show(f"{run.algorithm}: {run.message}")


def _value(value: float | None, digits: int = DIGITS[0]) -> str:
    if value is None:
        return "-"
    told = f"{value:.{digits}g}"
    return f"{value:.0f}" if "e+" in told and abs(value) < WRITTEN_OUT else told


def _apart(a: float | None, b: float | None) -> tuple[str, str]:
    """Two values with as many digits as it takes to see how far apart they are."""
    enough = DIGITS[0]
    if a is not None and b is not None:
        gap = abs(a - b)
        for enough in DIGITS:
            shown = abs(float(f"{a:.{enough}g}") - float(f"{b:.{enough}g}"))
            if abs(shown - gap) <= NEARLY * gap:
                break
    return _value(a, enough), _value(b, enough)
