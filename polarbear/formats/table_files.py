"""Files of tables, CSV or Parquet: their columns are known before the used ones are read."""

import csv
import io
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from polarbear.errors import ImportFailedError
from polarbear.formats import limits
from polarbear.settings.names import with_formulas

LINE = "line of the file"  # a column name that no file uses
PARQUET = ".parquet"
# The first bytes of compressed files that Polars' reader of CSV files unpacks.
COMPRESSIONS = {
    b"\x1f\x8b": "gzip",
    b"x\x01": "gzip",  # zlib, which the reader of gzip unpacks as well
    b"x\x5e": "gzip",
    b"x\x9c": "gzip",
    b"x\xda": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
}
FOOTER_LENGTH_BYTES = 8  # bytes at the end of a Parquet file: the length of its footer and a mark
BLOCK_BYTES = 2**24  # of a CSV file that are read at once
MAX_FOOTER_BYTES = 2**24  # bytes of the description at the end of a Parquet file
PREFIXED = "DELTA_BYTE_ARRAY"  # an encoding in which a long text is repeated by a few bytes
FEWER_COLUMNS = "keep the columns that are used"
SHORTER = "a name has at most a thousand characters"
# Errors of the readers on invalid files; PanicException does not derive from Exception.
READER_ERRORS = (
    *(pl.exceptions.PolarsError, pl.exceptions.PanicException, pa.ArrowException),
    *(OSError, ValueError, csv.Error),
)


@dataclass(frozen=True)
class TableFile:
    """A file of a table: its path and the types of its columns, which are texts in CSV."""

    path: Path
    schema: pl.Schema

    def read(
        self,
        columns: Collection[str],
        numbers: Collection[str] = (),
        names: Collection[str] = (),
    ) -> pl.DataFrame:
        """The columns of these names that the file has; LINE has the line of each row.

        Columns of a CSV file are texts. Those in ``numbers`` are numbers, NaN where a text is none;
        those in ``names`` are categories, so that a text that is repeated is held once.
        """
        used = [name for name in self.schema if name in columns]
        is_parquet = self.path.suffix == PARQUET
        with _explained(self.path):
            if is_parquet:
                frame = _read_parquet(self.path, used)
            else:
                frame = _read_csv(self.path, used, numbers, names)
        if not len(frame):
            raise ImportFailedError(f"{self.path} has a header but no rows")
        # The header of a CSV file is line 1.
        return frame.with_row_index(LINE, offset=1 if is_parquet else 2)


