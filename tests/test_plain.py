"""Records as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

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


def test_a_named_tuple_is_a_record_and_no_list():
    assert plain([Row("r", (Part(1.0, None),))]) == [
        {"name": "r", "parts": [{"from": 1.0, "to": None}]}
    ]


def test_fields_become_keys_in_their_order_and_records_inside_too():
    whole = Whole("w", (Part(1.0, None),), {"p": Part(2.0, 3.0)})
    assert plain(whole) == {
        "name": "w",
        "parts": [{"from": 1.0, "to": None}],
        "by_name": {"p": {"from": 2.0, "to": 3.0}},
    }
    assert list(plain(whole)) == ["name", "parts", "by_name"]


def test_what_was_asked_for_is_there_with_all_that_stands_beside_it():
    assert plain(Whole("w", (), {}, found=())) == {
        "name": "w",
        "parts": [],
        "by_name": {},
        "found": [],
        "verdict": None,
    }


def test_properties_that_a_class_lists_follow_its_fields():
    assert plain(Judged(2.0)) == {"score": 2.0, "passed": True}


def test_what_is_plain_already_stays_as_it_is():
    assert plain({"a": [1, "b", None]}) == {"a": [1, "b", None]}
