"""Files that are there as a whole or not at all, and tables made of them."""

from __future__ import annotations

import errno
import json
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from polarbear.errors import (
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
)
from polarbear.store import checksums, disk
from polarbear.store.numbers import column_of

ASIDE = ".writing-"  # a leftover of a killed writer; no reader looks at it
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
LONGEST_REASON = 200  # characters of another's words in a message
FACTS = b"polarbear"  # under which a Parquet file says more than its rows do
FORBIDDEN = (errno.EROFS, errno.EACCES, errno.EPERM)
SMALL = 2**18  # bytes of a file that one thread reads sooner than several

Part = tuple[str, int, int, int]  # a part as it is now: its name, inode, size and time


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn the system's refusal to write into words that help."""
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
    """The error that names a damaged file of a store, and the way out."""
    above = [p for p in path.parents if (p / "polarbear.json").exists()]
    store = above[0] if above else path.parents[path.suffix == ".parquet"]
    error = StoreDamagedError(
        f"{path} is damaged ({why}); `polarbear repair {store}` sets it aside and says what to do "
        "next, `polarbear verify` looks for more"
    )
    error.why = why
    return error


def read_whole(path: Path) -> bytearray:
    """All of a file, just as it was written; FileNotFoundError where there is none."""
    try:
        data = disk.read(path)
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno == errno.EIO:
            raise damaged(path, "the disk cannot read it") from error
        raise StoreError(f"cannot read {path}: {error.strerror or error}") from error
    if not checksums.holds(data):
        raise damaged(path, "its checksum is wrong")
    return data


def write_json(path: Path, facts: Mapping[str, Any], indent: int, plain_ascii: bool = True) -> None:
    """Write a JSON object as readable text, with its checksum as the last key."""
    sealed = {**facts, checksums.KEY: checksums.BLANK}
    text = json.dumps(sealed, indent=indent, ensure_ascii=plain_ascii)
    write_whole(path, checksums.sealed(text.encode() + b"\n"))


def read_json(path: Path) -> Any:
    """What ``write_json`` wrote, without its checksum; FileNotFoundError where there is nothing."""
    try:
        facts = json.loads(read_whole(path))
    except (ValueError, RecursionError):
        raise damaged(path, "it is not JSON") from None
    if isinstance(facts, dict):
        facts.pop(checksums.KEY, None)
    return facts


def write_whole(path: Path, data: bytes | bytearray | memoryview) -> None:
    """Write aside, sync, rename: a reader sees all of it or none, even after a power cut."""
    aside = path.with_name(f"{ASIDE}{secrets.token_hex(4)}")
    with explained(path):
        try:
            with disk.create(aside) as file:
                disk.put(file, data)
                disk.sync(file)
            disk.rename(aside, path)
        except BaseException:
            with suppress(OSError):
                disk.remove(aside)
            raise
        disk.sync_folder(path.parent)


def make_folder(path: Path) -> None:
    """Make a folder, and those it stands in; each is there after a power cut."""
    with explained(path):
        missing = [path]
        while not missing[-1].parent.exists():
            missing.append(missing[-1].parent)
        for folder in reversed(missing):
            disk.make_folder(folder)
            disk.sync_folder(folder.parent)


def remove(path: Path) -> None:
    """Take a file away, where it is there."""
    with explained(path):
        disk.remove(path)


def remove_all(paths: list[Path]) -> None:
    """Take files of one folder away; they are gone before anything else is done."""
    for path in paths:
        remove(path)
    if paths:
        with explained(paths[0]):
            disk.sync_folder(paths[0].parent)


def move(old: Path, new: Path) -> None:
    """Give a file another place, which is free; it is in one of the two, whatever happens."""
    make_folder(new.parent)
    with explained(old):
        disk.rename(old, new)
        disk.sync_folder(new.parent)
        disk.sync_folder(old.parent)


def new_stem() -> str:
    """A name for a part that no other part has."""
    return f"part-{secrets.token_hex(8)}"


def write_part(folder: Path, stem: str, table: pa.Table, by: str | None = None) -> None:
    """Add one part to the table in this folder."""
    write_table(folder / f"{stem}.parquet", table, by)


def write_table(
    path: Path, table: pa.Table, by: str | None = None, compression: str = "zstd"
) -> None:
    """Write one Parquet file, with a row group for each value of the column ``by``.

    A reader who asks for some values of that column then skips the groups of the others.
    """
    words = [field.name for field in table.schema if field.type == pa.string()]
    buffer = pa.BufferOutputStream()
    with pq.ParquetWriter(
        buffer, table.schema, compression=compression, use_dictionary=words
    ) as writer:
        for group in _grouped(table, by):
            writer.write_table(group)
        writer.add_key_value_metadata({checksums.KEY: checksums.BLANK})
    write_whole(path, checksums.sealed(memoryview(buffer.getvalue())))


def _grouped(table: pa.Table, by: str | None) -> Iterator[pa.Table]:
    if by is None:
        yield table
        return
    values = np.array(table[by].to_pylist(), dtype=object)
    for value in sorted(set(values)):
        yield table.take(column_of(np.flatnonzero(values == value)))


def part_paths(folder: Path) -> list[Path]:
    return sorted(folder.glob("part-*.parquet"))


def part_now(path: Path) -> Part:
    """What tells a part from another that is written in its place."""
    now = path.stat()
    return path.name, now.st_ino, now.st_size, now.st_mtime_ns


