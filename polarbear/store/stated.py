"""What a store states about itself, held against what PolarBear would have written there.

A store may come from somebody else, or from a damaged disk: nothing in it is believed before it has
been looked at.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polarbear.errors import ConfigError
from polarbear.settings.grid import Budget
from polarbear.settings.names import flaw_in_name
from polarbear.settings.options import Source, validate
from polarbear.store import tables
from polarbear.store.early import EARLY
from polarbear.wording import visible

FOLDERS = ("", *tables.ALL, EARLY, "posteriors", "rounds")
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


def link_out(store: Path) -> Path | None:
    """A symbolic link in a store that leads out of it, if there is one.

    Whoever wrote through it would change a file of the reader's, who never named it.
    """
    inside = store.resolve()
    for folder in FOLDERS:
        try:
            entries = list(os.scandir(store / folder))
        except OSError:  # not there, or no folder; who needs it will say so
            continue
        for entry in entries:
            if entry.is_symlink() and not Path(entry.path).resolve().is_relative_to(inside):
                return Path(entry.path)
    return None
