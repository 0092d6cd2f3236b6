"""Records are converted to values of JSON."""

import json
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import pytest

from polarbear.records import json_values, optional_key


@dataclass(frozen=True)
class Part:
    from_: float
    to: float | None


@dataclass(frozen=True)
class Document:
    name: str
    parts: tuple[Part, ...]
    by_name: dict[str, Part]
    remarks: tuple[str, ...] | None = optional_key()
    verdict: str | None = None


@dataclass(frozen=True)
class Judged:
    DERIVED: ClassVar[tuple[str, ...]] = ("passed",)
    score: float

    @property
    def passed(self) -> bool:
        return self.score > 1


class Row(NamedTuple):
    name: str
    parts: tuple[Part, ...]


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ([Row("r", (Part(1.0, None),))], [{"name": "r", "parts": [{"from": 1.0, "to": None}]}]),
        (
            Document("w", (Part(1.0, None),), {"p": Part(2.0, 3.0)}),
            {
                "name": "w",
                "parts": [{"from": 1.0, "to": None}],
                "by_name": {"p": {"from": 2.0, "to": 3.0}},
                "verdict": None,
            },
        ),
        (
            Document("w", (), {}, remarks=()),
            {"name": "w", "parts": [], "by_name": {}, "remarks": [], "verdict": None},
        ),
        (Judged(2.0), {"score": 2.0, "passed": True}),
        ({"a": [1, "b", None]}, {"a": [1, "b", None]}),
    ],
    ids=["tuple", "fields", "optional key", "properties", "mapping"],
)
def test_fields_become_keys_in_their_order(record, expected):
    assert json_values(record) == expected
    assert json.dumps(json_values(record)) == json.dumps(expected)
