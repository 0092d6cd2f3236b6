"""`polarbear compare`: compare algorithms by ECDF, AOCC, EAF and ERT."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from typer import Option

import polarbear
from polarbear.cli import command_options as common
from polarbear.cli import output
from polarbear.cli.output import Table
from polarbear.wording import counted, noun

if TYPE_CHECKING:
    from polarbear.api.reporting import AoccRow, Areas, Compared, ErtPoint

AOCC_TITLES = ("mean#", "interval#", "median#", "first#")


def compare(
    store: common.StoreFolder,
    pair: str | None = Option(None, metavar="A,B", help="Compare these two by their EAF."),
    algorithms: str | None = Option(
        None, metavar="A,B,C", help="Only these, or all; of a race by default the Pareto set."
    ),
    targets: str = Option(
        "auto",
        metavar="TARGETS",
        help="EASIEST:HARDEST[:COUNT] as distances from the optimum, such as 1e2:1e-8; or "
        "'seen': on each instance from the worst to the best value seen; by default the "
        "first where the optimum is known.",
    ),
    optimum: float | None = Option(
        None, help="The best possible value, if the suite does not know it."
    ),
    scale: str = Option("auto", help="Of the targets: auto, log or linear."),
    bootstrap: int = Option(1000, help="Number of resamples of instances."),
    seed: int = Option(0, help="Seed of the resamples."),
    ert: str | None = Option(
        None,
        metavar="DISTANCES",
        help="Expected running times to these distances from the optimum, such as "
        "10,0.1,1e-8; or 'usual': those of COCO's tables.",
    ),
    per_dimension: bool = Option(
        False,
        "--per-dimension",
        help="Divide evaluations by the number of variables, as COCO does.",
    ),
    png: Path | None = Option(None, metavar="DIR", help="Draw ECDF, AOCC, EAF and differences."),
    csv: Path | None = Option(None, metavar="DIR", help="Write the data of these figures."),
    theme: common.Theme = "light",
    width: common.Width = "double",
    force: common.Force = False,
    json: common.Json = False,
) -> None:
    """Compare algorithms classically, and report disagreements with the posterior."""
    opened = polarbear.open(store)
    found = opened.compare(
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
    output.result(found, json, _show)
    output.notes(found.notes)
    output.wrote(*found.written)


def _show(found: Compared) -> None:
    output.show(f"instances: {found.instances}, of {found.instances_in_store} in the store")
    output.show(f"scale: {found.scale.words}")
    output.show("")
    output.show(
        "AOCC: mean share of targets reached, over time and over log time, with 95 % intervals;"
    )
    output.show("first: share of resamples of instances in which an algorithm has the highest mean")
    made = Table(
        "algorithm", *AOCC_TITLES, *(title.replace("#", " (log t)#") for title in AOCC_TITLES)
    )
    for row in found.aocc:
        made.add_row(row.algorithm, *_areas(row), *_areas(row.log_time))
    output.show(made)
    output.show(f"ECDF: share of targets reached by that number of {found.axis}")
    times = [point.t for point in found.ecdf[0].at]
    made = Table("algorithm", *(f"{t:.{6 if t.is_integer() else 3}g}#" for t in times))
    for curve in found.ecdf:
        made.add_row(curve.algorithm, *(f"{point.share:.3f}" for point in curve.at))
    output.show(made)
    if found.ert is not None:
        _show_ert(found)
    if found.pair is not None:
        both = found.pair.instances
        output.show(f"EAF difference, on the {both} {noun(both, 'instance')} both ran in full:")
        for line in found.pair.words:
            output.show(f"  {line}")
        output.show("")
    for note in found.disagreements or ():
        output.show(f"the views disagree: {note.words}.")
        if note.why:
            output.show(f"  Why: {note.why}.")
    if found.verdict:
        output.show(f"{found.verdict}.")


def _show_ert(found: Compared) -> None:
    rows = found.ert or ()
    output.show(f"ERT: {found.axis} to a distance from the optimum, with 95 % intervals")
    output.show("")
    for group in dict.fromkeys(row.group for row in rows):
        here = [row for row in rows if row.group == group]
        where = "all instances" if group is None else group
        output.show(f"{where}: {counted(here[0].runs, 'run')} each")
        made = Table("algorithm", *(f"{point.target:g}#" for point in here[0].at))
        for row in here:
            made.add_row(row.algorithm, *(_running_time(point) for point in row.at))
        output.show(made)


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
