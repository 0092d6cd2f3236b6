"""`polarbear init`: write a configuration to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from polarbear.cli import common


def init(
    file: Annotated[Path, typer.Argument(help="The file to write.")] = Path("polarbear.yaml"),
    force: common.Force = False,
    debug: common.Debug = False,
) -> None:
    """Write a commented configuration.

    It shows every option with its default, and can be raced at once. The schema that its first line
    refers to is written next to it: YAML editors complete and check by it.
    """
    from polarbear.api.configurations import write_template

    write_template(file, force)
    common.note(f"wrote {file}; next: polarbear race {file}")
