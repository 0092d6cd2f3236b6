"""Numbers of stored columns as arrays, and arrays as columns, straight from memory.

pyarrow's own ways from and to NumPy load pyarrow.compute, and pandas wherever it is installed,
which takes longer than to read most stores.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)  # from which times are counted, in microseconds


def numbers(column: pa.Array | pa.ChunkedArray, kind: type[np.number[Any]]) -> np.ndarray:
    """A column of numbers of this kind, none of them missing."""
    if not len(column):  # to combine no chunks of times would load pandas
        return np.empty(0, kind)
    flat = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    start = flat.offset * np.dtype(kind).itemsize
    return np.frombuffer(flat.buffers()[1], kind, len(flat), start)


def ends(lists: pa.ListArray) -> np.ndarray:
    """Where each list of a column begins and ends among its values."""
    return numbers(lists.offsets, np.int32)


def numbers_of_lists(column: pa.ChunkedArray, kind: type[np.number[Any]]) -> np.ndarray:
    """All numbers in a column of lists, one list after the other."""
    lists = column.combine_chunks()
    if not len(lists):
        return np.empty(0, kind)
    places = ends(lists)
    return numbers(lists.values, kind)[places[0] : places[-1]]


def column_of(values: np.ndarray) -> pa.Array:
    """Numbers as a column."""
    kind = pa.from_numpy_dtype(values.dtype)
    flat = np.ascontiguousarray(values)
    return pa.Array.from_buffers(kind, len(flat), [None, pa.py_buffer(flat)])


def column_of_lists(rows: np.ndarray) -> pa.ListArray:
    """A matrix as a column of lists, one a row."""
    size, width = rows.shape
    places = np.arange(size + 1, dtype=np.int32) * np.int32(width)
    return pa.ListArray.from_arrays(column_of(places), column_of(rows.ravel()))
