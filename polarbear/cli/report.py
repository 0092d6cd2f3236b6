"""`polarbear report`: a page, figures, tables for LaTeX, or text, on one store or several."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import polarbear
from polarbear.api import option_names
from polarbear.api.choices import Alignment, Theme, TimeAxis, defaults
from polarbear.cli import completion, output
from polarbear.cli.application import app
from polarbear.cli.parameters import (
    AsJson,
    CsvFolder,
    Debug,
    Feature,
    FigureTheme,
    FigureWidth,
    Force,
    KeptModel,
    PngFolder,
    Quiet,
    RaceNumber,
    member_of,
)
from polarbear.errors import ReportError

if TYPE_CHECKING:
    from polarbear.api.keyword_options import FigureKeywords
    from polarbear.api.reporting import Report


@app.command()
def report(
    stores: Annotated[list[Path], typer.Argument(metavar="STORE", help="One store or several.")],
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the page to this file; without any output: STORE.html next to it.",
        ),
    ] = None,
    png: PngFolder = None,
    pdf: Annotated[Path | None, typer.Option(metavar="DIR", help="Draw figures as PDF.")] = None,
    svg: Annotated[Path | None, typer.Option(metavar="DIR", help="Draw figures as SVG.")] = None,
    csv: CsvFolder = None,
    latex: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write LaTeX for a paper: booktabs tables, figures as PDF, captions.",
        ),
    ] = None,
    at: Annotated[
        float | None,
        typer.Option(help="The budget of the figure one-budget; by default the last."),
    ] = None,
    by: Feature = None,
    slim: Annotated[bool, typer.Option("--slim", help="A small page without scripts.")] = False,
    text: Annotated[bool, typer.Option("--text", help="Print the report as plain text.")] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print it as Markdown, for a pull request.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            autocompletion=completion.figures,
            help="Draw only this figure. May be given several times. The documentation of the "
            "report lists all figures.",
        ),
    ] = None,
    round: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="The state after round N.")
    ] = None,
    race: RaceNumber = None,
    theme: FigureTheme = Theme.LIGHT,
    width: FigureWidth = defaults.WIDTH,
    font: Annotated[
        str, typer.Option(help="The font of figures: sans, serif, or an installed one.")
    ] = defaults.FONT,
    font_size: Annotated[
        float, typer.Option(help="The size of the font of figures, in points.")
    ] = defaults.FONT_SIZE,
    time_axis: Annotated[
        TimeAxis,
        typer.Option(
            parser=member_of(TimeAxis),
            help="The time axis of figures; 'grid' is spaced like the times of the grid.",
        ),
    ] = TimeAxis.GRID,
    model: KeptModel = None,
    align: Annotated[
        Alignment,
        typer.Option(
            parser=member_of(Alignment),
            help="Compare several stores at the same times (units), or at the same shares of "
            "their budgets (share).",
        ),
    ] = Alignment.AUTO,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a report: a page, figures, LaTeX tables, or text.

    The page is one file that opens without a network. Several stores are compared with the first.
    """
    if text + markdown + as_json > 1:
        raise ReportError("--text, --markdown and --json each print the report: choose one")
    option_names.check_figures(only or (), of_several_stores=len(stores) > 1)
    figure_options: FigureKeywords = {
        "png": png,
        "pdf": pdf,
        "svg": svg,
        "csv": csv,
        "theme": theme,
        "width": width,
        "font": font,
        "font_size": font_size,
        "time_axis": time_axis,
    }
    has_output = any((html, text, markdown, as_json, png, pdf, svg, csv, latex, only))
    if len(stores) > 1:
        from polarbear.api.reporting import page_of

        single = {
            "race": race,
            "round": round,
            "latex": latex,
            "at": at,
            "by": by,
            "slim": slim,
        }
        for name, value in single.items():
            if value:
                raise ReportError(f"--{name} works for a single store only")
        written_report = polarbear.compare_stores(
            *stores,
            html=html if has_output else page_of(stores),
            only=only,
            align=align,
            model=model,
            force=force,
            **figure_options,
        )
    else:
        store = polarbear.open(stores[0], race=race)
        written_report = store.report(
            html if has_output else store.page,
            only=only,
            round=round,
            model=model,
            latex=latex,
            at=at,
            by=by,
            slim=slim,
            force=force,
            **figure_options,
        )
    if text:
        typer.echo(written_report.text(), nl=False)
    elif markdown:
        typer.echo(written_report.markdown(), nl=False)
    else:
        output.result(written_report, as_json, _show_report)
    output.wrote(*written_report.written)


def _show_report(written_report: "Report") -> None:
    output.show(*written_report.answer, *written_report.how_much)
    output.note(*(f"note: {line}" for line in written_report.warnings))
