"""Rows of stored tables as plain values: to load polars takes longer than to read most stores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from polarbear.store.numbers import EPOCH, numbers

if TYPE_CHECKING:
    import polars as pl


class Columns:
    """A stored table, each of whose columns is turned into values once."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table
        self._values: dict[str, list[Any]] = {}
        self._ranks: dict[str, np.ndarray] = {}

    def values(self, name: str) -> list[Any]:
        if name not in self._values:
            column = self.table[name]
            timed = pa.types.is_timestamp(column.type)
            self._values[name] = _moments(column) if timed else column.to_pylist()
        return self._values[name]

    def ranks(self, name: str) -> np.ndarray:
        """Of each row, the place of its value among all in the column, none of which is missing."""
        if name not in self._ranks:
            values = self.values(name)
            place = {value: position for position, value in enumerate(sorted(set(values)))}
            self._ranks[name] = np.array([place[value] for value in values], dtype=np.int64)
        return self._ranks[name]

    @cached_property
    def frame(self) -> pl.DataFrame:
        import polars as pl  # only who asks for it loads it

        rows = pl.from_arrow(self.table)
        assert isinstance(rows, pl.DataFrame), "a table has columns"
        return rows


class Rows:
    """Some rows of a stored table, in an order."""

    def __init__(self, columns: Columns, places: np.ndarray) -> None:
        self._columns = columns
        self._places = places

    @classmethod
    def of(cls, schema: pa.Schema, parts: Iterable[pa.Table], order: Sequence[str] = ()) -> Rows:
        """The rows of all parts, in the order of these columns."""
        nothing = pa.Table.from_batches([], schema)  # Schema.empty_table would load pandas
        columns = Columns(pa.concat_tables([nothing, *parts]))
        if not order:
            return cls(columns, np.arange(len(columns.table)))
        return cls(columns, np.lexsort([columns.ranks(name) for name in reversed(order)]))

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, name: str) -> list[Any]:
        """The values of a column."""
        values = self._columns.values(name)
        return [values[place] for place in self._places.tolist()]

    def tuples(self, *names: str) -> list[tuple[Any, ...]]:
        """The values of some columns, row by row."""
        return list(zip(*(self[name] for name in names), strict=True))

    def records(self) -> Iterator[dict[str, Any]]:
        """Each row, its values by the names of their columns."""
        names = self._columns.table.column_names
        return (dict(zip(names, row, strict=True)) for row in self.tuples(*names))

    def where(self, kept: Sequence[bool] | np.ndarray) -> Rows:
        """Those of the rows for which this is true."""
        return Rows(self._columns, self._places[np.asarray(kept, dtype=bool)])

    def first_of(self, *names: str) -> Rows:
        """Of all rows with the same values in these columns the first."""
        _, first = np.unique(self._groups(names), return_index=True)
        return Rows(self._columns, self._places[np.sort(first)])

    def last_of(self, *names: str) -> Rows:
        """Of all rows with the same values in these columns the last."""
        _, from_end = np.unique(self._groups(names)[::-1], return_index=True)
        return Rows(self._columns, self._places[np.sort(len(self) - 1 - from_end)])

    def by(self, *names: str) -> dict[tuple[Any, ...], Rows]:
        """Rows with the same values in these columns together, as their first ones come."""
        groups = self._groups(names)
        _, first, which = np.unique(groups, return_index=True, return_inverse=True)
        keys = self.tuples(*names)
        return {keys[first[g]]: self.where(which == g) for g in np.argsort(first).tolist()}

    @property
    def frame(self) -> pl.DataFrame:
        """The same as polars has them."""
        return self._columns.frame[self._places]

    def _groups(self, names: Sequence[str]) -> np.ndarray:
        """A number for each row, the same for rows with the same values in these columns."""
        groups = np.zeros(len(self), dtype=np.int64)
        for name in names:
            ranks = self._columns.ranks(name)
            groups = groups * (ranks.max(initial=0) + 1) + ranks[self._places]
        return groups


def _moments(column: pa.ChunkedArray) -> list[datetime]:
    """Times in microseconds, none of them missing; pyarrow's own way would load pandas."""
    return [EPOCH + timedelta(microseconds=one) for one in numbers(column, np.int64).tolist()]
