"""`polarbear verify`: check the files of a store."""

from __future__ import annotations

import typer

from polarbear.cli import common
from polarbear.wording import counted


def verify(
    store: common.StoreFolder,
    json: common.Json = False,
    debug: common.Debug = False,
) -> None:
    """Read every file of a store, and check that none is damaged or missing.

    Exit code 1, with the names of the damaged files, if any is. Nothing is changed.
    """
    from polarbear.api.integrity import verify as verify_

    told = verify_(store)
    if json:
        common.print_json(told)
    elif told.sound:
        typer.echo(f"{told.store} is sound: {counted(told.files, 'file')} read")
    else:
        damaged = counted(len(told.damaged), "file is", "files are")
        typer.echo(f"{told.store}: {damaged} damaged, missing or not listed, of {told.files} read")
        for damage in told.damaged:
            typer.echo(f"  {damage.file}: {damage.why}")
        if told.replay_from is not None:
            typer.echo(f"rounds from {told.replay_from} on cannot be vouched for")
        typer.echo(f"`polarbear repair {told.store}` goes back to what can be vouched for")
    if not told.sound:
        raise typer.Exit(1)
