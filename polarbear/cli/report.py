"""`polarbear report`: what a store has to tell, as a page, figures, text or Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polarbear.cli import common

if TYPE_CHECKING:
    from polarbear.report.material import Material

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
    text: Annotated[bool, typer.Option("--text", help="Print the report as plain text.")] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print it as Markdown, for a pull request.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this figure; may be given several times."),
    ] = None,
    upto: Annotated[
        int | None, typer.Option("--round", min=1, metavar="N", help="As it stood after round N.")
    ] = None,
    theme: Annotated[str, typer.Option(help="Of figures: light, dark or print.")] = "light",
    width: Annotated[
        str, typer.Option(help="Of figures: single, double (columns of a paper), 12cm or 5in.")
    ] = "double",
    font_size: Annotated[
        float | None, typer.Option(help="Of figures, in points; by default 8, or 7 if narrow.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Use the newest posterior of this model.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
    json: common.Json = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> None:
    """Write a report: a page that opens anywhere, figures for a paper, or text for a log."""
    from polarbear.errors import ReportError
    from polarbear.report.material import gather
    from polarbear.report.story import tell
    from polarbear.store import Store

    if text and markdown or (json and (text or markdown)):
        raise ReportError("--text, --markdown and --json each print a report: give one of them")
    material = gather(Store.open(store), upto, model)
    story = tell(material)
    folders = {"png": png, "pdf": pdf, "svg": svg, "csv": csv}
    wanted = {ending: folder for ending, folder in folders.items() if folder is not None}
    if html is None and not wanted and not text and not markdown and not json:
        html = _beside(store)
    written = _figures(material, wanted, only, theme, width, font_size, force)
    if html is not None:
        from polarbear.report.page import write_page

        write_page(material, html, force)
        written.append(html)
    if text or markdown:
        _print(material, markdown)
    elif json:
        common.print_json(_facts(material, written))
    else:
        for line in story.answer:
            typer.echo(line)
    for path in written:
        common.note(f"wrote {path}", quiet)
    for warning in story.warnings:
        common.note(f"note: {warning}", quiet)
