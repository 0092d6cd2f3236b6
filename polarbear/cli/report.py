"""`polarbear report`: report on stores as a page, figures, text or Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polarbear.cli import common
from polarbear.errors import ReportError

if TYPE_CHECKING:
    from polarbear.api.reporting import Report
    from polarbear.api.store_comparison import ReportOfStores

Folder = Path | None


def report(
    stores: Annotated[
        list[Path],
        typer.Argument(
            metavar="STORE...",
            help="The folder of a store; several stores are compared with the first.",
        ),
    ],
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the page to this file; without any output option: STORE.html next to it.",
        ),
    ] = None,
    png: Annotated[Folder, typer.Option(metavar="DIR", help="Draw figures as PNG.")] = None,
    pdf: Annotated[Folder, typer.Option(metavar="DIR", help="Draw figures as PDF.")] = None,
    svg: Annotated[Folder, typer.Option(metavar="DIR", help="Draw figures as SVG.")] = None,
    csv: Annotated[Folder, typer.Option(metavar="DIR", help="Write the figures' data.")] = None,
    latex: Annotated[
        Folder,
        typer.Option(
            metavar="DIR",
            help="LaTeX for a paper: booktabs tables, figures as PGF and PDF, captions.",
        ),
    ] = None,
    at: Annotated[
        float | None,
        typer.Option(help="The budget of the figure one-budget; by default the last."),
    ] = None,
    slim: Annotated[
        bool,
        typer.Option("--slim", help="A small page without scripts."),
    ] = False,
    text: Annotated[bool, typer.Option("--text", help="Print the report as plain text.")] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print it as Markdown, for a pull request.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Only this figure of {figures}; may be given several times."
        ),
    ] = None,
    upto: Annotated[
        int | None, typer.Option("--round", min=1, metavar="N", help="The state after round N.")
    ] = None,
    race: common.RaceNumber = None,
    theme: common.Theme = "light",
    width: common.Width = "double",
    font: Annotated[
        str, typer.Option(help="Of figures: sans, serif, or an installed one.")
    ] = "sans",
    font_size: Annotated[float, typer.Option(help="Of figures, in points.")] = 8.0,
    time_axis: Annotated[
        str, typer.Option(help="Of figures: log, linear, or grid (the spacing of the times).")
    ] = "grid",
    model: Annotated[
        str | None, typer.Option(help="Use the newest posterior of this model.")
    ] = None,
    align: Annotated[
        str,
        typer.Option(
            help="Of several stores: compare at the same times (units) or share of the budget "
            "(share); auto takes times where axes are the same and grids overlap."
        ),
    ] = "auto",
    force: common.Force = False,
    json: common.Json = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> None:
    """Write a report: a page that opens anywhere, figures for a paper, or text for a log."""
    import polarbear

    if text + markdown + json > 1:
        raise ReportError("--text, --markdown and --json each print the report: choose one")
    asked: dict[str, Any] = {
        "png": png,
        "pdf": pdf,
        "svg": svg,
        "csv": csv,
        "only": only,
        "model": model,
        "theme": theme,
        "width": width,
        "font": font,
        "font_size": font_size,
        "time_axis": time_axis,
        "force": force,
    }
    named = any((html, png, pdf, svg, csv, latex, text, markdown, json, only))
    made: Report | ReportOfStores
    if len(stores) > 1:
        from polarbear.api.store_comparison import page_of

        _check_for_several(upto, race, latex)
        html = html if named else page_of(stores)
        made = polarbear.compare_stores(*stores, html=html, align=align, **asked)
    else:
        opened = polarbear.open(stores[0], race=race)
        html = html if named else opened.page
        made = opened.report(html, round=upto, slim=slim, latex=latex, at=at, **asked)
    _show(made, text, markdown, json, quiet)


def _check_for_several(upto: int | None, race: int | None, latex: Path | None) -> None:
    for option, value in (("--round", upto), ("--race", race), ("--latex", latex)):
        if value is not None:
            raise ReportError(f"{option} works for a single store only")


def _show(
    made: Report | ReportOfStores, text: bool, markdown: bool, json: bool, quiet: bool
) -> None:
    if text or markdown:
        typer.echo(made.markdown() if markdown else made.text(), nl=False)
    elif json:
        common.print_json(made.to_dict())
    else:
        for line in made.answer:
            common.show(line)
    for path in made.written:
        common.note(f"wrote {path}", quiet)
    if not (text or markdown):
        for warning in made.warnings:
            common.note(f"note: {warning}", quiet)
