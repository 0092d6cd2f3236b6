"""`polarbear rename`: call an algorithm otherwise in all of a store."""

from __future__ import annotations

from typing import Annotated

import typer

from polarbear.cli import common
from polarbear.wording import counted


def rename(
    store: common.StoreFolder,
    old: Annotated[str, typer.Argument(metavar="OLD", help="What the algorithm is called.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="What it shall be called.")],
    json: common.Json = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> None:
    """Call an algorithm otherwise: in its runs, in every round of every race, in posteriors.

    Nothing is run or decided again. Seeds of its further runs go on deriving from the old name, so
    that a race goes on just as it would have.
    """
    import polarbear

    done = polarbear.open(store).rename(old, new)
    if json:
        common.print_json(done)
        return
    typer.echo(f"{done.old} is {done.new} in {done.store}: {counted(done.runs, 'run')}")
    common.note("give it the new name in the configuration, too", quiet)
