"""Plain values as columns: held against pyarrow's own way."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from polarbear.store import from_plain, tables
from polarbear.store.from_plain import column_from, table_from

NOON = datetime(2026, 2, 3, 12, 0, 0, 123456, tzinfo=UTC)
TEXTS = ["", "a", "ä, ö", "雪だるま", "\x00 inside\x00", "🐻‍❄️"]
COLUMNS: list[tuple[pa.DataType, list[Any]]] = [
    (pa.string(), TEXTS),
    (pa.string(), [None, "a", None]),
    (pa.string(), [None] * 9),
    (pa.int32(), [1, -(2**31), 2**31 - 1]),
    (pa.int64(), [0, None, 2**63 - 1, -(2**63)]),
    (pa.int64(), [2**63 - 1, -(2**63)]),
    (pa.int64(), [np.int64(3), 4]),
    (pa.int64(), [1.5]),  # which it cuts
    (pa.float64(), [1, 2.5, np.float64(-0.0), float("inf")]),
    (pa.float64(), [None, float("nan"), -1e300]),
    (pa.float64(), [2**53, 1.5]),
    (pa.timestamp("us", "UTC"), [NOON, None, datetime(1969, 12, 31, 23, 59, tzinfo=UTC)]),
    (pa.timestamp("us", "UTC"), [NOON.astimezone(timezone(timedelta(hours=5)))]),
    (pa.list_(pa.float64()), [np.array([1.0, np.inf]), np.array([]), np.array([2.0])]),
    (pa.list_(pa.float64()), [[1.0, None], [], [2]]),
    (pa.list_(pa.float64()), [None, [1.0]]),
    (pa.list_(pa.float64()), [[], []]),
    (pa.list_(pa.string()), [["a", "b"], [], ["ä"]]),
    (pa.bool_(), [True, None, False]),
]


@pytest.mark.parametrize(("kind", "values"), COLUMNS, ids=str)
def test_a_column_is_the_one_that_pyarrow_makes(kind: pa.DataType, values: list[Any]):
    made, expected = column_from(values, kind), pa.array(values, kind)
    made.validate(full=True)
    assert made.type == kind
    assert made.null_count == expected.null_count
    same = [
        (a == b) | (a is None and b is None) | (a != a and b != b)
        for a, b in zip(flat(made), flat(expected), strict=True)
    ]
    assert all(same)


def flat(column: pa.Array) -> list[Any]:
    values = column.to_pylist()
    return [one for part in values for one in part] if all_lists(values) else values


def all_lists(values: list[Any]) -> bool:
    return all(isinstance(one, list) for one in values)


@pytest.mark.parametrize("schema", [*tables.ALL.values(), tables.EARLY, tables.SET_ASIDE])
def test_no_row_makes_a_table_of_the_right_kind(schema: pa.Schema):
    assert table_from([], schema).equals(pa.Table.from_pylist([], schema))


def test_what_a_row_lacks_is_missing_and_what_no_column_is_called_is_left_out():
    schema = pa.schema([("a", pa.string()), ("b", pa.float64())])
    rows = [{"a": "x", "c": 1}, {"b": 2.0}]
    assert table_from(rows, schema).equals(pa.Table.from_pylist(rows, schema))
    assert table_from(rows, schema).to_pylist() == [{"a": "x", "b": None}, {"a": None, "b": 2.0}]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.int32(), [2**31]),
        (pa.int64(), [2**63]),
        (pa.int64(), [float("nan")]),
        (pa.float64(), ["1.0"]),
        (pa.list_(pa.float64()), [["1.0"]]),
    ],
    ids=str,
)
def test_what_a_column_cannot_hold_is_refused_as_pyarrow_does(kind: pa.DataType, values: list[Any]):
    with pytest.raises((pa.ArrowInvalid, pa.ArrowTypeError, OverflowError)) as theirs:
        pa.array(values, kind)
    with pytest.raises(type(theirs.value)):
        column_from(values, kind)


def test_more_than_a_column_s_places_can_count_is_left_to_pyarrow(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(from_plain, "MOST", 3)
    assert column_from(["ab", "cd"], pa.string()).to_pylist() == ["ab", "cd"]
    lists = [[1.0, 2.0], [3.0, 4.0]]
    assert column_from(lists, pa.list_(pa.float64())).to_pylist() == lists
    assert from_plain._places(lists) is None
