"""Stored tables as polars shows them, which takes longer to load than most of them to be read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    import polars as pl


def frame(schema: pa.Schema, parts: Iterable[pa.Table]) -> pl.DataFrame:
    """The rows of all parts; only who asks for them loads polars."""
    import polars as pl

    nothing = pa.Table.from_batches([], schema)  # Schema.empty_table would load pandas
    rows = pl.from_arrow(pa.concat_tables([nothing, *parts]))
    assert isinstance(rows, pl.DataFrame), "a table has columns"
    return rows
