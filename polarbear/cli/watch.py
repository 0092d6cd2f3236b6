"""`polarbear watch`: serve the page of a store while a race is running."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

from polarbear.cli import common


def watch(
    store: common.StoreFolder,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; by default any free one.")
    ] = 0,
    debug: common.Debug = False,
) -> None:
    """Serve the page of a store to browsers on this machine.

    While a race in another terminal writes to the store, an open page follows it. Other machines
    have no access; nothing is run or written. Ctrl-C ends it.
    """
    from polarbear.api.page_server import Watch

    served = Watch(store, port)
    typer.echo(served.address)
    with suppress(KeyboardInterrupt):
        served.serve()
