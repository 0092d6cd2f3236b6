"""What a store holds, in rows that have names."""

from __future__ import annotations

from pathlib import Path

from polarbear.execution.outcome import Status
from polarbear.plain import plain
from polarbear.store import Store, summary
from polarbear.store.summary import AlgorithmRuns, Failure
from tests.classical.helpers import Run, make_store


def store_of(folder: Path) -> Store:
    failed = Run([1], [2.0], Status.CRASHED)
    return make_store(folder / "s", {"A": [Run([1], [3.0]), failed, failed], "B": [None] * 3})


def test_each_algorithm_has_a_row_even_without_runs(tmp_path: Path):
    a, b = summary.by_algorithm(store_of(tmp_path))
    assert (a.algorithm, a.runs, a.failed) == ("A", 3, 2)
    assert b == AlgorithmRuns("B")
    assert list(plain(a)) == [
        "algorithm", "runs", "failed", "ended", "invalid", "reached", "evaluations", "seconds",
        "spent",
    ]  # fmt: skip


def test_failures_that_say_the_same_are_one_with_an_example(tmp_path: Path):
    assert summary.failures(store_of(tmp_path)) == [Failure("A", "crashed", "", 2, "i001")]


def test_machines_are_counted(tmp_path: Path):
    (host,) = summary.hosts(store_of(tmp_path))
    assert (host.host, host.runs) == ("test", 3)
