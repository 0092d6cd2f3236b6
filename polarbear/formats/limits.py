"""Limits of imports, which are checked before the content of a source is held in memory.

A few bytes on a disk can be far more in memory: compressed, repeated, or holes of a sparse file.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from polarbear.errors import ImportFailedError

MAX_ROWS = 10_000_000  # rows of a table, or lines of all text files
MAX_COLUMNS = 10_000  # columns of a table, used or not
MAX_TABLE_BYTES = 2**30  # bytes of the used columns of a table, uncompressed
MAX_TEXT_BYTES = 2**16  # bytes of one text in a table or a database
MAX_SOURCE_BYTES = 2**30  # bytes of all text files of a source, uncompressed
MAX_LINE_BYTES = 2**22  # bytes of a line of text; lines of up to twice as many may be accepted
MAX_JSON_BYTES = 2**25  # bytes of a JSON file

FEWER_ROWS = "keep the rows at which y improves and the last one of each run"
FEWER_FILES = "import parts of it one by one into the same store"


def check(amount: int, most: int, units: str, source: Path | str, remedy: str) -> None:
    """Refuse a source that has more of something than an import reads."""
    if amount > most:
        raise ImportFailedError(
            f"{source} has more than {most:,} {units}, which an import does not read: {remedy}"
        )


class TextSize:
    """The lines and bytes of the text files of a source, counted before they are read.

    The first ``n_headers`` lines do not count.
    """

    def __init__(self, source: Path, n_headers: int = 0) -> None:
        self._source = source
        self._n_lines = -n_headers
        self._n_bytes = 0

    def add(self, chunks: Iterable[bytes]) -> None:
        """Count the chunks of a text, all of MAX_LINE_BYTES but the last one."""
        for chunk in chunks:
            n_lines = chunk.count(b"\n")
            if not n_lines and len(chunk) == MAX_LINE_BYTES:
                check(
                    MAX_LINE_BYTES + 1,
                    MAX_LINE_BYTES,
                    "bytes",
                    f"a line of {self._source}",
                    "is it a text file?",
                )
            self._n_lines += n_lines
            self._n_bytes += len(chunk)
            check(self._n_lines, MAX_ROWS, "lines", self._source, FEWER_FILES)
            check(self._n_bytes, MAX_SOURCE_BYTES, "bytes of text", self._source, FEWER_FILES)


def chunks_of(file: Any) -> Iterator[bytes]:
    """The content of a file in chunks of MAX_LINE_BYTES."""
    while chunk := file.read(MAX_LINE_BYTES):
        yield chunk


def check_text_files(paths: Sequence[Path], source: Path) -> None:
    """Refuse a source whose text files are too long together, or that has a too long line."""
    size = TextSize(source)
    try:
        for path in paths:
            with path.open("rb") as file:
                size.add(chunks_of(file))
    except OSError as error:
        raise ImportFailedError(f"cannot read {path}: {error.strerror}") from None


def read_json(path: Path) -> Any:
    """The content of a JSON file of bounded size."""
    check(path.stat().st_size, MAX_JSON_BYTES, "bytes", path, FEWER_FILES)
    return json.loads(path.read_text(encoding="utf-8"))
