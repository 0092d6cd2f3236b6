"""`polarbear compare`: compare algorithms by ECDF, AOCC, EAF and ERT."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polarbear.cli import common
from polarbear.cli.tables import Table
from polarbear.wording import counted, noun

if TYPE_CHECKING:
    from polarbear.api.comparing import AoccRow, Areas, Compared, ErtPoint

AOCC_TITLES = ("mean#", "interval#", "median#", "first#")


def compare(
    store: common.StoreFolder,
    pair: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Compare these two by their EAF."),
    ] = None,
    algorithms: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,C", help="Only these, or all; of a race by default the Pareto set."
        ),
    ] = None,
    targets: Annotated[
        str,
        typer.Option(
            metavar="TARGETS",
            help="EASIEST:HARDEST[:COUNT] as distances from the optimum, such as 1e2:1e-8; or "
            "'seen': on each instance from the worst to the best value seen; by default the "
            "first where the optimum is known.",
        ),
    ] = "auto",
    optimum: Annotated[
        float | None, typer.Option(help="The best possible value, if the suite does not know it.")
    ] = None,
    scale: Annotated[str, typer.Option(help="Of the targets: auto, log or linear.")] = "auto",
    bootstrap: Annotated[int, typer.Option(help="Number of resamples of instances.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the resamples.")] = 0,
    ert: Annotated[
        str | None,
        typer.Option(
            metavar="DISTANCES",
            help="Expected running times to these distances from the optimum, such as "
            "10,0.1,1e-8; or 'usual': those of COCO's tables.",
        ),
    ] = None,
    per_dimension: Annotated[
        bool,
        typer.Option(
            "--per-dimension", help="Divide evaluations by the number of variables, as COCO does."
        ),
    ] = False,
    png: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Draw ECDF, AOCC, EAF and differences.")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the data of these figures.")
    ] = None,
    theme: common.Theme = "light",
    width: common.Width = "double",
    force: common.Force = False,
    json: common.Json = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> None:
    """Compare algorithms classically, and report disagreements with the posterior."""
    import polarbear

    opened = polarbear.open(store)
    told = opened.compare(
        None if pair is None else common.two_names(pair, opened.algorithms),
        algorithms=common.names(algorithms),
        targets=targets,
        optimum=optimum,
        scale=scale,
        bootstrap=bootstrap,
        seed=seed,
        ert=ert,
        per_dimension=per_dimension,
        png=png,
        csv=csv,
        theme=theme,
        width=width,
        force=force,
    )
    if json:
        common.print_json(told)
    else:
        _show(told)
    for line in told.notes:
        common.note(f"note: {line}", quiet)
    for path in told.written:
        common.note(f"wrote {path}", quiet)


def _show(told: Compared) -> None:
    say = common.show
    say(f"instances: {told.instances}, of {told.instances_in_store} in the store")
    say(f"scale: {told.scale.words}")
    say("")
    say("AOCC: mean share of targets reached, over time and over log time, with 95 % intervals;")
    say("first: share of resamples of instances in which an algorithm has the highest mean")
    made = Table(
        "algorithm", *AOCC_TITLES, *(title.replace("#", " (log t)#") for title in AOCC_TITLES)
    )
    for row in told.aocc:
        made.add_row(row.algorithm, *_areas(row), *_areas(row.log_time))
    say(made)
    say(f"ECDF: share of targets reached by that number of {told.axis}")
    times = [point.t for point in told.ecdf[0].at]
    made = Table("algorithm", *(f"{t:.{6 if t.is_integer() else 3}g}#" for t in times))
    for curve in told.ecdf:
        made.add_row(curve.algorithm, *(f"{point.share:.3f}" for point in curve.at))
    say(made)
    if told.ert is not None:
        _show_ert(told)
    if told.pair is not None:
        both = told.pair.instances
        say(f"EAF difference, on the {both} {noun(both, 'instance')} both ran in full:")
        for line in told.pair.words:
            say(f"  {line}")
        say("")
    for note in told.disagreements or ():
        say(f"the views disagree: {note.words}.")
        if note.why:
            say(f"  Why: {note.why}.")
    if told.verdict:
        say(f"{told.verdict}.")


def _show_ert(told: Compared) -> None:
    say = common.show
    rows = told.ert or ()
    say(f"ERT: {told.axis} to a distance from the optimum, with 95 % intervals")
    say("")
    for group in dict.fromkeys(row.group for row in rows):
        here = [row for row in rows if row.group == group]
        where = "all instances" if group is None else group
        say(f"{where}: {counted(here[0].runs, 'run')} each")
        made = Table("algorithm", *(f"{point.target:g}#" for point in here[0].at))
        for row in here:
            made.add_row(row.algorithm, *(_running_time(point) for point in row.at))
        say(made)


def _running_time(point: ErtPoint) -> str:
    if point.ert is None:
        return "not reached"
    interval = ""
    if point.low is not None:
        high = "unbounded" if point.high is None else f"{point.high:.4g}"
        interval = f" [{point.low:.4g}, {high}]"
    return f"{point.ert:.4g}{interval}"


def _areas(row: Areas | AoccRow) -> list[str]:
    interval = "" if row.low is None else f"{row.low:.3f} to {row.high:.3f}"
    return [f"{row.mean:.3f}", interval, f"{row.median:.3f}", f"{row.first:.2f}"]
