"""`polarbear show`: the duels of a pair, or the runs on one instance."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polarbear.cli import common
from polarbear.cli.tables import Table
from polarbear.errors import ReportError
from polarbear.wording import counted, short, time, timed

if TYPE_CHECKING:
    from polarbear.api.store import Duels, InstanceRuns

DIGITS = (4, 6, 8, 10, 12, 15)  # of a value
MAX_ROUNDING = 0.05  # relative change of a difference by rounding of both values
MAX_WRITTEN_OUT = 1e7  # larger values are written with a power of ten
MAX_DUELS = 20  # in a table without --all
MAX_TIMES = 5  # in a table


def show(
    store: common.StoreFolder,
    pair: Annotated[
        str | None, typer.Option(metavar="A,B", help="Show the winner on each instance.")
    ] = None,
    at: Annotated[
        float | None,
        typer.Option(metavar="T", help="With --pair: at this time; by default the last."),
    ] = None,
    instance: Annotated[
        str | None, typer.Option(metavar="ID", help="Show every run on this instance.")
    ] = None,
    png: Annotated[Path | None, typer.Option(metavar="FILE", help="Also draw it as PNG.")] = None,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Also draw it as SVG.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Show all duels.")] = False,
    json: common.Json = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> None:
    """Show the instances on which one algorithm beat another, or all runs on one instance.

    Nothing is run or inferred.
    """
    import polarbear

    if (pair is None) == (instance is None):
        raise ReportError("choose one: --pair A,B [--at T], or --instance ID")
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
    shown = told.duels if everything else told.duels[:MAX_DUELS]
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
    places = np.unique(np.linspace(0, len(told.times) - 1, MAX_TIMES).round().astype(int)).tolist()
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
    common.show(f"to repeat a run: {told.repeat} NAME")
    for run in told.runs:
        if run.message:
            common.show(f"{run.algorithm}: {run.message}")


def _value(value: float | None, digits: int = DIGITS[0]) -> str:
    if value is None:
        return "-"
    told = f"{value:.{digits}g}"
    return f"{value:.0f}" if "e+" in told and abs(value) < MAX_WRITTEN_OUT else told


def _apart(a: float | None, b: float | None) -> tuple[str, str]:
    """Two values with enough digits to show their difference."""
    enough = DIGITS[0]
    if a is not None and b is not None:
        gap = abs(a - b)
        for enough in DIGITS:
            shown = abs(float(f"{a:.{enough}g}") - float(f"{b:.{enough}g}"))
            if abs(shown - gap) <= MAX_ROUNDING * gap:
                break
    return _value(a, enough), _value(b, enough)
