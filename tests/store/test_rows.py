"""Rows as plain values, held against polars on the same tables."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from polarbear.store.rows import Rows

SCHEMA = pa.schema(
    [
        ("name", pa.string()),
        ("attempt", pa.int32()),
        ("value", pa.float64()),
        ("made_by", pa.string()),
        ("started", pa.timestamp("us", "UTC")),
    ]
)
NAMES = ["b", "a", "Z", "é", "\U0001f43b", "a b", "", "￿"]  # order by sign, as polars has it


@pytest.fixture
def parts() -> list[pa.Table]:
    """Tables of many rows that share names and attempts, some rows of which stand twice."""
    rng = np.random.default_rng(5)
    rows = [
        {
            "name": NAMES[rng.integers(len(NAMES))],
            "attempt": int(rng.integers(1, 4)),
            "value": float(rng.normal()),
            "made_by": [None, "x", "y"][rng.integers(3)],
            "started": datetime(2026, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(micro)),
        }
        for micro in rng.integers(-(10**15), 10**15, 200)
    ]
    return [pa.Table.from_pylist(some, SCHEMA) for some in (rows[:120], rows[100:], [])]


def as_polars(parts: list[pa.Table]) -> pl.DataFrame:
    frame = pl.from_arrow(pa.concat_tables(parts))
    assert isinstance(frame, pl.DataFrame)
    return frame


def test_all_rows_come_in_the_order_of_columns(parts: list[pa.Table]):
    rows = Rows.of(SCHEMA, parts, ("name", "attempt", "value"))
    expected = as_polars(parts).sort("name", "attempt", "value")
    assert rows.frame.equals(expected)
    assert list(rows.records()) == expected.to_dicts()
    assert rows.tuples("started", "name") == expected.select("started", "name").rows()


def test_without_an_order_rows_come_as_they_are(parts: list[pa.Table]):
    assert Rows.of(SCHEMA, parts).frame.equals(as_polars(parts))


@pytest.mark.parametrize("names", [["name"], ["name", "attempt"], ["attempt", "started", "name"]])
def test_the_first_and_the_last_of_equal_ones(parts: list[pa.Table], names: list[str]):
    rows = Rows.of(SCHEMA, parts, ("value",))
    expected = rows.frame
    first = expected.unique(names, keep="first", maintain_order=True)
    last = expected.unique(names, keep="last", maintain_order=True)
    assert rows.first_of(*names).frame.equals(first)
    assert rows.last_of(*names).frame.equals(last)


def test_groups_come_as_their_first_rows_do(parts: list[pa.Table]):
    rows = Rows.of(SCHEMA, parts, ("value",))
    grouped = rows.frame.group_by("name", "attempt", maintain_order=True)
    expected = [(key, frame["value"].to_list()) for key, frame in grouped]
    assert [(key, some["value"]) for key, some in rows.by("name", "attempt").items()] == expected


def test_some_rows_keep_their_order(parts: list[pa.Table]):
    rows = Rows.of(SCHEMA, parts, ("value",))
    kept = [name != "a" for name in rows["name"]]
    assert rows.where(kept).frame.equals(rows.frame.filter(pl.col("name") != "a"))


def test_a_table_without_rows_has_none():
    rows = Rows.of(SCHEMA, [], ("started", "name")).first_of("name", "started")
    assert len(rows) == len(rows.last_of("name")) == len(rows.by("name")) == 0
    assert list(rows.records()) == rows.tuples("started") == rows["value"] == []
    assert rows.frame.is_empty()
    assert rows.frame.columns == SCHEMA.names
