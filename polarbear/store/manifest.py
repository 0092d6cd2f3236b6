"""``polarbear.json``: makes a folder a store, and lists its files with their checksums."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from polarbear import __version__
from polarbear.errors import ConfigError, NotAStoreError, StoreError, StoreVersionError
from polarbear.settings.grid import Budget
from polarbear.settings.names import flaw_in_name
from polarbear.settings.options import Source, describe, validate
from polarbear.store import file_io, tables
from polarbear.wording import visible

if TYPE_CHECKING:
    from polarbear.config import PlainConfig

FORMAT = 2
NAME = "polarbear.json"
FOLDERS = (*tables.ALL, "posteriors", "rounds", "races")  # folders with data
DAMAGED = "damaged"  # the folder of files that `repair` has moved
GROUPS = ("algorithms", "instances", "budget")  # parts of a configuration that every reader needs


@dataclass(frozen=True)
class Manifest:
    """The content of ``polarbear.json``.

    ``files`` has the checksum of each file by its name, in the order in which they were added.
    ``obsolete`` are files that the last change has replaced, and that may still have to be removed.
    ``config`` is None in a store that lost it and waits for the command that made it.
    """

    created: str
    config: PlainConfig | None
    files: Mapping[str, str] = field(default_factory=dict)
    obsolete: tuple[str, ...] = ()
    tool: str = __version__
    format: int = FORMAT

    @property
    def config_hash(self) -> str:
        return hashlib.sha256(json.dumps(self.config, sort_keys=True).encode()).hexdigest()

    def to_bytes(self) -> bytes:
        facts = {
            "format": self.format,
            "tool": __version__,
            "created": self.created,
            "config_hash": self.config_hash,
            "config": self.config,
            "files": dict(self.files),
            "obsolete": list(self.obsolete),
        }
        return file_io.to_json(facts, indent=2)


def new(config: PlainConfig | None, listed: Mapping[str, str] | None = None) -> Manifest:
    """A manifest made now."""
    return Manifest(datetime.now(UTC).isoformat(timespec="seconds"), config, listed or {})


def load(path: Path) -> Manifest:
    """The manifest of a store, or an error that says what the folder is instead."""
    file = path / NAME
    try:
        facts = file_io.from_json(file, file_io.read(file))
    except (FileNotFoundError, NotADirectoryError):
        if _has_parts(path):
            raise file_io.damaged(file, file_io.MISSING) from None
        what = "is not a PolarBear store" if path.exists() else "does not exist"
        raise NotAStoreError(
            f"{path} {what}; `polarbear run CONFIG --store {path}` makes one"
        ) from None
    version = facts.get("format")
    if version != FORMAT:
        raise StoreVersionError(
            f"{path} has format {describe(version)}, written by PolarBear "
            f"{describe(facts.get('tool'))}; PolarBear {__version__} reads format {FORMAT}: use "
            "the version that wrote it"
        )
    flaw = _flaw(facts)
    if flaw:
        raise file_io.damaged(file, flaw)
    made = (facts["created"], facts["config"], facts["files"], tuple(facts["obsolete"]))
    return Manifest(*made, tool=facts["tool"])


def _flaw(facts: file_io.JsonObject) -> str:
    if not isinstance(facts.get("created"), str) or not isinstance(facts.get("tool"), str):
        return "it does not contain when and by which version it was made"
    listed, obsolete = facts.get("files"), facts.get("obsolete")
    if not isinstance(listed, dict) or not isinstance(obsolete, list):
        return "it does not list the files of the store"
    if not all(isinstance(one, str) and _inside(one) for one in [*listed, *obsolete]):
        return "it lists files outside of the store"
    if "config" not in facts:
        return "it lacks the configuration"
    return "" if facts["config"] is None else flaw_in_config(facts["config"])


def _inside(name: str) -> bool:
    """Whether a listed name can be that of a file of a store."""
    folder, *below = name.split("/")
    return ".." not in below and (not below or folder in FOLDERS)


def is_store(path: Path) -> bool:
    """Whether a folder is a store, of any version."""
    return (path / NAME).exists()


def has_config(path: Path) -> bool:
    """Whether a folder is a store that can be opened or says why not; False for a new one."""
    try:
        return is_store(path) and load(path).config is not None
    except StoreError:
        return True


def config_of(path: Path, manifest: Manifest) -> PlainConfig:
    """The configuration of a store, or an error that says how to get it back."""
    if manifest.config is None:
        raise StoreError(
            f"{path} has lost its configuration; give the `race`, `run` or `import` command that "
            f"made it again, with --store {path}: no stored run is run again"
        )
    return manifest.config


def check_free(path: Path) -> None:
    """Refuse a folder that holds anything but a store, or the remains of a killed creation."""
    free = not path.exists() or (path.is_dir() and all(map(_left_by_creation, path.iterdir())))
    if not free and not is_store(path):  # in this order: another process may just be creating it
        if _has_parts(path):
            raise file_io.damaged(path / NAME, file_io.MISSING)
        raise NotAStoreError(
            f"{path} exists and is not a PolarBear store; choose another folder with --store"
        )


def _has_parts(path: Path) -> bool:
    """Whether a folder holds parts of tables, with or without a manifest."""
    return any(any((path / name).glob("part-*.parquet")) for name in tables.ALL)


def _left_by_creation(path: Path) -> bool:
    if path.name in tables.ALL and path.is_dir():
        return not any(path.iterdir())
    return path.name == "lock" or path.name.startswith(file_io.ASIDE)


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
    below = (path for folder in (*FOLDERS, DAMAGED) for path in (store / folder).rglob("*"))
    for path in chain(store.glob("*"), below):
        if path.is_symlink():
            if not path.resolve().is_relative_to(inside):
                raise StoreError(
                    f"{path} is a link that leads out of the store, which PolarBear never "
                    "writes; replace it by the file it points to, if you know where it came from"
                )
        elif not path.is_file() and not path.is_dir():
            raise StoreError(
                f"{path} is neither a file nor a folder, which PolarBear never writes; "
                "remove it, if you know where it came from"
            )
