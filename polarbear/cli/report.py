"""`polarbear report`: what a store has to tell, as a page, figures, text or Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polarbear.cli import common

if TYPE_CHECKING:
    from polarbear.report.drawing.style import Style
    from polarbear.report.material import Material
    from polarbear.report.story import Story

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
        typer.Option(
            metavar="NAME", help="Only this figure of {figures}; may be given several times."
        ),
    ] = None,
    upto: Annotated[
        int | None, typer.Option("--round", min=1, metavar="N", help="As it stood after round N.")
    ] = None,
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
    from polarbear.errors import ReportError
    from polarbear.report.material import gather
    from polarbear.report.story import tell
    from polarbear.store import Store

    if text + markdown + json > 1:
        raise ReportError("--text, --markdown and --json each print a report: give one of them")
    material = gather(Store.open(store), upto, model)
    folders = {"png": png, "pdf": pdf, "svg": svg, "csv": csv}
    wanted = {ending: folder for ending, folder in folders.items() if folder is not None}
    if only and not wanted:
        raise ReportError("--only picks figures: say where to with --png, --pdf, --svg or --csv")
    if html is None and not (wanted or text or markdown):
        html = store.resolve().with_name(f"{store.resolve().name}.html")
    style = _style(theme=theme, width=width, font_size=font_size, time_axis=time_axis)
    written = _write(material, html, wanted, only, style, force)
    story = tell(material)
    if text or markdown:
        typer.echo(_told(material, story, markdown), nl=False)
    elif json:
        common.print_json(_facts(material, story, written))
    else:
        for line in story.answer:
            typer.echo(line)
    for path in written:
        common.note(f"wrote {path}", quiet)
    if not (text or markdown):
        for warning in story.warnings:
            common.note(f"note: {warning}", quiet)


def _style(theme: str, width: str, font_size: float, time_axis: str) -> Style:
    from polarbear.errors import ReportError
    from polarbear.report.drawing.style import Style
    from polarbear.settings.options import Source, unknown, validate

    axes = {"log": True, "linear": False, "grid": None}
    if time_axis not in axes:
        raise ReportError(unknown("time axis", time_axis, axes))
    options = {"theme": theme, "width": width, "font_size": font_size, "log_time": axes[time_axis]}
    return validate(Style, options, Source("figures"))


def _write(
    material: Material,
    html: Path | None,
    wanted: dict[str, Path],
    only: list[str] | None,
    style: Style,
    force: bool,
) -> list[Path]:
    """All files asked for."""
    from polarbear.report.drawing.files import check_free, write_figures
    from polarbear.report.drawing.style import FORMATS
    from polarbear.report.page import write_page

    if html is not None and not force:
        check_free([html])
    written = []
    for folder in dict.fromkeys(wanted.values()):
        endings = [ending for ending, chosen in wanted.items() if chosen == folder]
        formats = [known for known in FORMATS if known in endings]
        written += write_figures(material, folder, formats, only, style, "csv" in endings, force)
    if html is not None:
        write_page(material, html, force)
        written.append(html)
    return written


def _told(material: Material, story: Story, markdown: bool) -> str:
    from polarbear.report.prose.markdown import as_markdown
    from polarbear.report.prose.outline import outline
    from polarbear.report.prose.text import as_text

    blocks = outline(material, story)
    return as_markdown(blocks) if markdown else as_text(blocks)


def _facts(material: Material, story: Story, written: list[Path]) -> dict[str, Any]:
    from dataclasses import asdict

    from polarbear.report.figures import FIGURES

    told = asdict(story)
    return {
        "store": str(material.store.path),
        "written": [str(path) for path in written],
        "answer": list(story.answer),
        "pareto_set": [entry.algorithm for entry in story.members],
        "members": told["members"],
        "out": told["out"],
        "decisions": told["decisions"],
        "settings": [list(pair) for pair in story.settings],
        "warnings": list(story.warnings),
        "figures": {name: figure.missing(material) for name, figure in FIGURES.items()},
    }
