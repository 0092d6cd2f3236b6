"""The classical view as a record."""

from __future__ import annotations

from pathlib import Path

from polarbear.classical import view
from polarbear.classical.comparison_facts import compared, pair_facts
from polarbear.plain import plain
from tests.classical.helpers import Run, make_store


def test_a_pair_is_there_only_where_it_is_asked_for(tmp_path: Path):
    runs = {"A": [Run([1], [1.0])] * 3, "B": [Run([1, 50], [4.0, 2.0])] * 3}
    store = make_store(tmp_path / "s", runs)
    found = view(store)
    told = compared(store, found)
    assert [row.algorithm for row in told.aocc] == ["A", "B"]
    assert [point.t for point in told.ecdf[0].at] == [1, 10, 100]
    keys = list(plain(told))
    assert keys[:2] == ["store", "axis"]
    assert keys[-2:] == ["notes", "written"]
    paired = plain(compared(store, found, pair_facts(found, "A", "B")))
    assert list(paired)[-3:] == ["notes", "pair", "written"]
    assert paired["pair"]["b_ahead"] is None


def test_one_evaluation_is_singular(tmp_path: Path):
    """A is ahead at the very first evaluation only."""
    runs = {
        "A": [Run([1], [1.0])] * 3,
        "B": [Run([1, 2], [9.0, 1.0])] * 3,
    }
    found = view(make_store(tmp_path / "s", runs, grid=(1.0, 2.0, 3.0)))
    assert "most at 1 evaluation and" in pair_facts(found, "A", "B").words[0]
