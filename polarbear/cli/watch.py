"""`polarbear watch`: a store's page in the browser, while a race goes on elsewhere."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

from polarbear.cli import common


def watch(
    store: common.StoreFolder,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Serve on this port; by default any that is free.")
    ] = 0,
    debug: common.Debug = False,
) -> None:
    """Serve a store's page to the browsers of this machine, as it is whenever one looks.

    While a race in another terminal writes to the store, an open page follows it. Nothing leaves
    the machine, and nothing is run or written. Ctrl-C ends it.
    """
    from polarbear.api.watching import Watch

    served = Watch(store, port)
    typer.echo(served.address)
    with suppress(KeyboardInterrupt):
        served.serve()
