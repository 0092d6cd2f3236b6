"""What a store states about itself, held against what PolarBear would have written there.

A store may come from somebody else, or from a damaged disk: nothing in it is believed before it has
been looked at.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from polarbear.errors import ConfigError, StoreError
from polarbear.settings.grid import Budget
from polarbear.settings.names import flaw_in_name
from polarbear.settings.options import Source, validate
from polarbear.store import tables
from polarbear.store.early import EARLY
from polarbear.wording import visible

FOLDERS = (*tables.ALL, EARLY, "posteriors", "rounds", "races")  # of a store that carry data
GROUPS = ("algorithms", "instances", "budget")  # what every reader needs of a configuration


def flaw_in_config(config: Any) -> str:
    """What is wrong with a stored configuration, or an empty string."""
    if not isinstance(config, Mapping):
        return "it has no configuration"
    for group in GROUPS:
        if not isinstance(config.get(group), Mapping):
            return f"its configuration lacks '{group}'"
    if not isinstance(config["instances"].get("suite"), str):
        return "its configuration names no suite"
    if not isinstance(config.get("seed"), int):
        return "its configuration lacks a seed"
    for name, settings in config["algorithms"].items():
        flaw = flaw_in_name(name)
        if flaw:
            return f"it calls an algorithm '{visible(name[:60])}', which cannot be a name: {flaw}"
        if not isinstance(settings, Mapping):
            return f"it has no settings of '{name}'"
    try:
        validate(Budget, config["budget"], Source("its configuration"), ("budget",))
    except ConfigError as error:
        return str(error)
    return ""


def check_nothing_leads_out(store: Path) -> None:
    """Refuse a store with a link that leads out of it, or with what is neither file nor folder.

    Whoever wrote through a link would change a file of the reader's, who never named it; whoever
    read from a pipe might wait for ever.
    """
    inside = store.resolve()
    for entry in _entries(store):
        if entry.is_symlink():
            if not Path(entry.path).resolve().is_relative_to(inside):
                raise StoreError(
                    f"{entry.path} is a link that leads out of the store, which nothing that "
                    "PolarBear wrote does; replace it by what it stands for, if you know where it "
                    "came from"
                )
        elif not entry.is_file() and not entry.is_dir():
            raise StoreError(
                f"{entry.path} is neither a file nor a folder, which nothing that PolarBear wrote "
                "is; remove it, if you know where it came from"
            )


def _entries(store: Path) -> Iterator[os.DirEntry[str]]:
    """What lies in a store, and whatever lies in its folders, however deep."""
    yield from _in_folder(store)
    waiting = [str(store / folder) for folder in FOLDERS]
    while waiting:
        for entry in _in_folder(waiting.pop()):
            yield entry
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)


def _in_folder(folder: str | Path) -> list[os.DirEntry[str]]:
    try:
        return list(os.scandir(folder))
    except OSError:  # not there, or no folder; who needs it will say so
        return []
