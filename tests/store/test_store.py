"""The store has complete changes, one writer, and errors that name the damaged file."""

import errno
import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polarbear.config.configuration import Config, parse
from polarbear.config.contradictions import contradictions
from polarbear.errors import (
    StoreDamagedError,
    StoreFullError,
    StoreMismatchError,
    StoreReadOnlyError,
    StoreVersionError,
)
from polarbear.execution.host import Where
from polarbear.execution.outcome import Outcome, Status, Task
from polarbear.problems.base import Instance
from polarbear.settings.options import Source
from polarbear.store import StoreOnDisk, file_io, fs, moments, tables
from polarbear.store import store as store_module
from polarbear.store.runs import FinishedRun, Reason
from polarbear.store.verify import verify
from tests.support import no_space

HERE = Where("here", "a processor", 0.1, "1")


def configured(*names: str, **changes: Any) -> Config:
    data: dict[str, Any] = {
        "algorithms": [{"name": name, "use": "synthetic"} for name in names or ("A", "B")],
        "instances": {"suite": "synthetic"},
        "budget": {"grid": [10, 100, 1000]},
        **changes,
    }
    return parse(data, Source("test"))


def instance(index: int) -> Instance:
    return Instance(index, f"i{index}", {"seed": index})


def outcome(
    config: Config,
    name: str,
    index: int,
    points: list[tuple[float, float]],
    status: Status = Status.BUDGET,
    reached: float = 1000,
    attempt: int = 1,
) -> Outcome:
    algorithm = next(a for a in config.algorithms if a.name == name)
    times, values = np.array(points, dtype=float).reshape(-1, 2).T
    task = Task(algorithm, instance(index), 7, reached, attempt)
    return Outcome(task, status, "", times, values, int(reached), reached, 0.5, 0, 1.7e9, HERE)


def add(target: StoreOnDisk, *outcomes: Outcome) -> None:
    target.add_runs([FinishedRun.of(outcome, 2) for outcome in outcomes])


def parts_of(store: StoreOnDisk, table: str) -> list[Path]:
    return sorted((store.path / table).glob("part-*.parquet"))


@pytest.fixture
def config() -> Config:
    return configured()


@pytest.fixture
def stored(tmp_path: Path, config: Config) -> StoreOnDisk:
    """A store with two algorithms on one instance."""
    store = StoreOnDisk.create(tmp_path / "store", config.stored())
    with store.writing():
        store.add_instances([instance(0), instance(1)], "synthetic")
        add(store, outcome(config, "A", 0, [(5, 3.0), (50, 2.0)]), outcome(config, "B", 0, []))
    return store


def test_every_stored_column_has_the_type_and_meaning_that_tables_says(stored: StoreOnDisk):
    for name, schema in tables.ALL.items():
        for path in parts_of(stored, name):
            stored_schema = pq.read_schema(path)
            unused = tables.OPTIONAL.difference(stored_schema.names)
            schema = pa.schema(field for field in schema if field.name not in unused)
            assert stored_schema.remove_metadata().equals(schema.remove_metadata())
            assert all(stored_schema.field(column).metadata[b"meaning"] for column in schema.names)


def test_polars_and_duckdb_can_read_a_store(stored: StoreOnDisk):
    parts = str(stored.path / "trajectories" / "*.parquet")
    points = pl.read_parquet(parts).explode("t", "y").drop_nulls()
    assert points.select("algorithm", "t", "y").rows() == [("A", 5.0, 3.0), ("A", 50.0, 2.0)]
    rows = duckdb.sql(f"select algorithm, unnest(t) as t, unnest(y) as y from '{parts}'").fetchall()
    assert rows == [("A", 5.0, 3.0), ("A", 50.0, 2.0)]
    runs = StoreOnDisk.open(stored.path).runs().select("algorithm", "points", "best").rows()
    assert runs == [("A", 2, 2.0), ("B", 0, None)]


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(
    improvements=st.lists(st.integers(1, 40), max_size=12, unique=True).map(sorted),
    grid=st.lists(st.integers(1, 50), min_size=1, max_size=8, unique=True).map(sorted),
    status=st.sampled_from(list(Status)),
    reached=st.integers(40, 50),
)
def test_each_value_on_a_grid_agrees_with_a_plain_loop(improvements, grid, status, reached):
    config = configured("A")
    points = [(float(t), -float(i)) for i, t in enumerate(improvements)]
    with tempfile.TemporaryDirectory() as folder:
        store = StoreOnDisk.create(Path(folder) / "store", config.stored())
        with store.writing():
            store.add_instances([instance(0)], "synthetic")
            add(store, outcome(config, "A", 0, points, status, reached))
        values = store.on_grid(np.array(grid, dtype=float)).values[0, 0]
    for t, value in zip(grid, values, strict=True):
        if status in (Status.BUDGET, Status.LOST) and t > reached:
            assert np.isnan(value)
        else:
            assert value == min((y for at, y in points if at <= t), default=np.inf)


