"""The classical view as a record."""

from __future__ import annotations

from pathlib import Path

from polarbear.classical import view
from polarbear.classical.facts import compared, with_pair
from polarbear.plain import plain
from tests.classical.helpers import Run, make_store


def test_a_pair_is_there_only_where_it_is_asked_for(tmp_path: Path):
    runs = {"A": [Run([1], [1.0])] * 3, "B": [Run([1, 50], [4.0, 2.0])] * 3}
    found = view(make_store(tmp_path / "s", runs))
    told = compared(found, "s")
    assert [row.algorithm for row in told.aocc] == ["A", "B"]
    assert [point.t for point in told.ecdf[0].at] == [1, 10, 100]
    keys = list(plain(told))
    assert keys[:2] == ["store", "axis"]
    assert keys[-2:] == ["notes", "written"]
    paired = plain(with_pair(told, found, "A", "B"))
    assert list(paired)[-3:] == ["notes", "pair", "written"]
    assert paired["pair"]["b_ahead"] is None


def test_one_evaluation_is_singular(tmp_path: Path):
    """A is ahead at the very first evaluation only."""
    runs = {
        "A": [Run([1], [1.0])] * 3,
        "B": [Run([1, 2], [9.0, 1.0])] * 3,
    }
    found = view(make_store(tmp_path / "s", runs, grid=(1.0, 2.0, 3.0)))
    told = with_pair(compared(found, "s"), found, "A", "B")
    assert told.pair is not None
    assert "by the most at 1 evaluation and" in told.pair.words[0]
