"""`polarbear forget`: set runs of an algorithm aside, or restore them."""

from __future__ import annotations

from typing import Annotated

import typer

from polarbear.cli import common
from polarbear.wording import counted


def forget(
    store: common.StoreFolder,
    algorithm: Annotated[str, typer.Option(metavar="NAME", help="The algorithm.")],
    failed: Annotated[bool, typer.Option("--failed", help="Only those that failed.")] = False,
    restore: Annotated[
        bool, typer.Option("--restore", help="Restore runs that were set aside.")
    ] = False,
    json: common.Json = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> None:
    """Set runs of an algorithm aside: they stay in the store, but do not count.

    A race that used them is kept; `polarbear race` makes missing runs, and decides again.
    """
    import polarbear

    done = polarbear.open(store).forget(algorithm, failed=failed, restore=restore)
    if json:
        common.print_json(done)
        return
    if restore:
        rest = f", {done.superseded} of which do not count, since they were repeated"
        typer.echo(
            f"{counted(done.restored, 'run')} of {done.algorithm} restored"
            f"{rest if done.superseded else ''}"
        )
    else:
        typer.echo(f"{counted(done.set_aside, 'run')} of {done.algorithm} set aside")
    for note in done.notes:
        common.note(f"note: {note}", quiet)
