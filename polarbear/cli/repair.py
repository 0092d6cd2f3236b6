"""`polarbear repair`: set damaged files of a store aside."""

from __future__ import annotations

import typer

from polarbear.cli import common
from polarbear.wording import counted


def repair(
    store: common.StoreFolder,
    json: common.Json = False,
    debug: common.Debug = False,
) -> None:
    """Set aside damaged files, and results that depend on them.

    Files are moved into STORE/damaged, never deleted. The next `race` or `run` repeats lost runs
    and decides lost rounds again.
    """
    from polarbear.api.integrity import repair as repair_

    told = repair_(store)
    if json:
        common.print_json(told)
        return
    if not told.moved:
        typer.echo(f"{told.store} is sound: nothing to repair")
        return
    typer.echo(f"{counted(len(told.moved), 'file')} moved into {told.store}/damaged:")
    for moved in told.moved:
        typer.echo(f"  {moved.file}: {moved.why}")
    if told.runs_lost:
        typer.echo(f"{counted(told.runs_lost, 'run')} to be run again")
    if told.rounds_to_replay:
        replayed = counted(told.rounds_to_replay, "round")
        typer.echo(f"{replayed} to be replayed, {told.rounds_kept} kept")
    if told.next:
        typer.echo(f"next: {told.next}")
