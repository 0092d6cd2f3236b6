"""`polarbear export`: write the contents of a store in the format of another tool."""

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
        str, typer.Option(metavar="NAME", callback=_known, help="The format: {exports}.")
    ],
    to: Annotated[Path, typer.Option("--to", metavar="PLACE", help="The file or folder to write.")],
    algorithms: common.Algorithms = None,
    set_: common.Settings = None,
    force: common.Force = False,
    json: common.Json = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> None:
    """Write a store's runs, rankings or posterior in the format of another tool.

    {exports.about}
    """
    import polarbear

    told = polarbear.open(store).export(
        format,
        to,
        algorithms=common.names(algorithms),
        force=force,
        **common.settings(set_, {}),
    )
    if json:
        common.print_json(told)
    else:
        typer.echo(f"{told.what} written to {told.to}")
    for line in told.notes:
        common.note(f"note: {line}", quiet)
