"""`polarbear export`: write what a store holds as others read it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from polarbear.cli import common


def _known(name: str) -> str:
    from polarbear.api.exporting import refusal

    refused = refusal(name)
    if refused:
        raise typer.BadParameter(refused)
    return name


def export(
    store: common.StoreFolder,
    format: Annotated[
        str, typer.Option(metavar="NAME", callback=_known, help="What to write: {exports}.")
    ],
    to: Annotated[Path, typer.Option("--to", metavar="PLACE", help="The file or folder to write.")],
    algorithms: Annotated[
        str | None, typer.Option(metavar="A,B,C", help="Only these; by default all.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Any option that a format has."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
    json: common.Json = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> None:
    """Write a store's runs, rankings or posterior in a format that others read.

    {exports.about}
    """
    import polarbear

    told = polarbear.open(store).export(
        format,
        to,
        algorithms=common.names(algorithms),
        force=force,
        **common.settings(set_ or [], {}),
    )
    if json:
        common.print_json(told)
    else:
        typer.echo(f"{told.what} written to {told.to}")
    for line in told.notes:
        common.note(f"note: {line}", quiet)
