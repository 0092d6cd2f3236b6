"""From an import to a store, and what is told of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from polarbear.errors import StoreMismatchError
from polarbear.formats.base import RunCollection, imported_points
from polarbear.formats.table import Table
from polarbear.formats.transfer import GridOptions, ImportResult, add_imported
from polarbear.plain import plain
from polarbear.settings.grid import Budget
from polarbear.store import Store

ROWS = "algorithm,instance,t,y\nA,i1,1,5\nA,i1,10,3\nB,i1,2,4\nB,i1,x,4\n"


def added(folder: Path, text: str = ROWS, grid: GridOptions | None = None) -> ImportResult:
    (folder / "data.csv").write_text(text)
    return add_imported(folder / "s", Table().read(folder / "data.csv"), grid)


def test_it_says_what_was_added_what_was_there_and_what_was_rejected(tmp_path: Path):
    first = added(tmp_path)
    assert (first.kind, first.added, first.present, first.instances) == ("runs", 2, 0, 1)
    assert first.algorithms == ("A", "B")
    assert [complaint.words for complaint in first.rejected] == ["1 row: t is not a finite number"]
    again = added(tmp_path)
    assert (again.added, again.present) == (0, 2)
    assert list(plain(again)) == [
        "store", "kind", "added", "present", "algorithms", "instances", "rejected", "notes",
    ]  # fmt: skip
    assert list(plain(again)["rejected"][0]) == ["rows", "reason", "first"]


def test_the_grid_spans_the_data_unless_ends_are_given(tmp_path: Path):
    added(tmp_path, grid=GridOptions(points=4, spacing="linear", last=7.0))
    budget = Budget.model_validate(Store.open(tmp_path / "s").config["budget"])
    assert budget.times.tolist() == [1, 3, 5, 7]


def add_run(folder: Path, algorithm: str, **facts: float) -> ImportResult:
    runs = RunCollection(folder)
    runs.add(algorithm, "f1-d2-i1", [(1.0, 5.0)], facts)
    return add_imported(folder / "s", runs.imported())


def test_distances_to_the_optimum_and_other_values_are_not_mixed(tmp_path: Path):
    add_run(tmp_path, "A", optimum=0.0)
    add_run(tmp_path, "B", optimum=0.0)
    with pytest.raises(StoreMismatchError, match="is 0 in .* but unknown in the source"):
        add_run(tmp_path, "C")


def test_the_stored_spec_of_an_instance_does_not_change(tmp_path: Path):
    add_run(tmp_path, "A")
    add_run(tmp_path, "B", optimum=0.0)
    (spec,) = Store.open(tmp_path / "s").instances()["spec"]
    assert "optimum" not in spec


def test_instances_without_a_run_number_are_problems_of_their_own(tmp_path: Path):
    points = [("A", "i1", 1.0, 5.0), ("A", "i2", 1.0, 4.0), ("A", "i3#2", 1.0, 3.0)]
    add_imported(tmp_path / "s", imported_points(points, tmp_path))
    assert Store.open(tmp_path / "s").problems() == {"i3#2": "i3"}
