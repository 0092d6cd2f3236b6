"""`polarbear rename`: rename an algorithm throughout a store."""

from __future__ import annotations

from typing import Annotated

import typer

from polarbear.cli import common
from polarbear.wording import counted


def rename(
    store: common.StoreFolder,
    old: Annotated[str, typer.Argument(metavar="OLD", help="The current name.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The new name.")],
    json: common.Json = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> None:
    """Rename an algorithm throughout a store: in runs, rounds and posteriors.

    Nothing is run or decided again. The seeds of its further runs still derive from the old name,
    so that a race continues unchanged.
    """
    import polarbear

    done = polarbear.open(store).rename(old, new)
    if json:
        common.print_json(done)
        return
    typer.echo(f"renamed {done.old} to {done.new} in {done.store}: {counted(done.runs, 'run')}")
    common.note("rename it in the configuration, too", quiet)
