"""The files of a store: reading with a check of the content, and atomic changes of several files.

Every file is listed with its checksum in ``polarbear.json``. A Parquet file never changes, and its
name ends in its checksum. A change writes new files under temporary names, syncs them, replaces
``polarbear.json``, and only then gives the files their names and removes those that are obsolete.
Readers see all of a change or nothing of it, and a change that was interrupted after
``polarbear.json`` was replaced is finished by the next process that writes.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from polarbear.config.stored_settings import StoredSettings
from polarbear.errors import StoreError, StoreLockedError
from polarbear.store import file_io, fs, manifest, row_checks, tables
from polarbear.store.file_io import JsonObject, T
from polarbear.store.manifest import Manifest
from polarbear.store.writer import WriteLock

RUN_PARTS = ("instances/part-", "trajectories/part-", "runs/part-")
MAX_ATTEMPTS_AGAINST_WRITER = 5  # to write a file that a second writer may remove
MAX_ATTEMPTS = 100  # another process may keep replacing the files of a table

Stamp = tuple[int, int, int]
Data = bytes | memoryview
File = tuple[str, Data]  # a name as seen from the store, and the content
FACTS = b"polarbear"  # metadata key of the JSON object that describes a table's content

# A table of more bytes in memory cannot come from runs: a run has an id, and improvements differ.
MAX_TABLE_BYTES = 2**27
MAX_TABLE_BYTES_PER_BYTE = 256  # of its file

Rows = pl.DataFrame | Sequence[Mapping[str, object]]
Content = tuple[pl.DataFrame, pa.Schema, JsonObject | None]  # rows, their types, and facts


def json_file(name: str, facts: JsonObject) -> File:
    return name, file_io.to_json(facts)


def table_file(stem: str, rows: Rows, schema: pa.Schema, facts: JsonObject | None = None) -> File:
    """A table as a Parquet file whose name is this, followed by the checksum of its content."""
    data = encoded(rows, schema, facts)
    return f"{stem}-{file_io.digest(data)}.parquet", data


def part_file(folder: str, rows: Rows) -> File:
    """A part of the table in a folder."""
    return table_file(f"{folder}/part", rows, tables.ALL[folder])


class Catalog:
    """The files that ``polarbear.json`` lists. Only the holder of the store's lock changes them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._loaded: tuple[Stamp, Manifest] | None = None
        self._lock = threading.RLock()
        self._write_lock: WriteLock | None = None
        self._interrupted = False

    @property
    def manifest(self) -> Manifest:
        """``polarbear.json`` as it is now."""
        stamp = self._stamp()
        if stamp is None:
            return manifest.load(self.path)
        if self._loaded is None or self._loaded[0] != stamp:
            self._loaded = stamp, manifest.load(self.path)
        return self._loaded[1]

    def _stamp(self) -> Stamp | None:
        """The identity of ``polarbear.json``, which changes when it is replaced."""
        try:
            now = (self.path / manifest.NAME).stat()
        except OSError:
            return None
        return now.st_ino, now.st_size, now.st_mtime_ns

    # --- reading -----------------------------------------------------------------------------

    def names(self, prefix: str) -> list[str]:
        """The listed files with this prefix, in the order in which they were added."""
        return [name for name in self.manifest.files if name.startswith(prefix)]

    def find(self, stem: str) -> str | None:
        """The listed Parquet file with this name before its checksum."""
        for name, checksum in self.manifest.files.items():
            if name == f"{stem}-{checksum}.parquet":
                return name
        return None

    def read_current(self, stem: str) -> tuple[Path, bytes] | None:
        """The Parquet file with this name before its checksum: path and content, None if none."""
        while (name := self.find(stem)) is not None:
            with suppress(FileNotFoundError):  # if another process replaces it, find the new one
                return self.path / name, self.read(name)
        return None

    def stat(self, name: str) -> os.stat_result:
        """The size and the time of a listed file, which may not have its name yet."""
        path = self.path / name
        for candidate in (path, file_io.aside_of(path)):
            with suppress(FileNotFoundError):
                return candidate.stat()
        raise file_io.damaged(path, file_io.MISSING)

    def read(self, name: str) -> bytes:
        """The content of a listed file; FileNotFoundError if none is listed under this name."""
        path = self.path / name
        while True:
            before = self.manifest
            if name not in before.files:
                raise FileNotFoundError(file_io.MISSING)
            why = file_io.MISSING
            # Another process may be making a change: it renames the temporary file to its final
            # name. The final name is therefore tried again after the temporary one.
            for candidate in (path, file_io.aside_of(path), path):
                try:
                    data = file_io.read(candidate)
                except (FileNotFoundError, NotADirectoryError):
                    continue
                if file_io.digest(data) == before.files[name]:
                    return data
                if file_io.digest(file_io.with_own_line_ends(data)) == before.files[name]:
                    why = file_io.LINE_ENDS
                else:
                    why = file_io.CHANGED
            if self.manifest is before:
                raise file_io.damaged(path, why)

    def read_record(self, name: str, kind: type[T]) -> T:
        """The record in a listed JSON file."""
        path = self.path / name
        return file_io.record(path, kind, file_io.from_json(path, self.read(name)))

    def read_table(
        self, name: str, schema: pa.Schema, columns: list[str] | None = None
    ) -> pl.DataFrame:
        return decoded(self.path / name, self.read(name), schema, columns)

    def read_parts(
        self,
        folder: str,
        columns: list[str] | None = None,
        cached: Mapping[str, pl.DataFrame] = MappingProxyType({}),
    ) -> Iterator[tuple[str, pl.DataFrame]]:
        """The parts of a table, one after the other; ``cached`` parts are not read again.

        If another process merges parts at the same time, rows may occur twice.
        """
        yielded: set[str] = set()
        for _ in range(MAX_ATTEMPTS):
            with suppress(FileNotFoundError):
                for name in self.names(f"{folder}/part-"):
                    if name not in yielded:
                        part = cached.get(name)
                        if part is None:
                            part = self.read_table(name, tables.ALL[folder], columns)
                        yielded.add(name)
                        yield name, part
                return
        raise StoreError(f"the files in {self.path / folder} keep changing; try again")

    # --- writing -----------------------------------------------------------------------------

    def create(self, new_manifest: Manifest) -> None:
        """Make the folder a store.

        Git must not change the line ends of its files, whose checksums would not match any more.
        """
        attributes = self.path / manifest.GIT_ATTRIBUTES
        if not attributes.exists():
            file_io.write_whole(attributes, manifest.KEEP_LINE_ENDS)
        file_io.write_whole(self.path / manifest.NAME, new_manifest.to_bytes())

    @contextmanager
    def guarded_by(self, lock: WriteLock) -> Iterator[None]:
        """Check this lock before each change."""
        self._write_lock = lock
        try:
            yield
        finally:
            self._write_lock = None

    def _check_lock(self) -> None:
        if self._write_lock is not None:
            self._write_lock.check()

    def _check_no_other_writer(self, stamp: Stamp | None) -> None:
        """Raise an error if the lock was lost, or if ``polarbear.json`` is another one."""
        self._check_lock()
        if self._stamp() != stamp:
            raise StoreLockedError(
                f"another process has changed {self.path}, so this one stops; when no process "
                f"writes, `polarbear repair {self.path}` adds the runs that it could not list"
            )

    def _replace_manifest(self, new_manifest: Manifest, stamp: Stamp | None) -> None:
        """Replace ``polarbear.json`` if no other process has done so.

        A second writer may remove the temporary file, which is then written again.
        """
        check = partial(self._check_no_other_writer, stamp)
        for attempt in range(1, MAX_ATTEMPTS_AGAINST_WRITER + 1):
            check()
            try:
                file_io.write_whole(self.path / manifest.NAME, new_manifest.to_bytes(), check)
                return
            except StoreError as error:
                is_removed = isinstance(error.__cause__, FileNotFoundError)
                if not is_removed or attempt == MAX_ATTEMPTS_AGAINST_WRITER:
                    raise

    def commit(
        self,
        add: Iterable[File] = (),
        remove: Iterable[str] = (),
        settings: StoredSettings | None = None,
    ) -> None:
        """Add, replace and remove files, and replace the configuration: all of it or nothing."""
        with self._lock:
            if self._interrupted:
                self.recover()
            before = self.manifest
            stamp = self._stamp()
            contents = dict(add) if isinstance(add, Sequence) else {}
            added: dict[str, str] = {}
            try:
                for name, data in add:
                    # A file that is listed with this content is written again, since the one on
                    # disk may be missing or damaged.
                    path = self.path / name
                    if not path.parent.exists():
                        file_io.make_folder(path.parent)
                    file_io.write_aside(file_io.aside_of(path), data)
                    added[name] = file_io.digest(data)
                self._sync_folders(added)
            except BaseException:
                for name in added:
                    file_io.remove(file_io.aside_of(self.path / name))
                raise
            obsolete = [name for name in remove if name in before.files and name not in added]
            kept = {
                name: checksum
                for name, checksum in before.files.items()
                if name not in added and name not in obsolete
            }
            after = replace(before, files={**kept, **added}, obsolete=tuple(obsolete))
            if settings is not None:
                after = replace(after, config=settings)

            self._interrupted = True
            try:
                self._replace_manifest(after, stamp)
            except StoreLockedError:
                self._keep_unlisted(added, contents)
                self._interrupted = False
                raise
            for name, checksum in added.items():
                self._put_in_place(name, checksum, contents.get(name))
            self._remove(obsolete)
            self._interrupted = False

    def _keep_unlisted(self, names: Iterable[str], contents: Mapping[str, Data]) -> None:
        """Keep the runs of a change that was refused, for `repair` to list them.

        The process that writes may remove any temporary file while this one works.
        """
        for name in names:
            path = self.path / name
            if name.startswith(RUN_PARTS) and name in contents:
                for _ in range(MAX_ATTEMPTS_AGAINST_WRITER):
                    with suppress(StoreError):
                        file_io.write_whole(path, contents[name])
                        break
            file_io.remove(file_io.aside_of(path))

    def recover(self) -> None:
        """Finish a change that was interrupted after it was listed; remove what was not listed.

        Obsolete files are kept if anything else is wrong: in a copy of a store that was changing
        they may be the only complete ones.
        """
        self._check_lock()
        listed = self.manifest
        self._sync_folders([manifest.NAME])
        for aside in self.path.rglob(f"{file_io.ASIDE}*"):
            if not aside.is_file():
                continue
            name = str(aside.relative_to(self.path)).replace(file_io.ASIDE, "", 1)
            checksum = listed.files.get(name)
            if checksum is not None and self._has(aside, checksum):
                self._put_in_place(name, checksum)
            else:
                file_io.remove(aside)
        on_disk = {*manifest.data_files(self.path)}
        obsolete = [name for name in listed.obsolete if name in on_disk]
        if obsolete and on_disk == {*listed.files, *obsolete} and self._is_intact(listed):
            self._remove(obsolete)
        self._interrupted = False

    def _is_intact(self, listed: Manifest) -> bool:
        """Whether every listed file has the content that was written."""
        checksums = {name: file_io.digest(file_io.read(self.path / name)) for name in listed.files}
        return checksums == listed.files

    def _put_in_place(self, name: str, checksum: str, data: Data | None = None) -> None:
        """Give a listed file its name.

        A second writer, which had no working lock, may have done that, or removed the file.
        """
        path = self.path / name
        with file_io.explained(path):
            try:
                fs.rename(file_io.aside_of(path), path)
            except FileNotFoundError:
                if self._has(path, checksum):
                    return
                if data is None:
                    raise
                file_io.write_whole(path, data)

    @staticmethod
    def _has(path: Path, checksum: str) -> bool:
        """Whether there is a file with this content."""
        try:
            return file_io.digest(file_io.read(path)) == checksum
        except FileNotFoundError:
            return False

    def _remove(self, names: Iterable[str]) -> None:
        """Remove files for good, before another change may forget that they are obsolete."""
        removed = list(names)
        for name in removed:
            file_io.remove(self.path / name)
        self._sync_folders(removed)

    def _sync_folders(self, names: Iterable[str]) -> None:
        for folder in dict.fromkeys((self.path / name).parent for name in names):
            with file_io.explained(folder):
                fs.sync_folder(folder)


