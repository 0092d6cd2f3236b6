"""Tables read in blocks and runs kept as columns give the same stores, to the byte."""

from itertools import product
from pathlib import Path
from unittest import mock

import numpy as np
import polars as pl
import pytest

from polarbear.execution.outcome import Outcome
from polarbear.formats import limits, table_files
from polarbear.formats.base import Imported
from polarbear.formats.table import TrajectoryTable
from polarbear.formats.transfer import GridOptions, add_imported
from polarbear.store import StoreOnDisk
from tests.support import Project

AXIS = GridOptions(axis="seconds")


def parts(store: Path) -> dict[str, bytes]:
    """The names and contents of all tables of a store."""
    return {str(path.relative_to(store)): path.read_bytes() for path in store.rglob("*.parquet")}


def odd_table(seed: int, is_sorted: bool) -> str:
    """Rows with repeated times, gaps, blanks, texts that are no numbers, and escaped formulas."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(150):
        name = rng.choice(["A", "B", " B", "'=C", ""], p=[0.4, 0.4, 0.05, 0.1, 0.05])
        t = rng.choice(["", "x", "-1", *map(str, range(12))])
        y = rng.choice(["", "nan", " 2.5 ", "-0.0", "0.0", "1e400", *map(str, range(5))])
        rows.append(f"{name},i{rng.integers(4)},{t},{y},{rng.choice([0, 0, 1, 2.5])}")
    if is_sorted:
        rows.sort(key=lambda row: row.split(",")[:2])
    return "\n".join(["algorithm,instance,t,y,violation", *rows]) + "\n"


def by_definition(rows: list[tuple[float, float, float]], is_best: bool) -> list[list[float]]:
    """Times, values and violations of the changes of one run, from its rows (t, y, violation)."""
    changes: list[list[float]] = []
    distinct_rows = list(dict.fromkeys(rows))
    for t in sorted({t for t, _, _ in rows}):
        outcomes = [(violation, y) for time, y, violation in distinct_rows if time == t]
        violation, y = min(outcomes) if is_best else outcomes[-1]
        if changes and is_best and (violation, y) >= (changes[-1][2], changes[-1][1]):
            continue
        if not changes or [y, violation] != changes[-1][1:]:
            changes.append([t, y, violation])
    return changes


@pytest.mark.parametrize(
    ("trajectory", "is_sorted", "has_violations"),
    list(product(["best", "last"], [False, True], [False, True])),
)
def test_changes_of_runs_are_those_of_a_loop(
    trajectory: str, is_sorted: bool, has_violations: bool, tmp_path: Path
):
    rng = np.random.default_rng(5)
    rows = pl.DataFrame(
        {
            "algorithm": rng.choice(["A", "B"], 400),
            "instance": rng.choice(["i", "j", "k"], 400),
            "t": rng.integers(1, 40, 400).astype(float),
            "y": rng.integers(-9, 9, 400) / 4,
            "violation": rng.integers(0, 3, 400).astype(float),
        }
    )
    if not has_violations:
        rows = rows.drop("violation")
    if is_sorted:
        rows = rows.sort("algorithm", "instance", "t", maintain_order=True)
    rows.write_csv(tmp_path / "rows.csv")
    imported = TrajectoryTable(trajectory=trajectory).read(tmp_path / "rows.csv")
    by_run: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    if not has_violations:
        rows = rows.with_columns(violation=0.0)
    for algorithm, instance, t, y, violation in rows.iter_rows():
        by_run.setdefault((algorithm, instance), []).append((t, y, violation))
    runs = {(run.task.algorithm.name, run.task.instance.id): run for run in imported.outcomes}
    assert list(runs) == list(by_run)
    for key, rows_of_run in by_run.items():
        points = runs[key].improvements
        expected = by_definition(rows_of_run, trajectory == "best")
        columns = [points.times, points.values, points.all_violations()]
        assert np.transpose(columns).tolist() == expected
        assert runs[key].reached == max(t for t, _, _ in rows_of_run)


@pytest.mark.parametrize("seed", range(4))
def test_blocks_of_a_table_give_the_same_store_to_the_byte(seed: int, tmp_path: Path):
    source = tmp_path / "odd.csv"
    source.write_text(odd_table(seed, is_sorted=seed % 2 == 0))
    whole = TrajectoryTable().read(source)
    with mock.patch.object(table_files, "BLOCK_BYTES", 100):
        in_blocks = TrajectoryTable().read(source)
    assert in_blocks.rejected == whole.rejected
    assert in_blocks.notes == whole.notes
    add_imported(tmp_path / "whole", whole, AXIS)
    add_imported(tmp_path / "blocks", in_blocks, AXIS)
    assert parts(tmp_path / "blocks") == parts(tmp_path / "whole")


def test_runs_as_columns_are_stored_as_runs_one_by_one(tmp_path: Path):
    source = tmp_path / "odd.csv"
    source.write_text(odd_table(7, is_sorted=False))
    columns = TrajectoryTable().read(source)
    one_by_one: tuple[Outcome, ...] = tuple(columns.outcomes)
    objects = Imported(columns.algorithms, columns.instances, one_by_one)
    assert objects.times == columns.times
    add_imported(tmp_path / "columns", columns, AXIS)
    add_imported(tmp_path / "objects", objects, AXIS)
    assert parts(tmp_path / "columns") == parts(tmp_path / "objects")
    assert add_imported(tmp_path / "columns", columns, AXIS).added == 0
    assert len(columns.outcomes[1:]) == len(one_by_one) - 1


def test_a_quoted_cell_may_have_several_lines_in_any_block(tmp_path: Path):
    rows = 'A,i,1,5\nA,"two\nlines",1,4\nA,j,1,3\n'
    source = tmp_path / "quoted.csv"
    source.write_text("algorithm,instance,t,y\n" + rows)
    with mock.patch.object(table_files, "BLOCK_BYTES", 40):
        imported = TrajectoryTable().read(source)
    assert [instance.id for instance in imported.instances] == ["i", "j"]
    assert [rejection.rows for rejection in imported.rejected] == [1]


def test_the_header_is_no_row_of_the_limit(project: Project):
    (project.folder / "rows.csv").write_text("algorithm,instance,t,y\nA,i,1,5\nA,i,2,4\n")
    with mock.patch.object(limits, "MAX_ROWS", 2):
        imported = TrajectoryTable().read(project.folder / "rows.csv")
    assert len(imported.outcomes) == 1


def test_runs_on_a_grid_are_those_of_each_run(tmp_path: Path):
    source = tmp_path / "odd.csv"
    source.write_text(odd_table(3, is_sorted=False))
    add_imported(tmp_path / "store", TrajectoryTable(after_end="absent").read(source), AXIS)
    store = StoreOnDisk.open(tmp_path / "store")
    times = np.array([0.5, 1, 2.5, 7, 30])
    grid = store.on_grid(times)
    for run, improvements in store.improvements():
        cell = grid.instances.index(run.instance), grid.algorithms.index(run.algorithm)
        for t, value in zip(times, grid.values[cell], strict=True):
            found_so_far = improvements.up_to(t).values
            if t > run.reached:
                assert np.isnan(value)
            else:
                assert value == (found_so_far[-1] if len(found_so_far) else np.inf)
