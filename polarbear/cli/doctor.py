"""`polarbear doctor`: checks this machine for software that PolarBear needs."""

from __future__ import annotations

import typer

from polarbear.cli import common
from polarbear.cli.stan import show


def doctor(
    scheduler: common.SchedulerOption = None,
    json: common.Json = False,
    debug: common.Debug = False,
) -> None:
    """Look for missing software, and print remedies.

    Software that only an option needs (the stan engine, a suite of ioh, a method, many machines) is
    listed by that option. With --scheduler, its workers are checked, too. Exit code 1 if something
    is missing that every race needs, or that the workers lack.
    """
    from polarbear.api.environment import diagnose

    found = diagnose(scheduler)
    if json:
        common.print_json(found)
    else:
        show(found.needed)
        for name, findings in found.optional.items():
            typer.echo(f"\nfor {name}")
            show(findings)
    if any(finding.remedy for finding in found.needed):
        raise typer.Exit(1)