def encoded(rows: Rows, schema: pa.Schema, facts: JsonObject | None) -> memoryview:
    """A frame or rows of plain values as a Parquet file; a key that is missing is null."""
    columns = rows.columns if isinstance(rows, pl.DataFrame) else rows[0].keys() if rows else ()
    schema = tables.with_objectives(schema, tables.count_objectives(columns))
    if not isinstance(rows, pl.DataFrame):
        rows = pl.DataFrame(rows, schema=empty(schema).schema, orient="row")
    unused = [name for name in tables.OPTIONAL & {*schema.names} if not rows[name].count()]
    schema = pa.schema(field for field in schema if field.name not in unused)
    table = rows.select(schema.names).to_arrow().cast(schema)
    metadata = None if facts is None else {FACTS: json.dumps(facts).encode()}
    table = table.replace_schema_metadata(metadata)
    # A table with facts has draws, which hardly compress; lz4 is the fastest to read.
    compression = "zstd" if facts is None else "lz4"
    texts = [field.name for field in schema if field.type == pa.string()]
    buffer = pa.BufferOutputStream()
    pq.write_table(table, buffer, compression=compression, use_dictionary=texts)
    return memoryview(buffer.getvalue())


def decoded(
    path: Path, data: bytes, schema: pa.Schema, columns: list[str] | None = None
) -> pl.DataFrame:
    """The rows of a Parquet file, or some of its columns, with the types of a schema."""
    with file_io.decoding(path):
        if "y" in schema.names:
            present = pq.read_schema(pa.BufferReader(data)).names if columns is None else columns
            schema = tables.with_objectives(schema, tables.count_objectives(present))
        expected = schema if columns is None else pa.schema(map(schema.field, columns))
        table = _with_optional_columns(_read(data, expected.names), expected)
        table = table.select(expected.names)
        # A cast loads `pyarrow.compute`, which takes longer than reading a small store.
        rows = _frame(table if table.schema.equals(expected) else table.cast(expected))
        row_checks.check(rows)
        return rows


