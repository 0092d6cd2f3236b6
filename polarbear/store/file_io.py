"""Durable writing of single files, checksums, typed JSON, and the errors that name a file."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from polarbear.errors import StoreDamagedError, StoreError, StoreFullError, StoreReadOnlyError
from polarbear.store import fs
from polarbear.wording import visible

JsonObject = dict[str, Any]  # as json.loads gives it
T = TypeVar("T")

ASIDE = ".writing-"  # prefix of files that are being written; readers ignore them
HASH_DIGITS = 32
MAX_REASON_LENGTH = 200  # characters of another library's message
MAX_JSON_BYTES = 2**24
MAX_JSON_DEPTH = 40
MAX_JSON_ITEMS = 2**17  # in one list or object
MAX_ERRORS = 1000  # of one record, above which listing them takes longer than reading it
NO_LINKS_OR_PIPES = os.O_NOFOLLOW | os.O_NONBLOCK  # a hostile store may have one as its lock
MISSING = "it is not there"
CHANGED = "its content does not match its checksum"
LINE_ENDS = "its line ends were changed, for example by git without the store's .gitattributes"
UNREADABLE = (
    *(OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError),
    *(RuntimeError, MemoryError),
)
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)  # of a file system
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
    stores = [folder for folder in path.parents if (folder / "polarbear.json").exists()]
    if stores:
        store = stores[0]
    elif path.suffix == ".parquet":
        store = path.parent.parent
    else:
        store = path.parent
    error = StoreDamagedError(
        f"{path} is damaged ({why}); `polarbear repair {store}` sets it aside and says what to do "
        "next, `polarbear verify` looks for more"
    )
    error.why = why
    return error


def read(path: Path) -> bytes:
    """The content of a file; FileNotFoundError if there is none."""
    try:
        if path.suffix == ".json" and path.stat().st_size > MAX_JSON_BYTES:
            raise damaged(path, f"it has more than {MAX_JSON_BYTES:,} bytes")
        return fs.read(path)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        if error.errno == errno.EIO:
            raise damaged(path, "the disk cannot read it") from error
        raise StoreError(f"cannot read {path}: {error.strerror or error}") from error


# --- JSON ------------------------------------------------------------------------------------


def to_json(facts: Mapping[str, object]) -> bytes:
    """A JSON object as readable text, with the checksum of the text above it as its last key."""
    text = json.dumps(facts, indent=1, ensure_ascii=False)
    return _sealed(text.removesuffix("\n}").encode(errors="surrogatepass"))


def is_sealed(data: bytes) -> bool:
    """Whether a JSON text ends in its checksum."""
    return data == _sealed(data[: data.rfind(b",")])


def with_own_line_ends(data: bytes) -> bytes:
    """A text with the line ends that PolarBear writes."""
    return data.replace(b"\r\n", b"\n")


def _sealed(body: bytes) -> bytes:
    return body + f',\n "checksum": "{digest(body)}"\n}}\n'.encode()


def from_json(path: Path, data: bytes) -> JsonObject:
    """The object that ``to_json`` wrote, without its checksum."""
    if not is_sealed(data):
        raise damaged(path, LINE_ENDS if is_sealed(with_own_line_ends(data)) else CHANGED)
    facts = parsed(path, data)
    facts.pop("checksum", None)
    return facts


def parsed(path: Path, data: bytes) -> JsonObject:
    """A JSON object of bounded depth and size with integers of 64 bits."""
    with decoding(path):
        facts = json.loads(data, parse_int=_int64)
        level = [facts]
        max_items = 0
        for _ in range(MAX_JSON_DEPTH):
            max_items = max([max_items, *map(len, level)])
            level = [child for parent in level for child in _children(parent)]
        if level or not isinstance(facts, dict) or max_items > MAX_JSON_ITEMS:
            raise ValueError("it is not a JSON object of a store")
    return facts


def _children(parent: JsonObject | list[Any]) -> list[Any]:
    """The objects and lists that are directly inside another one."""
    values = parent.values() if isinstance(parent, dict) else parent
    return [child for child in values if isinstance(child, dict | list)]


def _int64(text: str) -> int:
    value = int(text)
    if not -(2**63) <= value < 2**63:
        raise ValueError(f"{text[:20]}... is beyond 64 bits")
    return value


def record(path: Path, kind: type[T], facts: JsonObject) -> T:
    """The content of a file as a record of the package, by its types or by ``from_plain``."""
    read = getattr(kind, "from_plain", None) or _adapter(cast(Hashable, kind)).validate_python
    with decoding(path):
        content: T = read(facts)
        return content


_adapter = cache(TypeAdapter)


@contextmanager
def decoding(path: Path) -> Iterator[None]:
    """Replace the error of content that cannot be read by one line that names the file."""
    try:
        yield
    except UNREADABLE as error:
        if not isinstance(error, ValidationError):
            why = (str(error).splitlines() or [type(error).__name__])[0]
        elif error.error_count() > MAX_ERRORS:
            why = f"{error.error_count():,} values of other types"
        else:
            first = error.errors(include_url=False)[0]
            why = ": ".join([".".join(map(str, first["loc"])), first["msg"]]).removeprefix(": ")
        if isinstance(error, KeyError):
            why = f"it lacks {why}"
        raise damaged(path, visible(why[:MAX_REASON_LENGTH])) from None


# --- writing ---------------------------------------------------------------------------------


def aside_of(path: Path) -> Path:
    """The name of a file of a store while it is being written."""
    return path.with_name(f"{ASIDE}{path.name}")


def write_aside(
    path: Path,
    data: bytes | memoryview,
    to: Path | None = None,
    check: Callable[[], None] | None = None,
) -> None:
    """Write and sync a new file, check and rename it; nothing of it is left if that fails."""
    with explained(path):
        try:
            with fs.create(path) as file:
                _show_life(file.fileno())
                fs.put(file, data)
                fs.sync(file)
                if check is not None:
                    check()
                if to is not None:
                    fs.rename(path, to)
        except BaseException:
            with suppress(OSError):
                fs.remove(path)
            raise


def write_whole(
    path: Path, data: bytes | memoryview, check: Callable[[], None] | None = None
) -> None:
    """Replace a file: a reader sees the old or the new content, also after a power cut.

    ``check`` raises an error if the file must not be replaced; it is called at the last moment.
    """
    write_aside(_free_aside(path), data, to=path, check=check)
    with explained(path):
        fs.sync_folder(path.parent)


@contextmanager
def folder_aside(target: Path) -> Iterator[Path]:
    """A temporary folder next to a target, which is removed unless it was moved."""
    folder = _free_aside(target)
    folder.mkdir(parents=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        _show_life(handle)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def _show_life(handle: int) -> None:
    """Lock a temporary file or folder, which shows that its writer is alive."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in NO_LOCKS:  # without locks, nobody removes what a killed process left
            raise


def _free_aside(target: Path) -> Path:
    """A temporary name next to a target; files that killed processes left there are removed."""
    prefix = f"{ASIDE}{digest(target.name.encode(errors='surrogateescape'))[:8]}-"
    for leftover in target.parent.glob(f"{prefix}*"):
        with suppress(OSError):
            handle = os.open(leftover, os.O_RDONLY | NO_LINKS_OR_PIPES)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails if its writer is alive
                if leftover.is_dir():
                    shutil.rmtree(leftover)
                else:
                    leftover.unlink()
            finally:
                os.close(handle)
    return target.with_name(f"{prefix}{secrets.token_hex(4)}")


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
    """Move a file or folder to a free place; at any moment it is whole, in one of the two."""
    make_folder(new.parent)
    with explained(old):
        for folder in [path for path in (old, *old.rglob("*")) if path.is_dir()]:
            fs.sync_folder(folder)
        fs.rename(old, new)
        fs.sync_folder(new.parent)
        fs.sync_folder(old.parent)
