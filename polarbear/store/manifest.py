"""``polarbear.json``: makes a folder a store, and lists its files with their checksums."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from polarbear import __version__
from polarbear.config.stored_settings import SettingsOfFile, StoredSettings
from polarbear.errors import NotAStoreError, StoreError, StoreVersionError
from polarbear.settings.options import describe
from polarbear.store import file_io, tables
from polarbear.store.moments import now

FORMAT = 2
NAME = "polarbear.json"
# Folders with data.
FOLDERS = (*tables.ALL, "posteriors", "forests", "rounds", "races", "design")
GIT_ATTRIBUTES = ".gitattributes"
KEEP_LINE_ENDS = b"* -text\n"  # git changes nothing in a file
DAMAGED = "damaged"  # the folder of files that `repair` has moved
NUMBER = "[0-9]{4,6}"  # of a round or a race
_HASH = f"-[0-9a-f]{{{file_io.HASH_DIGITS}}}"
_FILE = re.compile(
    rf"(provenance|judgements)\.json|set-aside{_HASH}\.parquet"
    rf"|({'|'.join(tables.ALL)}|posteriors|forests)/\w+(-\w+)?{_HASH}\.parquet"
    rf"|design/generation-{NUMBER}\.json"
    rf"|(rounds|races/race-{NUMBER})/"
    rf"((round-{NUMBER}|race|entered|more)\.json|(ratings|pairs)-{NUMBER}{_HASH}\.parquet)"
)


def is_listable(name: str) -> bool:
    """Whether a store can have a file of this name."""
    return _FILE.fullmatch(name) is not None


def _checked_file(name: str) -> str:
    if not is_listable(name):
        raise ValueError(f"it lists {describe(name)}, which is not a file of a store")
    return name


FileName = Annotated[str, AfterValidator(_checked_file)]


@dataclass(frozen=True)
class Manifest:
    """The content of ``polarbear.json``.

    ``files`` has the checksum of each file by its name, in the order in which they were added.
    ``obsolete`` are files that the last change has replaced, and that may still have to be removed.
    ``config`` is None in a store that lost it and waits for the command that made it.
    """

    created: str
    config: SettingsOfFile | None
    files: Mapping[FileName, str]
    obsolete: tuple[FileName, ...]
    tool: str
    format: int

    def __post_init__(self) -> None:
        for name, checksum in self.files.items():
            if name.endswith(".parquet") and not name.endswith(f"-{checksum}.parquet"):
                raise ValueError(f"it lists {name} with another checksum")

    @property
    def config_hash(self) -> str:
        plain = None if self.config is None else self.config.plain()
        return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()

    def to_bytes(self) -> bytes:
        facts = {
            **vars(self),
            "config": None if self.config is None else self.config.plain(),
            "config_hash": self.config_hash,
            "tool": __version__,
        }
        return file_io.to_json(facts)


def new(config: StoredSettings | None, listed: Mapping[str, str] | None = None) -> Manifest:
    """A manifest made now."""
    created = now().isoformat(timespec="seconds")
    return Manifest(created, config, listed or {}, (), __version__, FORMAT)


def load(path: Path) -> Manifest:
    """The manifest of a store, or an error that says what the folder is instead."""
    file = path / NAME
    try:
        facts = file_io.from_json(file, file_io.read(file))
    except (FileNotFoundError, NotADirectoryError):
        if _has_parts(path):
            raise file_io.damaged(file, file_io.MISSING) from None
        problem = "is not a PolarBear store" if path.exists() else "does not exist"
        raise NotAStoreError(
            f"{path} {problem}; `polarbear run CONFIG --store {path}` makes one"
        ) from None
    version = facts.get("format")
    if isinstance(version, int) and version != FORMAT:
        raise StoreVersionError(
            f"{path} has format {describe(version)}, written by PolarBear "
            f"{describe(facts.get('tool'))}; PolarBear {__version__} reads format {FORMAT}: use "
            "the version that wrote it"
        )
    return file_io.record(file, Manifest, facts)


def is_store(path: Path) -> bool:
    """Whether a folder is a store, of any version."""
    return (path / NAME).exists()


def has_config(path: Path) -> bool:
    """Whether a folder is a store that can be opened or says why not; False for a new one."""
    try:
        return is_store(path) and load(path).config is not None
    except StoreError:
        return True


def settings_of(path: Path, manifest: Manifest) -> StoredSettings:
    """The configuration of a store, or an error that says how to get it back."""
    if manifest.config is None:
        raise StoreError(
            f"{path} has lost its configuration; give the `race`, `run` or `import` command that "
            f"made it again, with --store {path}: no stored run is run again"
        )
    return manifest.config


def check_free(path: Path) -> None:
    """Refuse a folder that holds anything but a store, or the remains of a killed creation."""
    if path.is_dir():
        files = list(path.iterdir())
    elif path.is_file():
        files = [path]
    else:
        files = []
    remains = ("lock", GIT_ATTRIBUTES)  # of a creation, besides temporary files
    is_free = all(file.name in remains or file.name.startswith(file_io.ASIDE) for file in files)
    # Another process may be creating the store, so the manifest is looked for last.
    if not is_free and not is_store(path):
        if _has_parts(path):
            raise file_io.damaged(path / NAME, file_io.MISSING)
        raise NotAStoreError(
            f"{path} exists and is not a PolarBear store; choose another folder with --store"
        )


def _has_parts(path: Path) -> bool:
    """Whether a folder holds parts of tables, with or without a manifest."""
    return any(any((path / name).glob("part-*.parquet")) for name in tables.ALL)


def data_files(path: Path) -> list[str]:
    """The files on disk that PolarBear can have written, listed or not, except polarbear.json."""
    files = [*path.glob("set-aside-*.parquet")]
    for name in ("provenance.json", "judgements.json"):
        files += path.glob(name)
    for folder in FOLDERS:
        for ending in ("json", "parquet"):
            files += (path / folder).rglob(f"*.{ending}")
    return sorted(
        str(file.relative_to(path))
        for file in files
        if file.is_file() and not file.is_symlink() and not file.name.startswith(file_io.ASIDE)
    )


def check_nothing_leads_out(store: Path) -> None:
    """Refuse a store with a link to outside, or with a pipe, socket or device.

    Writing through a link would change a file that the user never named; reading from a pipe might
    never end.
    """
    in_folders = (path for folder in (*FOLDERS, DAMAGED) for path in (store / folder).rglob("*"))
    for path in chain(store.glob("*"), in_folders):
        if path.is_symlink() and not path.resolve().is_relative_to(store.resolve()):
            kind = "a link that leads out of the store"
        elif path.is_symlink() or path.is_file() or path.is_dir():
            kind = None
        else:
            kind = "neither a file nor a folder"
        if kind is not None:
            raise StoreError(
                f"{path} is {kind}, which PolarBear never writes; remove it, or "
                "replace it by the file it points to, if you know where it came from"
            )
