"""`polarbear merge`: the runs of several stores in one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polarbear.cli import common
from polarbear.wording import counted, joined, noun

if TYPE_CHECKING:
    from polarbear.api.merging import Merged


def merge(
    stores: Annotated[
        list[Path], typer.Argument(metavar="STORE STORE...", help="Stores of one experiment.")
    ],
    into: Annotated[
        Path, typer.Option("--into", metavar="DIR", help="The new store; it must not be there yet.")
    ],
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            metavar="NAME",
            help="Count its runs alike, whatever made them.",
        ),
    ] = None,
    mix_hosts: Annotated[
        bool, typer.Option("--mix-hosts", help="Mix seconds of different machines.")
    ] = False,
    first_wins: Annotated[
        bool,
        typer.Option(
            "--first-wins",
            help="Where a run came out differently, take that of the store named first.",
        ),
    ] = False,
    json: common.Json = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> None:
    """Unite the runs of several stores of one experiment in a new one.

    The stores are left as they are. Where one of them has a race, its decisions are taken anew from
    all runs, with the rules of the store named first; `polarbear race CONFIG --store DIR` goes on.
    """
    import polarbear

    message = "nothing was merged, and the stores are as they were"
    with common.interruptible(message), common.announcing_compilation(quiet):
        done = polarbear.merge(
            stores, into, keep=keep or (), mix_hosts=mix_hosts, first_wins=first_wins
        ).result
    if json:
        common.print_json(done)
    else:
        _show(done)  # type: ignore[arg-type]


def _show(done: Merged) -> None:
    twice = f", {done.in_several} of which {noun(done.in_several, 'was', 'were')} in several"
    typer.echo(
        f"{counted(done.runs, 'run')} of {counted(len(done.algorithms), 'algorithm')} on "
        f"{counted(done.instances, 'instance')} from {joined(done.merged)} in {done.store}"
        f"{twice if done.in_several else ''}"
    )
    if done.stopped_because is not None:
        typer.echo(
            f"{counted(done.rounds, 'round')} decided anew; ended because {done.stopped_because}"
        )
    for note in done.notes:
        typer.echo(f"note: {note}")