def test_an_algorithm_that_did_not_run_on_an_instance_is_absent_there(stored, config):
    with stored.writing():
        add(stored, outcome(config, "A", 1, [(1, 0.0)]))
    grid = stored.on_grid(np.array([10.0, 1000.0]))
    assert grid.algorithms == ("A", "B")
    assert grid.instances == ("i0", "i1")
    assert np.array_equal(grid.values[0], [[3.0, 2.0], [np.inf, np.inf]])
    assert np.array_equal(grid.values[1], [[0.0, 0.0], [np.nan, np.nan]], equal_nan=True)


def test_a_grid_omits_a_run_on_a_new_instance_that_is_stored_while_it_is_read(
    stored: StoreOnDisk, config: Config, monkeypatch: pytest.MonkeyPatch
):
    """This happens when another process infers during a race."""
    read = StoreOnDisk._with_trajectories

    def after_another_run(self: StoreOnDisk, runs: pl.DataFrame) -> Any:
        with stored.writing():
            add(stored, outcome(config, "A", 1, [(1, 0.0)]))
        return read(self, runs)

    monkeypatch.setattr(StoreOnDisk, "_with_trajectories", after_another_run)
    assert stored.on_grid(np.array([10.0])).instances == ("i0",)
    monkeypatch.undo()
    assert stored.on_grid(np.array([10.0])).instances == ("i0", "i1")


@pytest.mark.parametrize("year", [1890, 4000, 20000])
def test_a_run_at_a_time_that_a_clock_cannot_show_does_not_damage_the_store(
    stored: StoreOnDisk, config: Config, year: int
):
    started = (year - 1970) * 365.25 * 86400
    run = replace(outcome(config, "A", 1, [(5, 3.0)]), started=started)
    with stored.writing():
        add(stored, run)
    assert verify(stored.path).sound
    assert StoreOnDisk.open(stored.path).runs()["started"].max().year in (2023, 4000, 9999)


def test_moments_before_the_first_that_a_store_can_keep_become_that_one(
    stored: StoreOnDisk, monkeypatch: pytest.MonkeyPatch
):
    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            return datetime(1890, 6, 1, tzinfo=tz)

    monkeypatch.setattr(moments, "datetime", Clock)
    with stored.writing():
        stored.set_aside.add(stored.runs(), Reason.FORGOTTEN)
    assert stored.set_aside.runs()["since"].to_list() == [moments.EARLIEST] * 2
    assert verify(stored.path).sound


def test_a_repeated_run_counts_once_with_its_last_attempt(stored: StoreOnDisk, config: Config):
    with stored.writing():
        add(stored, outcome(config, "A", 0, [(5, 3.0), (50, 1.0)], attempt=2))
    assert len(stored.all_runs()) == 3
    assert len(stored.runs()) == 2
    assert stored.on_grid(np.array([1000.0]), ["A"]).values.tolist() == [[[1.0]]]


def test_many_small_parts_are_merged_and_nothing_is_lost(tmp_path, config, monkeypatch):
    monkeypatch.setattr(store_module, "MERGE_ABOVE", 5)
    with_parts = StoreOnDisk.create(tmp_path / "store", config.stored())
    with with_parts.writing():
        for index in range(8):
            with_parts.add_instances([instance(index)], "synthetic")
            add(with_parts, outcome(config, "A", index, [(1, -float(index))]))
            with_parts.merge_parts()
    assert [len(parts_of(with_parts, table)) for table in ("runs", "instances")] == [3, 3]
    assert len(with_parts.instances()) == 8
    values = with_parts.on_grid(np.array([10.0]), ["A"]).values.ravel()
    assert values.tolist() == [-float(index) for index in range(8)]


