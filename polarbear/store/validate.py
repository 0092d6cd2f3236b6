"""Checks of a store that may come from another person or from a damaged disk."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from polarbear.errors import ConfigError, StoreError
from polarbear.settings.grid import Budget
from polarbear.settings.names import flaw_in_name
from polarbear.settings.options import Source, validate
from polarbear.store import tables
from polarbear.wording import visible

FOLDERS = (*tables.ALL, "posteriors", "rounds", "races")  # folders with data
GROUPS = ("algorithms", "instances", "budget")  # parts of a configuration that every reader needs


def flaw_in_config(config: object) -> str:
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
    """Refuse a store with a link to outside, or with a pipe, socket or device.

    Writing through a link would change a file that the user never named; reading from a pipe might
    never end.
    """
    inside = store.resolve()
    for entry in _entries(store):
        if entry.is_symlink():
            if not Path(entry.path).resolve().is_relative_to(inside):
                raise StoreError(
                    f"{entry.path} is a link that leads out of the store, which PolarBear never "
                    "writes; replace it by the file it points to, if you know where it came from"
                )
        elif not entry.is_file() and not entry.is_dir():
            raise StoreError(
                f"{entry.path} is neither a file nor a folder, which PolarBear never writes; "
                "remove it, if you know where it came from"
            )


def _entries(store: Path) -> Iterator[os.DirEntry[str]]:
    """The entries of a store and of its data folders, at any depth."""
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
    except OSError:  # missing, or not a folder
        return []