def _with_optional_columns(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """A table with those optional columns of the schema that its file lacks, without values."""
    for name in (tables.OPTIONAL & {*schema.names}).difference(table.column_names):
        field = schema.field(name)
        table = table.append_column(field, pa.nulls(len(table), field.type))
    return table


def content_of(path: Path, data: bytes) -> Content:
    """Everything in a Parquet file."""
    with file_io.decoding(path):
        table = _read(data)
        facts = (table.schema.metadata or {}).get(FACTS)
        return _frame(table), table.schema, facts and file_io.parsed(path, facts)


def joined(folder: str, parts: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """The table of a folder from its parts: rows in order, each once."""
    order, key_columns = tables.ORDER[folder]
    frames = list(parts)
    if not frames:
        return empty(tables.ALL[folder])
    rows = pl.concat(frames).sort(order, maintain_order=True)
    return rows.unique(key_columns, keep="first", maintain_order=True)


def facts_of(path: Path, data: bytes) -> JsonObject:
    """The facts in the metadata of a Parquet file."""
    with file_io.decoding(path):
        facts = pq.read_schema(pa.BufferReader(data)).metadata[FACTS]
    return file_io.parsed(path, facts)


def empty(schema: pa.Schema) -> pl.DataFrame:
    """A frame without rows."""
    return _frame(pa.Table.from_batches([], schema))


def _read(data: bytes, columns: list[str] | None = None) -> pa.Table:
    """The table in a Parquet file; ValueError if it would take far more memory than the file."""
    file = pq.ParquetFile(pa.BufferReader(data))
    groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
    chunks = [group.column(i) for group in groups for i in range(group.num_columns)]
    max_bytes = MAX_TABLE_BYTES + MAX_TABLE_BYTES_PER_BYTE * len(data)
    size = sum(max(8 * chunk.num_values, chunk.total_uncompressed_size) for chunk in chunks)
    # The file may hold a long text once that is repeated in every row.
    columns_to_measure = {
        chunk.path_in_schema
        for chunk in chunks
        if (columns is None or chunk.path_in_schema.partition(".")[0] in columns)
        and chunk.physical_type == "BYTE_ARRAY"
        and chunk.num_values * chunk.total_uncompressed_size > max_bytes
    }
    if size <= max_bytes:
        size += sum(_text_bytes(data, name) for name in columns_to_measure)
    if size > max_bytes:
        raise ValueError(f"{len(data):,} bytes that expand to {size:,} or more")
    # Arrow's threads may still hold the Python buffer when the interpreter ends, and abort it.
    return file.read(columns, use_threads=False)


def _text_bytes(data: bytes, name: str) -> int:
    """The length of all texts of a column; a text that is repeated is read once."""
    file = pq.ParquetFile(pa.BufferReader(data), read_dictionary=[name])
    total = 0
    for chunk in file.read([name], use_threads=False).column(0).chunks:
        texts = chunk.flatten() if pa.types.is_list(chunk.type) else chunk
        # A conversion by pyarrow itself would load pandas where that is installed.
        lengths = pl.Series(texts.dictionary).str.len_bytes().to_numpy()
        total += int(lengths[pl.Series(texts.indices).drop_nulls().to_numpy()].sum())
    return total


def _frame(table: pa.Table) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame), "a table has columns"
    return frame