def open_table(path: Path) -> TableFile:
    """A CSV or a Parquet file within the limits of imports."""
    if path.is_dir():
        raise ImportFailedError(f"{path} is a folder; expected a file, in CSV or Parquet")
    with _explained(path):
        schema = _parquet_schema(path) if path.suffix == PARQUET else _csv_schema(path)
    return TableFile(path, schema)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Replace the errors of the readers by one line."""
    try:
        yield
    except FileNotFoundError:
        raise ImportFailedError(f"there is no file {path}") from None
    except (pl.exceptions.NoDataError, StopIteration):
        raise ImportFailedError(f"{path} is empty") from None
    except READER_ERRORS as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise ImportFailedError(f"cannot read {path} as a table: {reason}") from None


# --- CSV -------------------------------------------------------------------------------------


@contextmanager
def _uncompressed(path: Path) -> Iterator[BinaryIO | pa.NativeFile]:
    """A file of text, which may be compressed."""
    if not path.is_file() and path.exists():  # Opening a pipe would wait for a writer.
        raise ValueError("it is not a file")
    with path.open("rb") as file:
        start = file.read(4)
        file.seek(0)
        for magic, compression in COMPRESSIONS.items():
            if start.startswith(magic):
                with pa.CompressedInputStream(pa.PythonFile(file), compression) as stream:
                    yield stream
                return
        yield file


def _csv_schema(path: Path) -> pl.Schema:
    """The names in the header; the whole file is counted."""
    size = limits.TextSize(path, n_headers=1)
    with _uncompressed(path) as file:
        size.add(limits.chunks_of(file))
    with _uncompressed(path) as file:
        lines = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
        names = next(csv.reader(lines))
        limits.check(len(names), limits.MAX_COLUMNS, "columns", path, FEWER_COLUMNS)
    return pl.Schema(dict.fromkeys(names, pl.String))


def _read_csv(
    path: Path, columns: list[str], numbers: Collection[str], names: Collection[str]
) -> pl.DataFrame:
    """Columns of a CSV file, without the marks that `polarbear export` adds."""
    with _uncompressed(path) as file:
        blocks = [_frame_of(block, columns, numbers, names) for block in _blocks(file)]
    return pl.concat(blocks, rechunk=True)


def _blocks(file: BinaryIO | pa.NativeFile) -> Iterator[bytes]:
    """The text of a CSV file in blocks of whole rows, each below the header.

    From the first quotation mark on it is one block, since a cell between such marks may have
    several lines.
    """
    header = b""
    rest = b""
    while chunk := file.read(BLOCK_BYTES):
        text = rest + chunk
        if b'"' in text:
            yield header + text + file.read()
            return
        end = text.rfind(b"\n") + 1
        rest = text[end:]
        if end:
            yield header + text[:end]
            header = header or text[: text.index(b"\n") + 1]
    if rest:
        yield header + rest


def _frame_of(
    block: bytes, columns: list[str], numbers: Collection[str], names: Collection[str]
) -> pl.DataFrame:
    """Columns of a block of CSV, as `TableFile.read` describes them."""
    frame = pl.read_csv(block, columns=columns, infer_schema=False)
    if b"'" in block:
        frame = with_formulas(frame)
    converted = [_as_numbers(frame[name]) for name in columns if name in numbers]
    categories = pl.col([name for name in columns if name in names]).cast(pl.Categorical)
    return frame.with_columns(*converted, categories)


def _as_numbers(texts: pl.Series) -> pl.Series:
    """Texts as numbers, NaN where one is none; null where there is no text."""
    converted = texts.cast(pl.Float64, strict=False)
    if converted.null_count() == texts.null_count():
        return converted
    converted = texts.str.strip_chars().cast(pl.Float64, strict=False)
    return converted.set(converted.is_null() & texts.is_not_null(), float("nan"))


# --- Parquet ---------------------------------------------------------------------------------
# Files are read by pyarrow, which reports damage as an error; Polars' reader panics.


def _parquet_schema(path: Path) -> pl.Schema:
    _check_footer(path)
    metadata = pq.read_metadata(path)
    limits.check(metadata.num_columns, limits.MAX_COLUMNS, "columns", path, FEWER_COLUMNS)
    limits.check(metadata.num_rows, limits.MAX_ROWS, "rows", path, limits.FEWER_ROWS)
    return _frame(metadata.schema.to_arrow_schema().empty_table()).schema


def _check_footer(path: Path) -> None:
    """Refuse a file whose description alone is long, for example of very many columns."""
    with path.open("rb") as file:
        file.seek(-min(FOOTER_LENGTH_BYTES, path.stat().st_size), io.SEEK_END)
        n_bytes = int.from_bytes(file.read(4), "little")
    if n_bytes < path.stat().st_size:  # otherwise it is damaged, which its reader reports
        limits.check(n_bytes, MAX_FOOTER_BYTES, "bytes of metadata", path, FEWER_COLUMNS)


def _read_parquet(path: Path, columns: list[str]) -> pl.DataFrame:
    """Columns of a Parquet file; a text that is repeated in many rows is read once."""
    with pq.ParquetFile(path) as file:
        fields = file.schema_arrow
        texts = [field.name for field in fields if field.name in columns and _is_text(field.type)]
        _check_chunks(path, file.metadata, columns)
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        # Arrow's threads may still use the file when it is closed.
        table = file.read(columns, use_threads=False)
    table.validate(full=True)
    _check_texts(path, table.columns)
    return _frame(table)


def _check_chunks(path: Path, metadata: pq.FileMetaData, columns: list[str]) -> None:
    """Refuse columns that are too large when they are decoded."""
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    chunks = [group.column(i) for group in groups for i in range(group.num_columns)]
    n_bytes = 0
    for chunk in chunks:
        if chunk.path_in_schema in columns:
            n_bytes += max(8 * chunk.num_values, chunk.total_uncompressed_size)
            if PREFIXED in chunk.encodings:
                raise ImportFailedError(
                    f"the column '{chunk.path_in_schema}' of {path} is encoded as {PREFIXED}, "
                    "which an import does not read: write it with another encoding, or as CSV"
                )
    limits.check(n_bytes, limits.MAX_TABLE_BYTES, "bytes", path, limits.FEWER_ROWS)


def _check_texts(path: Path, columns: Sequence[pa.ChunkedArray]) -> None:
    """Refuse texts that are too long, alone or all together; each is held once so far."""
    n_bytes = 0
    for chunk in [chunk for column in columns for chunk in column.chunks]:
        if pa.types.is_dictionary(chunk.type) and _is_text(chunk.type.value_type):
            lengths = pc.binary_length(chunk.dictionary)
            longest = pc.max(lengths).as_py() or 0
            limits.check(longest, limits.MAX_TEXT_BYTES, "bytes", f"a text in {path}", SHORTER)
            n_bytes += pc.sum(lengths.take(chunk.indices)).as_py() or 0
    limits.check(n_bytes, limits.MAX_TABLE_BYTES, "bytes of text", path, limits.FEWER_ROWS)


def _is_text(kind: pa.DataType) -> bool:
    return kind in (pa.string(), pa.large_string())


def _frame(table: pa.Table) -> pl.DataFrame:
    """A table without the metadata of columns, on which Polars panics if they are wrong."""
    return pl.DataFrame(pa.table(table.columns, names=table.column_names))
