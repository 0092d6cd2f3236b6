"""``polarbear.json``: what makes a folder a store, and says what its contents mean."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polarbear import __version__
from polarbear.errors import NotAStoreError, StoreError, StoreVersionError
from polarbear.settings.options import describe
from polarbear.store import files, tables
from polarbear.store.stated import check_nothing_leads_out, flaw_in_config

if TYPE_CHECKING:
    from polarbear.config import PlainConfig

FORMAT = 1
NAME = "polarbear.json"


def is_in(path: Path) -> bool:
    """Whether a folder has one."""
    return (path / NAME).exists()


def is_lost(path: Path) -> bool:
    """Whether a folder is a store whose configuration was lost, and waits for it."""
    try:
        facts = files.read_json(path / NAME)
    except (OSError, StoreError):
        return False
    return isinstance(facts, dict) and facts.get("lost") is True and facts.get("format") == FORMAT


def read(path: Path) -> Mapping[str, Any]:
    """The manifest of a store, or an error that says what the folder is instead."""
    file = path / NAME
    check_nothing_leads_out(path)
    try:
        facts = files.read_json(file)
    except (FileNotFoundError, NotADirectoryError):
        if _has_parts(path):
            raise files.damaged(file, "it is not there") from None
        what = "is not a PolarBear store" if path.exists() else "does not exist"
        raise NotAStoreError(
            f"{path} {what}; `polarbear run CONFIG --store {path}` makes one"
        ) from None
    version = facts.get("format") if isinstance(facts, dict) else None
    if version is None:
        raise files.damaged(file, "it is not what PolarBear writes there")
    if version != FORMAT:
        raise StoreVersionError(
            f"{path} has format {describe(version)}, written by PolarBear "
            f"{describe(facts.get('tool'))}; PolarBear {__version__} reads format {FORMAT}: use "
            "the version that wrote it"
        )
    if facts.get("lost"):
        raise StoreError(
            f"{path} has lost its configuration; give the `race`, `run` or `import` command that "
            f"made it again, with --store {path}: nothing that is there is run again"
        )
    if not isinstance(facts.get("config"), dict) or "created" not in facts:
        raise files.damaged(file, "it lacks the configuration")
    flaw = flaw_in_config(facts["config"])
    if flaw:
        raise files.damaged(file, flaw)
    return facts  # type: ignore[no-any-return]


def write(path: Path, config: PlainConfig, created: str | None = None) -> Mapping[str, Any]:
    """Write a store's manifest; gives what it says."""
    text = json.dumps(config, sort_keys=True)
    facts = {
        "format": FORMAT,
        "tool": __version__,
        "created": created or datetime.now(UTC).isoformat(timespec="seconds"),
        "config_hash": hashlib.sha256(text.encode()).hexdigest(),
        "config": config,
    }
    files.write_json(path / NAME, facts, indent=2)
    return facts


def write_lost(path: Path) -> None:
    """Keep the place of a configuration that was lost."""
    files.write_json(path / NAME, {"format": FORMAT, "tool": __version__, "lost": True}, indent=2)


def check_free(path: Path) -> None:
    """Refuse a folder that holds anything but a store, or what a killed creation left of one."""
    free = not path.exists() or (path.is_dir() and all(map(_left_by_creation, path.iterdir())))
    if not free and not is_in(path):  # in this order, since another may be creating it just now
        if _has_parts(path):
            raise files.damaged(path / NAME, "it is not there")
        raise NotAStoreError(
            f"{path} exists and is not a PolarBear store; choose another folder with --store"
        )


def _has_parts(path: Path) -> bool:
    """Whether a folder holds what only stores hold, with or without a manifest."""
    return any(files.part_paths(path / name) for name in tables.ALL)


def _left_by_creation(path: Path) -> bool:
    if path.name in tables.ALL and path.is_dir():
        return not any(path.iterdir())
    return path.name == "lock" or path.name.startswith(files.ASIDE)
