"""Tables of rankings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from polarbear.errors import ImportFailedError
from polarbear.formats.table import Rankings
from polarbear.store import Store
from tests.support import Project

GOOD = "instance,t,algorithm,position\ni1,1,A,1\ni1,1,B,2\ni1,1,C,2\ni1,5,C,1\ni1,5,A,2\ni2,5,B,1\n"


def test_positions_may_be_kept_as_categories(tmp_path: Path):
    rows = {"instance": ["i"] * 3, "t": [1.0] * 3, "algorithm": ["A", "B", "C"]}
    kept = pl.DataFrame({**rows, "rank": ["2", "1", "below"]})
    kept.with_columns(pl.col("rank").cast(pl.Categorical)).write_parquet(tmp_path / "r.parquet")
    with pytest.raises(ImportFailedError, match="has no column 'position'"):
        Rankings().read(tmp_path / "r.parquet")
    found = Rankings(position_column="rank").read(tmp_path / "r.parquet")
    assert found.rankings is not None
    assert found.rankings["algorithm"].to_list() == [["B", "A", "C"]]


def test_positions_stand_in_for_values_on_the_grid(project: Project):
    (project.folder / "ranks.csv").write_text(GOOD)
    answer = project.json("import", "ranks.csv", "--format", "rankings", "--store", "s")
    assert answer["kind"] == "rankings"
    assert answer["added"] == 3
    assert answer["notes"] == ["1 ranking has one algorithm and is not used"]
    store = Store.open(project.folder / "s")
    assert store.config["budget"]["grid"] == [1.0, 5.0]
    grid = store.on_grid(np.array([1.0, 5.0]))
    assert grid.algorithms == ("A", "B", "C")
    nan = np.nan
    expected = [[[1, 2], [2, nan], [2, 1]], [[nan, nan], [nan, 1], [nan, nan]]]
    assert np.array_equal(grid.values, expected, equal_nan=True)
    again = project.json("import", "ranks.csv", "--format", "rankings", "--store", "s")
    assert (again["added"], again["present"]) == (0, 3)


def test_a_second_position_of_an_algorithm_is_counted_and_left_out(tmp_path: Path):
    (tmp_path / "r.csv").write_text(GOOD + "i1,1,A,3\ni1,1,,3\n")
    found = Rankings().read(tmp_path / "r.csv")
    assert {c.reason for c in found.rejected} == {
        "the algorithm already has a position there",
        "no algorithm is named",
    }
