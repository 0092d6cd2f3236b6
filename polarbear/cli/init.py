"""`polarbear init`: write a configuration to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from polarbear.cli import common


def init(
    file: Annotated[Path, typer.Argument(help="Where to write it.")] = Path("polarbear.yaml"),
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    debug: common.Debug = False,
) -> None:
    """Write a commented configuration.

    It shows every option with its default, and runs as it is. Beside it goes the schema that its
    first line refers to, by which YAML editors complete and check it.
    """
    import json

    from polarbear.config.schema import NAME, config_schema
    from polarbear.config.template import commented_config
    from polarbear.errors import ConfigError

    if file.exists() and not force:
        raise ConfigError(f"{file} exists; --force replaces it")
    try:
        file.write_text(commented_config(), encoding="utf-8")
        schema = file.with_name(NAME)
        if force or not schema.exists():
            schema.write_text(json.dumps(config_schema(), indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write {file}: {error.strerror}") from None
    common.note(f"wrote {file}; polarbear race {file} races what is in it")
