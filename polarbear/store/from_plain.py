"""Plain values as columns, and rows of them as tables: `numbers.py` does it for arrays.

pyarrow's own ways, `pa.array`, `pa.table` and `Table.from_pylist`, load pandas wherever it is
installed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from polarbear.store.numbers import EPOCH, column_of

MOMENT = pa.timestamp("us", "UTC")
NUMBERS = {pa.int32(): np.int32, pa.int64(): np.int64, pa.float64(): np.float64}
MOST = 2**31 - 1  # bytes of all texts in a column, or values in all its lists


def table_from(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """A row each of what these map the columns' names to; what is not there is missing."""
    columns = [column_from([row.get(field.name) for row in rows], field.type) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def column_from(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Values of one kind as a column; None is one that is missing."""
    if not len(values):
        return pa.nulls(0, kind)
    made = None
    missing = np.array([value is None for value in values])
    known = pa.py_buffer(np.packbits(~missing, bitorder="little")) if missing.any() else None
    if kind == pa.string():
        made = _texts([b"" if value is None else value.encode() for value in values], known)
    elif kind == MOMENT:
        ticks = [0 if one is None else (one - EPOCH) // timedelta(microseconds=1) for one in values]
        made = pa.Array.from_buffers(kind, len(ticks), [known, pa.py_buffer(np.array(ticks))])
    elif kind in NUMBERS:
        made = _numbers(np.array([0 if one is None else one for one in values]), kind, known)
    elif pa.types.is_list(kind) and known is None:
        made = _lists(values, kind.value_type)
    return pa.array(values, kind) if made is None else made  # if they are wrong, it says how


def _texts(texts: Sequence[bytes], known: pa.Buffer | None) -> pa.Array | None:
    places = _places(texts)
    if places is None:
        return None
    buffers = [known, pa.py_buffer(places), pa.py_buffer(b"".join(texts))]
    return pa.Array.from_buffers(pa.string(), len(texts), buffers)


def _numbers(found: np.ndarray, kind: pa.DataType, known: pa.Buffer | None) -> pa.Array | None:
    if found.dtype.kind not in ("iuf" if kind == pa.float64() else "iu"):
        return None
    made = found.astype(NUMBERS[kind])
    if not np.array_equal(found, made, equal_nan=True):  # too large
        return None
    return pa.Array.from_buffers(kind, len(made), [known, pa.py_buffer(made)])


def _lists(values: Sequence[Any], kind: pa.DataType) -> pa.Array | None:
    places = _places(values)
    if places is None:
        return None
    if all(isinstance(one, np.ndarray) for one in values) and kind in NUMBERS:
        flat = _numbers(np.concatenate(values), kind, None)
    else:
        flat = column_from(list(chain.from_iterable(values)), kind)
    return None if flat is None else pa.ListArray.from_arrays(column_of(places), flat)


def _places(lists: Sequence[Any]) -> np.ndarray | None:
    """Where each begins and ends, if they stand one after the other; None where that is too far."""
    places = np.cumsum([0, *map(len, lists)])
    return places.astype(np.int32) if places[-1] <= MOST else None
