"""`polarbear report`: report on stores as a page, figures, text or Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer import Argument, Option

import polarbear
from polarbear import api
from polarbear.cli import command_options as common
from polarbear.cli import output
from polarbear.errors import ReportError

if TYPE_CHECKING:
    from polarbear.api.reporting import Report, ReportOfStores


def report(
    stores: list[Path] = Argument(
        ...,
        metavar="STORE...",
        help="The folder of a store; several stores are compared with the first.",
    ),
    html: Path | None = Option(
        None,
        metavar="FILE",
        help="Write the page to this file; without any output option: STORE.html next to it.",
    ),
    png: Path | None = Option(None, metavar="DIR", help="Draw figures as PNG."),
    pdf: Path | None = Option(None, metavar="DIR", help="Draw figures as PDF."),
    svg: Path | None = Option(None, metavar="DIR", help="Draw figures as SVG."),
    csv: Path | None = Option(None, metavar="DIR", help="Write the figures' data."),
    latex: Path | None = Option(
        None,
        metavar="DIR",
        help="LaTeX for a paper: booktabs tables, figures as PDF, captions.",
    ),
    at: float | None = Option(
        None, help="The budget of the figure one-budget; by default the last."
    ),
    slim: bool = Option(False, "--slim", help="A small page without scripts."),
    text: bool = Option(False, "--text", help="Print the report as plain text."),
    markdown: bool = Option(False, "--markdown", help="Print it as Markdown, for a pull request."),
    only: list[str] | None = Option(
        None, metavar="NAME", help="Only this figure of {figures}; may be given several times."
    ),
    upto: int | None = Option(None, "--round", min=1, metavar="N", help="The state after round N."),
    race: common.RaceNumber = None,
    theme: common.Theme = "light",
    width: common.Width = "double",
    font: str = Option("sans", help="Of figures: sans, serif, or an installed one."),
    font_size: float = Option(8.0, help="Of figures, in points."),
    time_axis: str = Option(
        "grid", help="Of figures: log, linear, or grid (the spacing of the times)."
    ),
    model: common.Model = None,
    align: str = Option(
        "auto",
        help="Of several stores: compare at the same times (units) or share of the budget "
        "(share); auto takes times where axes are the same and grids overlap.",
    ),
    force: common.Force = False,
    json: common.Json = False,
) -> None:
    """Write a report: a page that opens anywhere, figures for a paper, or text for a log."""
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
        for option, value in (("--round", upto), ("--race", race), ("--latex", latex)):
            if value is not None:
                raise ReportError(f"{option} works for a single store only")
        html = html if named else api.reporting.page_of(stores)
        made = polarbear.compare_stores(*stores, html=html, align=align, **asked)
    else:
        opened = polarbear.open(stores[0], race=race)
        html = html if named else opened.page
        made = opened.report(html, round=upto, slim=slim, latex=latex, at=at, **asked)
    if text or markdown:
        typer.echo(made.markdown() if markdown else made.text(), nl=False)
    else:
        output.result(made, json, lambda report: output.show_lines(report.answer))
        output.notes(made.warnings)
    output.wrote(*made.written)
