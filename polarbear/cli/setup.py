"""`polarbear init`, `schema` and `doctor`: the commands that prepare a race."""

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polarbear.cli import output
from polarbear.cli.application import app
from polarbear.cli.parameters import AsJson, Debug, Force, Quiet, Scheduler

if TYPE_CHECKING:
    from polarbear.api.environment import Diagnosis, Finding

MISSING = 1  # the exit code if something is missing


@app.command()
def init(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")] = Path(
        "polarbear.yaml"
    ),
    force: Force = False,
    with_all: Annotated[
        bool, typer.Option("--all", help="Write every option with its default, and comments.")
    ] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a configuration to begin with.

    FILE is polarbear.yaml by default, and can be raced at once. The schema that its first line
    refers to is written next to it, for YAML editors, which complete and check options by it.
    """
    from polarbear.api.configurations import write_template

    write_template(file, force, with_all)
    output.note(f"wrote {file}; next: polarbear race {shlex.quote(str(file))}")


@app.command()
def schema(quiet: Quiet = False, debug: Debug = False) -> None:
    """Print the JSON Schema of a configuration.

    YAML editors complete and check a file by it if its first line refers to it, as in the files of
    `polarbear init`: `# yaml-language-server: $schema=polarbear.schema.json`.
    """
    from polarbear.api import configurations

    output.print_json(configurations.schema())


@app.command()
def doctor(
    scheduler: Scheduler = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Look for missing software, and print remedies.

    Software that only an option needs (the stan engine, a suite of ioh, a method, many machines) is
    listed by that option. With --scheduler, its workers are checked, too. Exit code 1 if something
    is missing that every race needs, or that the workers lack.
    """
    from polarbear.api.environment import diagnose

    diagnosis = diagnose(scheduler)
    output.result(diagnosis, as_json, _show_diagnosis)
    exit_if_missing(diagnosis.needed)


def _show_diagnosis(diagnosis: "Diagnosis") -> None:
    show_findings(diagnosis.needed)
    for purpose, findings in diagnosis.optional.items():
        output.show(f"\nfor {purpose}")
        show_findings(findings)


def show_findings(findings: "Iterable[Finding]") -> None:
    """Print each finding, and its remedy below it."""
    for finding in findings:
        output.show(f"{finding.what + ':':20}{finding.found}")
        if finding.remedy:
            output.show(f"{'':20}-> {finding.remedy}")


def exit_if_missing(findings: "Iterable[Finding]") -> None:
    """End with exit code 1 if a finding has a remedy."""
    if any(finding.remedy for finding in findings):
        raise typer.Exit(MISSING)