def parts_now(
    folder: Path, schema: pa.Schema, known: Mapping[Part, pa.Table]
) -> dict[Part, pa.Table]:
    """All parts of a table; those that are ``known``, and are still the same, are not read again.

    As with ``read_parts``, rows may stand twice while a writer merges parts.
    """
    read = dict(known)
    for _ in range(100):
        found = {}
        try:
            for path in part_paths(folder):
                part = part_now(path)  # before it is read: what comes in its place shows next time
                if part not in read:
                    read[part] = read_part(path, schema)
                found[part] = read[part]
            return found
        except FileNotFoundError:  # merged meanwhile, into one that was not there before
            continue
    raise _keep_changing(folder)


def read_parts(
    folder: Path,
    schema: pa.Schema,
    columns: list[str] | None = None,
    groups: tuple[str, Collection[str]] | None = None,
) -> Iterator[pa.Table]:
    """The parts of a table, one after the other; ``groups`` may leave rows out, as in `read_part`.

    A writer may merge parts meanwhile: the merged one is there before the old ones go, so whoever
    finds one gone looks again, and may then see rows twice.
    """
    seen: set[Path] = set()
    for _ in range(100):
        try:
            for path in part_paths(folder):
                if path not in seen:
                    table = read_part(path, schema, columns, groups)
                    seen.add(path)
                    yield table
            return
        except FileNotFoundError:
            continue
    raise _keep_changing(folder)


def _keep_changing(folder: Path) -> StoreError:
    return StoreError(f"the parts in {folder} keep changing; try again")


def read_part(
    path: Path,
    schema: pa.Schema,
    columns: list[str] | None = None,
    groups: tuple[str, Collection[str]] | None = None,
) -> pa.Table:
    """The rows of one file, of the types that tables.py says.

    ``groups`` names a column and values: row groups that have none of these there are left out.
    pyarrow.dataset can do that, too, but takes longer to import than most files to read.
    """
    with _parquet(path) as source:
        with pq.ParquetFile(source) as file:
            wanted = range(file.num_row_groups) if groups is None else _holding(file, *groups)
            several = source.size() > SMALL
            table = file.read_row_groups(list(wanted), columns, use_threads=several)
        found = _as(schema if columns is None else pa.schema(map(schema.field, columns)), table)
        texts = [field.name for field in found.schema if field.type == pa.string()]
        found.select(texts).validate(full=True)  # damaged text would fail whoever looks at it
        return found


def _holding(file: pq.ParquetFile, column: str, values: Collection[str]) -> list[int]:
    """Which row groups may have one of these values in a column."""
    place = [leaf.path for leaf in file.schema].index(column)
    found = []
    for number in range(file.num_row_groups):
        known = file.metadata.row_group(number).column(place).statistics
        ends = (known.min, known.max) if known is not None and known.has_min_max else None
        if ends is None or ends[0] != ends[1] or ends[0] in values:
            found.append(number)
    return found


def _as(schema: pa.Schema, table: pa.Table) -> pa.Table:
    """The table in these columns and types; this version wrote them so.

    What older versions did not note is missing in all rows. Casting loads pyarrow.compute.
    """
    if table.schema == schema:
        return table
    known = set(table.column_names)
    for field in schema:
        if field.name not in known and field.nullable:
            table = table.append_column(field, pa.nulls(len(table), field.type))
    found = table.select(schema.names)
    return found if found.schema == schema else found.cast(schema)


def read_any(path: Path) -> pa.Table:
    """The rows of one file, whatever they are."""
    with _parquet(path) as source, pq.ParquetFile(source) as file:
        return file.read(use_threads=source.size() > SMALL)


@contextmanager
def _parquet(path: Path) -> Iterator[pa.BufferReader]:
    """A file to be read as Parquet; if that fails, it is damaged."""
    source = pa.BufferReader(pa.py_buffer(read_whole(path)))
    try:
        yield source
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError) as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise damaged(path, why[:LONGEST_REASON]) from error


def concatenated(folder: Path, stems: list[str], schema: pa.Schema) -> pa.Table:
    """Several parts as one table, which does not carry their checksums on."""
    parts = [read_part(folder / f"{stem}.parquet", schema) for stem in stems]
    return pa.concat_tables(parts).replace_schema_metadata()


def read_with_facts(
    path: Path, schemas: Callable[[Any], pa.Schema]
) -> tuple[pa.Table, dict[str, Any]]:
    """One file and the facts that stand beside its rows, which say of what schema those are."""
    with _parquet(path) as source, pq.ParquetFile(source) as file:
        facts = json.loads(file.schema_arrow.metadata[FACTS])
        schema = schemas(facts)
        return _as(schema, file.read().select(schema.names)), facts


def facts_of(path: Path) -> dict[str, Any]:
    """The facts that stand beside a file's rows."""
    with _parquet(path) as source:
        return json.loads(pq.read_schema(source).metadata[FACTS])  # type: ignore[no-any-return]


def facts_at_a_glance(path: Path) -> dict[str, Any] | None:
    """The same without reading the rows, and so unverified; None where they cannot be read."""
    try:
        return json.loads(pq.read_schema(path).metadata[FACTS])  # type: ignore[no-any-return]
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError):
        return None


def remove_leftovers(folder: Path) -> None:
    """Clear away what killed writers left; only for whoever holds the lock."""
    for leftover in folder.glob(f"{ASIDE}*"):
        remove(leftover)
