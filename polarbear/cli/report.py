"""`polarbear report` and `compare`: reports on stores, and the classical comparison."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click import option

import polarbear
from polarbear import api
from polarbear.cli import command_options as common
from polarbear.cli import output
from polarbear.cli.command_options import AT_LEAST_1, flag, path, several
from polarbear.errors import ReportError
from polarbear.wording import counted, noun, time

if TYPE_CHECKING:
    from polarbear.api.reporting import AoccRow, Areas, Compared, ErtPoint, Report

AOCC_TITLES = ("mean#", "interval#", "median#", "first#")


@common.command
@click.argument("stores", metavar="STORE...", nargs=-1, required=True, type=Path)
@path("--html", "FILE", "Write the page to this file; without any output: STORE.html next to it.")
@path("--png", "DIR", "Draw figures as PNG.")
@path("--pdf", "DIR", "Draw figures as PDF.")
@path("--svg", "DIR", "Draw figures as SVG.")
@path("--csv", "DIR", "Write the figures' data.")
@path("--latex", "DIR", "LaTeX for a paper: booktabs tables, figures as PDF, captions.")
@option("--at", type=float, help="The budget of the figure one-budget; by default the last.")
@flag("--slim", "A small page without scripts.")
@flag("--text", "Print the report as plain text.")
@flag("--markdown", "Print it as Markdown, for a pull request.")
@several("--only", "Only this figure of {figures}; may be given several times.")
@option("--round", type=AT_LEAST_1, metavar="N", help="The state after round N.")
@common.race_number
@common.theme
@common.width
@option("--font", default="sans", help="Of figures: sans, serif, or an installed one.")
@option("--font-size", default=8.0, help="Of figures, in points.")
@option("--time-axis", default="grid", help="Of figures: log, linear, or grid (as the times).")
@common.model
@option("--align", default="auto", help="Of several stores: by times (units) or budget (share).")
@common.force
@common.json
def report(
    stores: tuple[Path, ...],
    html: Path | None,
    race: int | None,
    align: str,
    text: bool,
    markdown: bool,
    json: bool,
    **options: Any,
) -> None:
    """Write a report: a page, figures, LaTeX tables, or text.

    The page is one file that opens without a network. Several stores are compared with the first.
    """
    if text + markdown + json > 1:
        raise ReportError("--text, --markdown and --json each print the report: choose one")
    outputs = ("png", "pdf", "svg", "csv", "latex", "only")
    named = any((html, text, markdown, json, *(options[name] for name in outputs)))
    if len(stores) > 1:
        single = {name: options.pop(name) for name in ("round", "latex", "at", "slim")}
        for name, value in {"race": race, **single}.items():
            if value:
                raise ReportError(f"--{name} works for a single store only")
        html = html if named else api.reporting.page_of(stores)
        made = polarbear.compare_stores(*stores, html=html, align=align, **options)
    else:
        opened = polarbear.open(stores[0], race=race)
        made = opened.report(html if named else opened.page, **options)

    def show(made: Report) -> None:
        if text or markdown:
            click.echo(made.markdown() if markdown else made.text(), nl=False)
        else:
            output.show(*made.answer)
            output.note(*(f"note: {line}" for line in made.warnings))

    output.result(made, json, show)
    output.wrote(*made.written)


@common.command
@common.store_folder
@option("--pair", metavar="A,B", help="Compare these two by their EAF.")
@option("--algorithms", type=common.names, help="A,B,C, or all; by default the Pareto set.")
@option(
    "--targets",
    default="auto",
    help="Distances from the optimum, EASIEST:HARDEST[:COUNT] as in 1e2:1e-8; or 'seen': on each "
    "instance from the worst to the best value; by default distances where the optimum is known.",
)
@option("--optimum", type=float, help="The best possible value, if the suite does not know it.")
@option("--scale", default="auto", help="Of the targets: auto, log or linear.")
@option("--bootstrap", default=1000, help="Number of resamples of instances.")
@option("--seed", default=0, help="Seed of the resamples.")
@option("--ert", help="ERT to these distances: 10,0.1,1e-8, or 'usual' (those of COCO's tables).")
@flag("--per-dimension", "Divide evaluations by the number of variables, as COCO does.")
@path("--png", "DIR", "Draw ECDF, AOCC, EAF and differences.")
@path("--csv", "DIR", "Write the data of these figures.")
@common.theme
@common.width
@common.force
@common.json
def compare(store: Path, pair: str | None, json: bool, **options: Any) -> None:
    """Compare algorithms classically: ECDF, AOCC, EAF, ERT.

    Disagreements with the posterior of the same runs are reported.
    """
    opened = polarbear.open(store)
    both = None if pair is None else common.two_names(pair, opened.algorithms)
    found = opened.compare(both, **options)
    output.result(found, json, _show_compared)
    output.wrote(*found.written)


def _show_compared(found: Compared) -> None:
    output.show(
        f"instances: {found.instances}, of {found.instances_in_store} in the store",
        f"scale: {found.scale.words}",
        "",
        "AOCC: mean share of targets reached, over time and over log time, with 95 % intervals;",
        "first: share of resamples of instances in which an algorithm has the highest mean",
    )
    in_log_time = (title.replace("#", " (log t)#") for title in AOCC_TITLES)
    output.show_table(
        ["algorithm", *AOCC_TITLES, *in_log_time],
        [(row.algorithm, *_areas(row), *_areas(row.log_time)) for row in found.aocc],
    )
    output.show(f"ECDF: share of targets reached by that number of {found.axis}")
    times = [point.t for point in found.ecdf[0].at]
    output.show_table(
        ["algorithm", *(f"{time(t)}#" for t in times)],
        [(curve.algorithm, *(f"{point.share:.3f}" for point in curve.at)) for curve in found.ecdf],
    )
    if found.ert is not None:
        _show_ert(found)
    if found.pair is not None:
        both = found.pair.instances
        output.show(f"EAF difference, on the {both} {noun(both, 'instance')} both ran in full:")
        output.show(*(f"  {line}" for line in found.pair.words), "")
    for note in found.disagreements or ():
        output.show(f"the views disagree: {note.words}.")
        output.show(*([f"  Why: {note.why}."] if note.why else []))
    if found.verdict:
        output.show(f"{found.verdict}.")


def _show_ert(found: Compared) -> None:
    rows = found.ert or ()
    output.show(f"ERT: {found.axis} to a distance from the optimum, with 95 % intervals", "")
    for group in dict.fromkeys(row.group for row in rows):
        here = [row for row in rows if row.group == group]
        where = "all instances" if group is None else group
        output.show(f"{where}: {counted(here[0].runs, 'run')} each")
        output.show_table(
            ["algorithm", *(f"{point.target:g}#" for point in here[0].at)],
            [(row.algorithm, *map(_running_time, row.at)) for row in here],
        )


def _running_time(point: ErtPoint) -> str:
    if point.ert is None:
        return "not reached"
    if point.low is None:
        return time(point.ert)
    high = "unbounded" if point.high is None else time(point.high)
    return f"{time(point.ert)} [{time(point.low)}, {high}]"


def _areas(row: Areas | AoccRow) -> list[str]:
    interval = "" if row.low is None else f"{row.low:.3f} to {row.high:.3f}"
    return [f"{row.mean:.3f}", interval, f"{row.median:.3f}", f"{row.first:.2f}"]
