"""Rankings for PrefLib: the same orders at every time."""

from __future__ import annotations

from pathlib import Path

import pytest

import polarbear as pb
from polarbear.errors import ExportFailedError
from polarbear.execution.status import Status
from tests.classical.helpers import Run, make_store

RUNS = {
    "A": [Run([1], [1.0]), Run([1], [1.0]), Run([1], [3.0]), Run([1], [1.0])],
    "B": [Run([1], [2.0]), Run([1], [1.0]), Run([1], [2.0]), Run([1, 50], [2.0, 0.5])],
    "C": [Run([1], [2.0]), Run([1], [5.0]), Run([1], [1.0]), Run([1], [9.0], Status.BUDGET, 20)],
}


def read(path: Path) -> object:
    instances = pytest.importorskip("preflibtools.instances")
    found = instances.OrdinalInstance()
    found.parse_file(str(path))
    return found


def test_preflibtools_reads_the_rankings_of_each_time(tmp_path: Path):
    make_store(tmp_path / "s", RUNS, grid=(10.0, 100.0))
    told = pb.open(tmp_path / "s").export("preflib", tmp_path / "out")
    assert told.what == "8 rankings at 2 times"
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["0001.toc", "0002.toi"]
    first = read(tmp_path / "out" / "0001.toc")
    assert first.alternatives_name == {1: "A", 2: "B", 3: "C"}
    assert first.title == "rankings at 10 evaluations"
    assert sorted(first.full_profile()) == sorted(
        [((1,), (2, 3)), ((1, 2), (3,)), ((3,), (2,), (1,)), ((1,), (2,), (3,))]
    )
    assert (first.num_voters, first.num_unique_orders) == (4, 4)
    assert first.infer_type() == "toc"
    second = read(tmp_path / "out" / "0002.toi")
    assert ((2,), (1,)) in second.full_profile()
    assert second.infer_type() == "toi"


def test_preflibs_own_checks_find_nothing(tmp_path: Path):
    sanity = pytest.importorskip("preflibtools.instances.sanity")
    make_store(tmp_path / "s", {k: [*runs, runs[0]] for k, runs in RUNS.items()}, grid=(10.0,))
    pb.open(tmp_path / "s").export("preflib", tmp_path / "out")
    assert sanity.orders(read(tmp_path / "out" / "0001.toc")) == []


def test_one_algorithm_alone_is_no_ranking(tmp_path: Path):
    make_store(tmp_path / "s", {"A": [Run([1], [1.0])]})
    with pytest.raises(ExportFailedError, match="no ranking of two or more"):
        pb.open(tmp_path / "s").export("preflib", tmp_path / "out")
