"""`polarbear compare`: the same runs as others would look at them, by ECDF, AOCC and EAF."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polarbear.cli import common
from polarbear.wording import noun

if TYPE_CHECKING:
    from polarbear.attainment import Comparison
    from polarbear.attainment.facts import AoccRow, Areas, Compared
    from polarbear.report.drawing.style import Style
    from polarbear.report.material import Material

FIGURES = ("ecdf", "aocc", "eaf", "eaf-difference")
AOCC_TITLES = ("mean#", "interval#", "median#", "first#")


def compare(
    store: common.StoreFolder,
    pair: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Say where each of these two is ahead of the other."),
    ] = None,
    algorithms: Annotated[
        str | None,
        typer.Option(metavar="A,B,C", help="Only these; fewer may have more instances in common."),
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
    bootstrap: Annotated[int, typer.Option(help="How often instances are resampled.")] = 1000,
    seed: Annotated[int, typer.Option(help="Draws the resamples.")] = 0,
    png: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Draw ECDF, AOCC, EAF and differences.")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the data of these figures.")
    ] = None,
    theme: Annotated[str, typer.Option(help="Of figures: light, dark or print.")] = "light",
    width: Annotated[
        str, typer.Option(help="Of figures: single, double (columns of a paper), 12cm or 5in.")
    ] = "double",
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
    json: common.Json = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> None:
    """Show the classical view of a store, and where the posterior sees it differently."""
    from dataclasses import replace

    from polarbear.attainment import Comparison, ViewOptions, names_of, pair_of
    from polarbear.report.drawing.style import Style
    from polarbear.report.material import gather
    from polarbear.settings.options import Source, validate
    from polarbear.store import Store

    given = {"targets": targets, "scale": scale, "bootstrap": bootstrap, "seed": seed}
    options = validate(ViewOptions, {**given, "optimum": optimum}, Source("compare"))
    style = validate(Style, {"theme": theme, "width": width}, Source("compare"))
    asked = Comparison(
        names_of(algorithms) if algorithms is not None else None,
        pair_of(pair) if pair is not None else None,
        options,
    )
    material = replace(gather(Store.open(store)), comparison=asked)
    told = _compared(material, asked)
    written = _write(material, {"png": png, "csv": csv}, style, force)
    told = replace(told, written=tuple(str(path) for path in written))
    if json:
        common.print_json(told)
    else:
        _show(told)
    for line in told.notes:
        common.note(f"note: {line}", quiet)
    for path in written:
        common.note(f"wrote {path}", quiet)


def _compared(material: Material, asked: Comparison) -> Compared:
    from polarbear.attainment import facts

    told = facts.compared(material.classical, str(material.store.path))
    if asked.pair is not None:
        told = facts.with_pair(told, material.classical_pair(*asked.pair), *asked.pair)
    if material.basis is not None:
        told = facts.with_posterior(told, material.classical, material.basis)
    return told


def _write(
    material: Material, folders: dict[str, Path | None], style: Style, force: bool
) -> list[Path]:
    """The figures and their data, those that this store has; nothing if one is there already."""
    from polarbear.report.drawing.files import check_free, chosen, write_figures
    from polarbear.report.drawing.style import FORMATS

    wanted = {ending: folder for ending, folder in folders.items() if folder is not None}
    names = [figure.name for figure in chosen(FIGURES) if figure.missing(material) is None]
    if not force:
        for ending, folder in wanted.items():
            check_free(folder / f"{name}.{ending}" for name in names)
    written = []
    for ending, folder in wanted.items():
        formats = [known for known in FORMATS if known == ending]
        written += write_figures(material, folder, formats, names, style, ending == "csv", force)
    return written


def _show(told: Compared) -> None:
    from rich.markup import escape

    console = common.console()

    def say(line: str) -> None:
        console.print(line, markup=False)

    say(f"instances: {told.instances}, of {told.instances_in_store} in the store")
    say(f"scale: {told.scale.words}")
    say("")
    say("AOCC: mean share of targets reached, over time and over log time, with 95 % intervals;")
    say("first: how often an algorithm has the highest mean when instances are drawn anew")
    made = common.table(
        "algorithm", *AOCC_TITLES, *(title.replace("#", " (log t)#") for title in AOCC_TITLES)
    )
    for row in told.aocc:
        made.add_row(escape(row.algorithm), *_areas(row), *_areas(row.log_time))
    console.print(made)
    say(f"ECDF: share of targets reached by that many {told.axis}")
    times = [point.t for point in told.ecdf[0].at]
    made = common.table("algorithm", *(f"{t:.{6 if t.is_integer() else 3}g}#" for t in times))
    for curve in told.ecdf:
        made.add_row(escape(curve.algorithm), *(f"{point.share:.3f}" for point in curve.at))
    console.print(made)
    if told.pair is not None:
        both = told.pair.instances
        say(f"EAF difference, on the {both} {noun(both, 'instance')} both ran in full:")
        for line in told.pair.words:
            say(f"  {line}")
        say("")
    for note in told.disagreements or ():
        say(f"the views disagree: {note.words}.")
        say(f"  Why: {note.why}.")
    if told.verdict:
        say(f"{told.verdict}.")


def _areas(row: Areas | AoccRow) -> list[str]:
    interval = "" if row.low is None else f"{row.low:.3f} to {row.high:.3f}"
    return [f"{row.mean:.3f}", interval, f"{row.median:.3f}", f"{row.first:.2f}"]
