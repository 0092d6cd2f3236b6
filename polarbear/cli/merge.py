"""`polarbear merge`: unite the runs of several stores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polarbear.cli import common
from polarbear.wording import counted, joined, noun

if TYPE_CHECKING:
    from polarbear.api.merge_stores import Merged


def merge(
    stores: Annotated[
        list[Path], typer.Argument(metavar="STORE STORE...", help="Stores of one experiment.")
    ],
    into: Annotated[
        Path, typer.Option("--into", metavar="DIR", help="The new store; it must not exist.")
    ],
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            metavar="NAME",
            help="Unite its runs although different code made them.",
        ),
    ] = None,
    mix_hosts: common.MixHosts = False,
    first_wins: Annotated[
        bool,
        typer.Option(
            "--first-wins",
            help="Where two runs differ, take that of the first store.",
        ),
    ] = False,
    json: common.Json = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> None:
    """Unite the runs of several stores of one experiment in a new one.

    The stores are not changed. If one of them has a race, it is decided again from all runs, with
    the rules of the first store; `polarbear race CONFIG --store DIR` continues it.
    """
    from polarbear.api.merge_stores import Merged
    from polarbear.api.merge_stores import merge as merge_

    message = "nothing was merged, and the stores are unchanged"
    with common.interruptible(message), common.announcing_compilation(quiet):
        done = merge_(
            stores, into, keep=keep or (), mix_hosts=mix_hosts, first_wins=first_wins
        ).result
    assert isinstance(done, Merged)
    if json:
        common.print_json(done)
    else:
        _show(done)


def _show(done: Merged) -> None:
    twice = f", {done.in_several} of which {noun(done.in_several, 'was', 'were')} in several"
    typer.echo(
        f"{counted(done.runs, 'run')} of {counted(len(done.algorithms), 'algorithm')} on "
        f"{counted(done.instances, 'instance')} from {joined(done.merged)} in {done.store}"
        f"{twice if done.in_several else ''}"
    )
    if done.stopped_because is not None:
        typer.echo(
            f"{counted(done.rounds, 'round')} decided again; ended because {done.stopped_because}"
        )
    for note in done.notes:
        typer.echo(f"note: {note}")