def test_at_the_end_of_a_race_few_parts_are_merged_too_but_for_large_ones(
    tmp_path: Path, config: Config, monkeypatch: pytest.MonkeyPatch
):
    with_parts = StoreOnDisk.create(tmp_path / "store", config.stored())
    with with_parts.writing():
        for index in range(3):
            points = [(t, -float(t)) for t in range(1, 2 + index)]
            with_parts.add_instances([instance(index)], "synthetic")
            add(with_parts, outcome(config, "A", index, points))
        sizes = sorted(path.stat().st_size for path in parts_of(with_parts, "trajectories"))
        assert sizes[1] < sizes[2]
        with_parts.merge_parts()
        assert len(parts_of(with_parts, "runs")) == 3
        with monkeypatch.context() as patch:
            patch.setattr(store_module, "SMALL_PART_BYTES", sizes[2] * store_module.MERGE_ABOVE)
            with_parts.merge_parts(at_the_end=True)
        assert len(parts_of(with_parts, "trajectories")) == 2
        with_parts.merge_parts(at_the_end=True)
    for table in ("instances", "runs", "trajectories"):
        assert len(parts_of(with_parts, table)) == 1
    assert with_parts.on_grid(np.array([10.0]), ["A"]).values.ravel().tolist() == [-1, -2, -3]
    assert len(with_parts.instances()) == 3


@pytest.mark.parametrize("at_the_end", [False, True])
def test_parts_are_merged_after_a_change_that_was_listed_and_not_finished(
    stored: StoreOnDisk, config: Config, at_the_end: bool, monkeypatch: pytest.MonkeyPatch
):
    """This happens when a race that failed stores its last runs."""

    def rename(old: Path, new: Path) -> None:
        if new.parent == stored.path / "runs":
            raise OSError(errno.EACCES, "Permission denied")
        old.replace(new)

    monkeypatch.setattr(store_module, "MERGE_ABOVE", 1)
    with stored.writing():
        with monkeypatch.context() as patch, pytest.raises(StoreReadOnlyError):
            patch.setattr(fs, "rename", rename)
            add(stored, outcome(config, "A", 1, [(1, 0.0)]))
        stored.merge_parts(at_the_end)
    assert len(stored.runs()) == 3
    assert verify(stored.path).sound


def test_a_reader_that_meets_a_merge_sees_every_run_once(stored, config, monkeypatch):
    with stored.writing():
        for index in range(2, 6):
            stored.add_instances([instance(index)], "synthetic")
            add(stored, outcome(config, "A", index, [(1, 0.0)]))
        monkeypatch.setattr(store_module, "MERGE_ABOVE", 2)
        trajectories = stored.trajectories(["A"])
        instances = [next(trajectories)[0].instance]
        stored.merge_parts()
        instances += [run.instance for run, _, _ in trajectories]
    assert sorted(instances) == ["i0", "i2", "i3", "i4", "i5"]


def test_a_writer_does_not_touch_an_unknown_file(stored: StoreOnDisk):
    notes = stored.path / "notes.txt"
    notes.write_text("my notes")
    with stored.writing():
        pass
    assert notes.read_text() == "my notes"
    assert len(StoreOnDisk.open(stored.path).runs()) == 2


def test_a_full_disk_leaves_the_store_as_it_was(stored, config, monkeypatch):
    with stored.writing(), monkeypatch.context() as patch:
        patch.setattr(os, "fsync", no_space)
        with pytest.raises(
            StoreFullError, match="no space left.*everything stored before is intact"
        ):
            add(stored, outcome(config, "A", 1, [(1, 0.0)]))
    assert len(StoreOnDisk.open(stored.path).runs()) == 2
    assert not list(stored.path.rglob(f"{file_io.ASIDE}*"))


