"""`polarbear report`: what a store has to tell, as a page, figures, text or Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from polarbear.cli import common

Folder = Path | None


def report(
    store: common.StoreFolder,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the page to this file; without any output named: STORE.html, beside it.",
        ),
    ] = None,
    png: Annotated[Folder, typer.Option(metavar="DIR", help="Draw figures as PNG.")] = None,
    pdf: Annotated[Folder, typer.Option(metavar="DIR", help="Draw figures as PDF.")] = None,
    svg: Annotated[Folder, typer.Option(metavar="DIR", help="Draw figures as SVG.")] = None,
    csv: Annotated[Folder, typer.Option(metavar="DIR", help="Write the figures' data.")] = None,
    slim: Annotated[
        bool,
        typer.Option("--slim", help="A small page without scripts: words and drawings."),
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
        int | None, typer.Option("--round", min=1, metavar="N", help="As it stood after round N.")
    ] = None,
    race: common.RaceNumber = None,
    theme: Annotated[str, typer.Option(help="Of figures: light, dark or print.")] = "light",
    width: Annotated[
        str, typer.Option(help="Of figures: single, double (columns of a paper), 12cm or 5in.")
    ] = "double",
    font_size: Annotated[float, typer.Option(help="Of figures, in points.")] = 8.0,
    time_axis: Annotated[
        str, typer.Option(help="Of figures: log, linear, or grid (as times are spaced).")
    ] = "grid",
    model: Annotated[
        str | None, typer.Option(help="Use the newest posterior of this model.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
    json: common.Json = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> None:
    """Write a report: a page that opens anywhere, figures for a paper, or text for a log."""
    import polarbear
    from polarbear.errors import ReportError

    if text + markdown + json > 1:
        raise ReportError("--text, --markdown and --json each print a report: give one of them")
    opened = polarbear.open(store, race=race)
    if not any((html, png, pdf, svg, csv, text, markdown, only)):
        html = opened.page
    made = opened.report(
        html,
        png=png,
        pdf=pdf,
        svg=svg,
        csv=csv,
        only=only,
        round=upto,
        model=model,
        theme=theme,
        width=width,
        font_size=font_size,
        time_axis=time_axis,
        force=force,
        slim=slim,
    )
    if text or markdown:
        typer.echo(made.markdown() if markdown else made.text(), nl=False)
    elif json:
        common.print_json(made.to_dict())
    else:
        for line in made.answer:
            common.say(line)
    for path in made.written:
        common.note(f"wrote {path}", quiet)
    if not (text or markdown):
        for warning in made.warnings:
            common.note(f"note: {warning}", quiet)
