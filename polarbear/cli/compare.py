"""`polarbear compare`: the classical comparison of algorithms."""

from typing import TYPE_CHECKING, Annotated

import typer

import polarbear
from polarbear.api.choices import TargetScale, Theme, defaults
from polarbear.cli import completion, output
from polarbear.cli.application import app
from polarbear.cli.parameters import (
    AsJson,
    CsvFolder,
    Debug,
    FigureTheme,
    FigureWidth,
    Force,
    Pair,
    PngFolder,
    Quiet,
    StoreFolder,
    member_of,
    separated,
    two_names,
)
from polarbear.wording import counted, noun, time

if TYPE_CHECKING:
    from polarbear.api.reporting import AoccRow, Areas, Compared, ErtPoint

AOCC_TITLES = ("mean#", "interval#", "median#", "first#")


@app.command()
def compare(
    store: StoreFolder,
    pair: Pair = None,
    algorithms: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,C",
            autocompletion=completion.algorithms_after_commas,
            help="Algorithms separated by commas, or all; by default those not eliminated.",
        ),
    ] = None,
    targets: Annotated[
        str,
        typer.Option(
            help="Distances from the optimum, EASIEST:HARDEST[:COUNT] as in 1e2:1e-8; or 'seen': "
            "on each instance from the worst to the best value; by default distances where the "
            "optimum is known.",
        ),
    ] = "auto",
    optimum: Annotated[
        float | None,
        typer.Option(help="The best possible value, if the suite does not know it."),
    ] = None,
    scale: Annotated[
        TargetScale,
        typer.Option(parser=member_of(TargetScale), help="The scale of the targets."),
    ] = TargetScale.AUTO,
    bootstrap: Annotated[
        int, typer.Option(help="Number of resamples of instances.")
    ] = defaults.RESAMPLES,
    seed: Annotated[int, typer.Option(help="Seed of the resamples.")] = 0,
    ert: Annotated[
        str | None,
        typer.Option(
            help="ERT to these distances: 10,0.1,1e-8, or 'usual' (those of COCO's tables)."
        ),
    ] = None,
    per_dimension: Annotated[
        bool,
        typer.Option(
            "--per-dimension",
            help="Divide evaluations by the number of variables, as COCO does.",
        ),
    ] = False,
    png: PngFolder = None,
    csv: CsvFolder = None,
    theme: FigureTheme = Theme.LIGHT,
    width: FigureWidth = defaults.WIDTH,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compare algorithms classically: ECDF, AOCC, EAF, ERT.

    With --pair, two algorithms are compared by their EAF. Disagreements with the posterior of the
    same runs are reported.
    """
    opened = polarbear.open(store)
    compared = opened.compare(
        None if pair is None else two_names(pair, opened.algorithms),
        algorithms=separated(algorithms),
        png=png,
        csv=csv,
        theme=theme,
        width=width,
        force=force,
        targets=targets,
        optimum=optimum,
        scale=scale,
        bootstrap=bootstrap,
        seed=seed,
        ert=ert,
        per_dimension=per_dimension,
    )
    output.result(compared, as_json, _show_compared)
    output.wrote(*compared.written)


def _show_compared(compared: "Compared") -> None:
    _show_aocc(compared)
    _show_ecdf(compared)
    if compared.ert is not None:
        _show_ert(compared)
    if compared.pair is not None:
        n_common = compared.pair.instances
        output.show(
            f"EAF difference, on the {n_common} {noun(n_common, 'instance')} both ran in full:"
        )
        output.show(*(f"  {line}" for line in compared.pair.words), "")
    for disagreement in compared.disagreements or ():
        output.show(f"the views disagree: {disagreement.words}.")
        if disagreement.why:
            output.show(f"  Why: {disagreement.why}.")
    if compared.verdict:
        output.show(f"{compared.verdict}.")


def _show_aocc(compared: "Compared") -> None:
    output.show(
        f"instances: {compared.instances}, of {compared.instances_in_store} in the store",
        f"scale: {compared.scale.words}",
        "",
        "AOCC: mean share of targets reached, over time and over log time, with 95 % intervals;",
        "first: share of resamples of instances in which an algorithm has the highest mean",
    )
    titles_in_log_time = [title.replace("#", " (log t)#") for title in AOCC_TITLES]
    rows = [(row.algorithm, *_areas(row), *_areas(row.log_time)) for row in compared.aocc]
    output.show_table(["algorithm", *AOCC_TITLES, *titles_in_log_time], rows)


def _show_ecdf(compared: "Compared") -> None:
    output.show(f"ECDF: share of targets reached by that number of {compared.axis}")
    times = [point.t for point in compared.ecdf[0].at]
    titles = [f"{time(t)}#" for t in times]
    rows = [
        (curve.algorithm, *(f"{point.share:.3f}" for point in curve.at)) for curve in compared.ecdf
    ]
    output.show_table(["algorithm", *titles], rows)


def _show_ert(compared: "Compared") -> None:
    rows = compared.ert or ()
    output.show(f"ERT: {compared.axis} to a distance from the optimum, with 95 % intervals", "")
    for group in dict.fromkeys(row.group for row in rows):
        rows_of_group = [row for row in rows if row.group == group]
        first_row = rows_of_group[0]
        group_name = "all instances" if group is None else group
        output.show(f"{group_name}: {counted(first_row.runs, 'run')} each")
        titles = [f"{point.target:g}#" for point in first_row.at]
        cells = [(row.algorithm, *map(_running_time, row.at)) for row in rows_of_group]
        output.show_table(["algorithm", *titles], cells)


def _running_time(point: "ErtPoint") -> str:
    if point.ert is None:
        return "not reached"
    if point.low is None:
        return time(point.ert)
    high = "unbounded" if point.high is None else time(point.high)
    return f"{time(point.ert)} [{time(point.low)}, {high}]"


def _areas(row: "Areas | AoccRow") -> list[str]:
    interval = "" if row.low is None else f"{row.low:.3f} to {row.high:.3f}"
    return [f"{row.mean:.3f}", interval, f"{row.median:.3f}", f"{row.first:.2f}"]
