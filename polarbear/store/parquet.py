"""Tables as the bytes of Parquet files, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from polarbear.store import file_io

FACTS = b"polarbear"  # metadata key of the JSON object that describes a table's content


def to_bytes(table: pa.Table, compression: str = "zstd") -> memoryview:
    """A table as a Parquet file."""
    texts = [field.name for field in table.schema if field.type == pa.string()]
    buffer = pa.BufferOutputStream()
    pq.write_table(table, buffer, compression=compression, use_dictionary=texts)
    return memoryview(buffer.getvalue())


def from_bytes(
    path: Path, data: bytes, schema: pa.Schema, columns: list[str] | None = None
) -> pa.Table:
    """The rows of a Parquet file, or some of its columns, with the types of a schema."""
    wanted = schema if columns is None else pa.schema(map(schema.field, columns))
    with _named(path):
        table = _read(data, wanted.names).select(wanted.names)
        return table if table.schema == wanted else table.cast(wanted)


def any_from_bytes(path: Path, data: bytes) -> pa.Table:
    """The rows of a Parquet file, with the types and the metadata that it has."""
    with _named(path):
        return _read(data)


def _read(data: bytes, columns: list[str] | None = None) -> pa.Table:
    # Arrow's threads may still hold the Python buffer when the interpreter ends, and abort it.
    return pq.ParquetFile(pa.BufferReader(data)).read(columns, use_threads=False)


def facts_of(path: Path, data: bytes) -> file_io.JsonObject:
    """The facts in the metadata of a Parquet file."""
    with _named(path):
        return json.loads(pq.read_schema(pa.BufferReader(data)).metadata[FACTS])  # type: ignore[no-any-return]


def with_facts(table: pa.Table, facts: file_io.JsonObject) -> pa.Table:
    """The same table with facts in its metadata."""
    return table.replace_schema_metadata({FACTS: json.dumps(facts).encode()})


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Replace the error of a file that cannot be decoded by one that names it."""
    try:
        yield
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError) as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise file_io.damaged(path, why[: file_io.MAX_REASON_LENGTH]) from error


Rows = pl.DataFrame | Sequence[Mapping[str, object]]


def table_of(rows: Rows, schema: pa.Schema) -> pa.Table:
    """A frame or rows of plain values as a table; a key that is missing is null."""
    if not isinstance(rows, pl.DataFrame):
        rows = pl.DataFrame(rows, schema=frame_of(schema, []).schema, orient="row")
    return rows.to_arrow().cast(schema)


def frame_of(schema: pa.Schema, parts: Iterable[pa.Table]) -> pl.DataFrame:
    """Tables of one schema as one frame."""
    frame = pl.from_arrow(pa.concat_tables([pa.Table.from_batches([], schema), *parts]))
    assert isinstance(frame, pl.DataFrame), "a table has columns"
    return frame
