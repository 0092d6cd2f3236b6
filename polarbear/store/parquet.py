"""Frames as the bytes of Parquet files, and back.

Files are read and written by pyarrow, which reports damage as an error; Polars' reader may panic.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from polarbear.store import file_io
from polarbear.store.file_io import JsonObject

FACTS = b"polarbear"  # metadata key of the JSON object that describes a table's content

Rows = pl.DataFrame | Sequence[Mapping[str, object]]


class Content(NamedTuple):
    """A table with the types and the facts that its file has."""

    rows: pl.DataFrame
    schema: pa.Schema
    facts: JsonObject | None


def to_bytes(
    rows: Rows, schema: pa.Schema, facts: JsonObject | None = None, compression: str = "zstd"
) -> memoryview:
    """A frame or rows of plain values as a Parquet file; a key that is missing is null."""
    if not isinstance(rows, pl.DataFrame):
        rows = pl.DataFrame(rows, schema=empty(schema).schema, orient="row")
    table = rows.select(schema.names).to_arrow().cast(schema)
    metadata = None if facts is None else {FACTS: json.dumps(facts).encode()}
    texts = [field.name for field in schema if field.type == pa.string()]
    buffer = pa.BufferOutputStream()
    table = table.replace_schema_metadata(metadata)
    pq.write_table(table, buffer, compression=compression, use_dictionary=texts)
    return memoryview(buffer.getvalue())


def from_bytes(
    path: Path, data: bytes, schema: pa.Schema, columns: list[str] | None = None
) -> pl.DataFrame:
    """The rows of a Parquet file, or some of its columns, with the types of a schema."""
    wanted = schema if columns is None else pa.schema(map(schema.field, columns))
    with _named(path):
        return _frame(_read(data, wanted.names).select(wanted.names).cast(wanted))


def content_of(path: Path, data: bytes) -> Content:
    """Everything in a Parquet file."""
    with _named(path):
        table = _read(data)
        facts = (table.schema.metadata or {}).get(FACTS)
        return Content(_frame(table), table.schema, None if facts is None else json.loads(facts))


def facts_of(path: Path, data: bytes) -> JsonObject:
    """The facts in the metadata of a Parquet file."""
    with _named(path):
        return json.loads(pq.read_schema(pa.BufferReader(data)).metadata[FACTS])  # type: ignore[no-any-return]


def empty(schema: pa.Schema) -> pl.DataFrame:
    """A frame without rows."""
    return _frame(pa.Table.from_batches([], schema))


def _read(data: bytes, columns: list[str] | None = None) -> pa.Table:
    # Arrow's threads may still hold the Python buffer when the interpreter ends, and abort it.
    return pq.ParquetFile(pa.BufferReader(data)).read(columns, use_threads=False)


def _frame(table: pa.Table) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame), "a table has columns"
    return frame


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Replace the error of a file that cannot be decoded by one that names it."""
    try:
        yield
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError) as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise file_io.damaged(path, why[: file_io.MAX_REASON_LENGTH]) from error
