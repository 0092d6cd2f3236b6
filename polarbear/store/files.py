"""Files that are there as a whole or not at all, and tables made of them."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from polarbear.errors import StoreError, StoreFullError, StoreReadOnlyError

ASIDE = ".writing-"  # a leftover of a killed writer; no reader looks at it
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
FORBIDDEN = (errno.EROFS, errno.EACCES, errno.EPERM)


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


def write_whole(path: Path, data: bytes | memoryview) -> None:
    """Write aside, sync, rename: a reader sees all of it or none, even after a power cut."""
    aside = path.with_name(f"{ASIDE}{secrets.token_hex(4)}")
    with explained(path):
        try:
            with aside.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            aside.replace(path)
        except BaseException:
            aside.unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)


def make_folder(path: Path) -> None:
    with explained(path):
        path.mkdir(parents=True, exist_ok=True)
        _sync_folder(path.parent)


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
    write_whole(path, memoryview(buffer.getvalue()))


def _grouped(table: pa.Table, by: str | None) -> Iterator[pa.Table]:
    if by is None:
        yield table
        return
    for value in sorted(table[by].unique().to_pylist()):
        yield table.filter(pc.equal(table[by], value))


def part_paths(folder: Path) -> list[Path]:
    return sorted(folder.glob("part-*.parquet"))


def read_parts(
    folder: Path,
    schema: pa.Schema,
    columns: list[str] | None = None,
    only: pc.Expression | None = None,
) -> Iterator[pa.Table]:
    """The parts of a table, one after the other: all rows, or only those wanted.

    A writer may merge parts meanwhile: the merged one is there before the old ones go, so whoever
    finds one gone looks again, and may then see rows twice.
    """
    seen: set[Path] = set()
    for _ in range(100):
        try:
            for path in part_paths(folder):
                if path not in seen:
                    table = read_part(path, schema, columns, only)
                    seen.add(path)
                    yield table
            return
        except FileNotFoundError:
            continue
    raise StoreError(f"the parts in {folder} keep changing; try again")


def read_part(
    path: Path,
    schema: pa.Schema,
    columns: list[str] | None = None,
    only: pc.Expression | None = None,
) -> pa.Table:
    """The rows of one file, of the types that tables.py says."""
    try:
        if only is None:  # without pyarrow.dataset, which takes longer to import than to read
            with pq.ParquetFile(path) as file:
                table = file.read(columns)
        else:
            table = pq.read_table(path, columns=columns, filters=only, partitioning=None)
        names = columns or schema.names
        found = table.select(names).cast(pa.schema([schema.field(name) for name in names]))
        for name in names:
            if schema.field(name).type == pa.string():
                found[name].validate(full=True)  # damaged text would fail whoever looks at it
        return found
    except FileNotFoundError:
        raise
    except (OSError, pa.ArrowException, KeyError, ValueError) as error:
        reason = str(error).partition("\n")[0][:200]
        raise StoreError(
            f"{path} is damaged ({reason}); the other parts are not. Move it "
            "out of the store and give the `run` or `race` command again: what it held is run anew"
        ) from error


def concatenated(folder: Path, stems: list[str], schema: pa.Schema) -> pa.Table:
    """Several parts as one table."""
    return pa.concat_tables(read_part(folder / f"{stem}.parquet", schema) for stem in stems)


def metadata_of(path: Path) -> dict[bytes, bytes]:
    """What a Parquet file says about itself beside its rows."""
    return dict(pq.read_schema(path).metadata or {})


def remove_leftovers(folder: Path) -> None:
    """Clear away what killed writers left; only for whoever holds the lock."""
    for leftover in folder.glob(f"{ASIDE}*"):
        leftover.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """A rename is durable once its folder is."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
