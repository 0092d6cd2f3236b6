"""`polarbear forget`: set runs aside, or take them back."""

from __future__ import annotations

from typing import Annotated

import typer

from polarbear.cli import common
from polarbear.wording import counted


def forget(
    store: common.StoreFolder,
    algorithm: Annotated[str, typer.Option(metavar="NAME", help="Whose runs.")],
    failed: Annotated[bool, typer.Option("--failed", help="Only those that failed.")] = False,
    restore: Annotated[
        bool, typer.Option("--restore", help="Take back what was set aside so.")
    ] = False,
    json: common.Json = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> None:
    """Set runs of an algorithm aside: they stay in the store, but count no more.

    A race that rests on them is kept as it was; `polarbear race` then runs what is missing, and
    takes its decisions anew.
    """
    import polarbear

    done = polarbear.open(store).forget(algorithm, failed=failed, restore=restore)
    if json:
        common.print_json(done)
        return
    if restore:
        rest = f", {done.superseded} of which do not count: they were run again since"
        typer.echo(
            f"{counted(done.restored, 'run')} of {done.algorithm} taken back"
            f"{rest if done.superseded else ''}"
        )
    else:
        typer.echo(f"{counted(done.set_aside, 'run')} of {done.algorithm} set aside")
    for note in done.notes:
        common.note(f"note: {note}", quiet)