@pytest.fixture
def nobody() -> Iterator[None]:
    """Run as another user than root, because permissions do not bind root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def read_only(config: Config) -> Iterator[StoreOnDisk]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        store = StoreOnDisk.create(Path(folder) / "store", config.stored())
        with store.writing():
            store.add_instances([instance(0)], "synthetic")
            add(store, outcome(config, "A", 0, [(5, 3.0)]))
        paths = [*store.path.rglob("*"), store.path]
        folders = [path for path in paths if path.is_dir()]
        for path in paths:
            path.chmod(0o555 if path.is_dir() else 0o444)
        yield store
        for path in folders:
            path.chmod(0o755)


def test_a_read_only_store_can_be_read_but_not_written(read_only: StoreOnDisk, nobody: None):
    opened = StoreOnDisk.open(read_only.path)
    assert len(opened.runs()) == 1
    with pytest.raises(StoreReadOnlyError, match="no permission to write"), opened.writing():
        pass
    with pytest.raises(StoreReadOnlyError, match="choose another folder with --store"):
        StoreOnDisk.create(read_only.path / "inside", opened.settings)


def test_a_lock_that_cannot_be_written_does_not_stay_held(stored, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(os, "ftruncate", no_space)
        with pytest.raises(StoreFullError), stored.writing():
            pass
    with stored.writing():
        pass


def test_a_store_of_another_format_is_refused_with_both_versions(stored: StoreOnDisk):
    newer = replace(stored.catalog.manifest, format=99)
    (stored.path / "polarbear.json").write_bytes(newer.to_bytes())
    for look in (StoreOnDisk.open, verify):
        with pytest.raises(StoreVersionError, match="format 99.*reads format 2"):
            look(stored.path)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "null", '{"format": 1}', "[" * 5000])
def test_a_broken_manifest_is_named(stored: StoreOnDisk, text: str):
    (stored.path / "polarbear.json").write_text(text)
    with pytest.raises(StoreDamagedError, match=r"polarbear\.json is damaged.*polarbear repair"):
        StoreOnDisk.open(stored.path)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seed": 2}, "seed: stored 1, configuration 2"),
        ({"budget": {"axis": "x", "grid": [10, 100, 1000]}}, 'budget.axis: stored "evaluations"'),
        # The synthetic suite depends on the grid.
        ({"budget": {"grid": [10, 100, 2000]}}, "budget.grid"),
        ({"instances": {"suite": "synthetic", "correlation": 0.3}}, "instances.correlation"),
        ({"instances": {"suite": "synthetic", "maximise": True}}, "instances.maximise"),
    ],
)
def test_a_contradiction_is_refused_with_the_difference(stored, changes, words):
    before = (stored.path / "polarbear.json").read_bytes()
    with pytest.raises(StoreMismatchError) as error, stored.writing():
        stored.adopt(configured(**changes).stored(), uses_grid=True)
    assert words in str(error.value)
    assert (stored.path / "polarbear.json").read_bytes() == before


def test_a_store_adopts_added_algorithms_more_instances_and_other_limits(stored: StoreOnDisk):
    with stored.writing():
        suite = {"suite": "synthetic", "count": 9}
        other = configured("A", "C", instances=suite, execution={"workers": 1})
        stored.adopt(other.stored())
    assert list(StoreOnDisk.open(stored.path).settings.algorithms) == ["A", "B", "C"]


def test_other_options_of_a_known_algorithm_are_a_contradiction_and_a_longer_budget_is_not():
    classic = {"instances": {"suite": "classic"}, "algorithms": [{"name": "A", "use": "cma"}]}
    with_sigma0 = {**classic, "algorithms": [{**classic["algorithms"][0], "sigma0": 0.4}]}
    old = configured(**classic).stored()
    longer = configured(**classic, budget={"grid": [10, 9000]}).stored()
    other = configured(**with_sigma0).stored()
    assert contradictions(old, longer, False) == []
    assert contradictions(old, other, False) != []


def test_an_instance_that_would_now_be_drawn_differently_is_refused(stored: StoreOnDisk):
    with stored.writing(), pytest.raises(StoreMismatchError, match="i0 is stored.*now drawn as"):
        stored.add_instances([Instance(0, "i0", {"seed": 12345})], "synthetic")
