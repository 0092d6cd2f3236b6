"""Records as plain data."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import pytest

from polarbear.plain import asked, plain


@dataclass(frozen=True)
class Part:
    from_: float
    to: float | None


@dataclass(frozen=True)
class Whole:
    name: str
    parts: tuple[Part, ...]
    by_name: dict[str, Part]
    found: tuple[str, ...] | None = asked()
    verdict: str | None = asked(beside="found")


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
        (
            [Row("r", (Part(1.0, None),))],
            [{"name": "r", "parts": [{"from": 1.0, "to": None}]}],
        ),
        (
            Whole("w", (Part(1.0, None),), {"p": Part(2.0, 3.0)}),
            {
                "name": "w",
                "parts": [{"from": 1.0, "to": None}],
                "by_name": {"p": {"from": 2.0, "to": 3.0}},
            },
        ),
        (
            Whole("w", (), {}, found=()),
            {"name": "w", "parts": [], "by_name": {}, "found": [], "verdict": None},
        ),
        (Judged(2.0), {"score": 2.0, "passed": True}),
        ({"a": [1, "b", None]}, {"a": [1, "b", None]}),
    ],
    ids=["tuple", "fields", "asked for", "properties", "plain"],
)
def test_fields_become_keys_in_their_order(record, expected):
    assert plain(record) == expected
    assert json.dumps(plain(record)) == json.dumps(expected)
