"""Durable writing of single files, checksums, and the errors that name a file."""

from __future__ import annotations

import errno
import hashlib
import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from polarbear.errors import StoreDamagedError, StoreError, StoreFullError, StoreReadOnlyError
from polarbear.store import fs

JsonObject = dict[str, Any]  # as json.loads gives it

ASIDE = ".writing-"  # prefix of files that are being written; readers ignore them
HASH_DIGITS = 32
MAX_REASON_LENGTH = 200  # characters of another library's message
MISSING = "it is not there"
CHANGED = "its content does not match its checksum"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
FORBIDDEN = (errno.EROFS, errno.EACCES, errno.EPERM)


def digest(data: bytes | memoryview) -> str:
    """The first 128 bits of the SHA-256 of a file's content, in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()[:HASH_DIGITS]


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Replace a system error while writing by a message that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise StoreFullError(
                f"no space left to write {path.name} in {path.parent}; everything stored before is "
                "intact: free some space and give the same command again"
            ) from error
        if error.errno in FORBIDDEN:
            raise StoreReadOnlyError(
                f"no permission to write in {path.parent}; choose another folder with --store, or "
                "change its permissions"
            ) from error
        raise StoreError(f"cannot write {path}: {error.strerror or error}") from error


def damaged(path: Path, why: str) -> StoreDamagedError:
    """The error for a damaged file of a store."""
    above = [p for p in path.parents if (p / "polarbear.json").exists()]
    store = above[0] if above else path.parents[path.suffix == ".parquet"]
    error = StoreDamagedError(
        f"{path} is damaged ({why}); `polarbear repair {store}` sets it aside and says what to do "
        "next, `polarbear verify` looks for more"
    )
    error.why = why
    return error


def read(path: Path) -> bytes:
    """The content of a file; FileNotFoundError if there is none."""
    try:
        return fs.read(path)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        if error.errno == errno.EIO:
            raise damaged(path, "the disk cannot read it") from error
        raise StoreError(f"cannot read {path}: {error.strerror or error}") from error


def to_json(facts: Mapping[str, object], indent: int, plain_ascii: bool = True) -> bytes:
    """A JSON object as readable text, with the checksum of the text above it as its last key."""
    text = json.dumps(facts, indent=indent, ensure_ascii=plain_ascii)
    return _sealed(text.removesuffix("\n}").encode(), indent)


def _sealed(body: bytes, indent: int) -> bytes:
    return body + f',\n{" " * indent}"checksum": "{digest(body)}"\n}}\n'.encode()


def from_json(path: Path, data: bytes) -> JsonObject:
    """The object that ``to_json`` wrote, without its checksum."""
    body = data[: data.rfind(b",")]
    if not any(data == _sealed(body, indent) for indent in (1, 2)):
        raise damaged(path, CHANGED)
    try:
        facts = json.loads(data)
    except (ValueError, RecursionError):
        raise damaged(path, "it is not JSON") from None
    del facts["checksum"]
    return facts  # type: ignore[no-any-return]


def aside_of(path: Path) -> Path:
    """The name of a file while it is being written."""
    return path.with_name(f"{ASIDE}{path.name}")


def write_aside(path: Path, data: bytes | memoryview) -> None:
    """Write and sync a new file; nothing of it is left if that fails."""
    with explained(path):
        try:
            with fs.create(path) as file:
                fs.put(file, data)
                fs.sync(file)
        except BaseException:
            with suppress(OSError):
                fs.remove(path)
            raise


def write_whole(path: Path, data: bytes | memoryview) -> None:
    """Replace a file: a reader sees the old or the new content, also after a power cut."""
    aside = path.with_name(f"{ASIDE}{secrets.token_hex(4)}")
    write_aside(aside, data)
    with explained(path):
        try:
            fs.rename(aside, path)
        except BaseException:
            with suppress(OSError):
                fs.remove(aside)
            raise
        fs.sync_folder(path.parent)


def make_folder(path: Path) -> None:
    """Create a folder and its parents, durably."""
    with explained(path):
        missing = [path]
        while not missing[-1].parent.exists():
            missing.append(missing[-1].parent)
        for folder in reversed(missing):
            fs.make_folder(folder)
            fs.sync_folder(folder.parent)


def remove(path: Path) -> None:
    """Remove a file if it exists."""
    with explained(path):
        fs.remove(path)


def move(old: Path, new: Path) -> None:
    """Move a file or folder to a free place; at any moment it is in one of the two."""
    make_folder(new.parent)
    with explained(old):
        fs.rename(old, new)
        fs.sync_folder(new.parent)
        fs.sync_folder(old.parent)
