"""Long tables: read back with every digit."""

from __future__ import annotations

import csv
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

import polarbear as pb
from polarbear.errors import ExportFailedError
from polarbear.store import Store
from tests.classical.helpers import Run, make_store
from tests.formats.helpers import numbered_store, trajectories


@pytest.mark.parametrize("maximise", [False, True])
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_table_is_imported_as_it_was(format: str, maximise: bool, tmp_path: Path):
    store = numbered_store(tmp_path / "s", maximise)
    pb.open(store.path).export(format, tmp_path / f"runs.{format}")
    pb.import_data(
        tmp_path / f"runs.{format}",
        tmp_path / "again",
        "table",
        problem_column="problem",
        maximise=maximise,
    )
    again = Store.open(tmp_path / "again")
    assert trajectories(again) == trajectories(store)
    assert again.problems() == store.problems()
    assert again.config["instances"]["maximise"] == maximise


def test_others_read_the_same_numbers(tmp_path: Path):
    store = numbered_store(tmp_path / "s")
    pb.open(store.path).export("csv", tmp_path / "runs.csv")
    rows = duckdb.sql(
        f"select algorithm, instance, t, y from read_csv('{tmp_path}/runs.csv') order by all"
    ).fetchall()
    assert rows == sorted(
        (*run, t, y)
        for run, (times, values, reached) in trajectories(store).items()
        for t, y in [
            *zip(times, values, strict=True),
            *([(reached, values[-1])] if reached > times[-1] else []),
        ]
    )


def test_a_name_that_a_spreadsheet_would_compute_is_text_in_csv_and_comes_back_as_it_was(
    tmp_path: Path,
):
    names = ['=HYPERLINK("http://x")', "@SUM(A1)", "-x", "'=x", "'x", "a=b"]
    store = make_store(tmp_path / "s", {name: [Run([1.0], [2.0])] for name in names})
    told = pb.open(store.path).export("csv", tmp_path / "runs.csv")
    with (tmp_path / "runs.csv").open() as file:
        written = {row["algorithm"] for row in csv.DictReader(file)}
    assert written == {*(f"'{name}" for name in names[:4]), "'x", "a=b"}
    assert any("begin with an apostrophe" in note for note in told.notes)
    pb.import_data(tmp_path / "runs.csv", tmp_path / "again", "table")
    assert set(Store.open(tmp_path / "again").config["algorithms"]) == set(names)
    pb.open(store.path).export("parquet", tmp_path / "runs.parquet")
    kept = pq.read_table(tmp_path / "runs.parquet")["algorithm"].to_pylist()
    assert set(kept) == set(names)


def test_the_dictionary_explains_every_column(tmp_path: Path):
    store = numbered_store(tmp_path / "s", maximise=True)
    pb.open(store.path).export("csv", tmp_path / "runs.csv")
    with (tmp_path / "runs.dictionary.csv").open() as file:
        dictionary = {row["column"]: row["meaning"] for row in csv.DictReader(file)}
    with (tmp_path / "runs.csv").open() as file:
        assert list(dictionary) == next(csv.reader(file))
    assert dictionary["t"].startswith("evaluations at which")
    assert dictionary["y"].endswith("larger is better")
    pb.open(store.path).export("parquet", tmp_path / "runs.parquet")
    schema = pq.read_schema(tmp_path / "runs.parquet")
    assert {f.name: f.metadata[b"meaning"].decode() for f in schema} == dictionary


def test_runs_without_a_value_are_counted(tmp_path: Path):
    make_store(tmp_path / "s", {"A": [Run([], []), Run([1], [2.0])]})
    told = pb.open(tmp_path / "s").export("csv", tmp_path / "runs.csv")
    assert told.notes == ("1 run found no value and has no row",)
    make_store(tmp_path / "empty", {"A": [Run([], [])]})
    with pytest.raises(ExportFailedError, match="no run that found a value"):
        pb.open(tmp_path / "empty").export("csv", tmp_path / "none.csv")
