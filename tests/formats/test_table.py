"""Long tables of values and of rankings: read, rejected, refused, written and read back."""

import csv
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import polarbear as pb
from polarbear.errors import ExportFailedError, ImportFailedError
from polarbear.formats.table import RankingsTable, TrajectoryTable
from polarbear.store import StoreOnDisk
from tests.classical.helpers import Run, make_store
from tests.formats.helpers import numbered_store, trajectories
from tests.support import Project

GOOD = "algorithm,instance,t,y\nA,i1,1,5\nA,i1,10,3\nB,i1,1,4\nB,i1,20,2\nA,i2,1,7\n"


def written(folder: Path, text: str, name: str = "data.csv") -> Path:
    (folder / name).write_text(text)
    return folder / name


def test_current_values_in_any_order_become_best_so_far(tmp_path: Path):
    rows = "A,i,30,9\nA,i,10,4\nA,i,20,6\nA,i,40,1\nA,i,40,2\n"
    columns = {"algorithm": "solver", "instance": "problem", "t": "evals", "y": "cost"}
    path = written(tmp_path, ",".join(columns.values()) + "\n" + rows)
    imported = TrajectoryTable(**{f"{key}_column": name for key, name in columns.items()}).read(
        path
    )
    (run,) = imported.outcomes
    assert run.times.tolist() == [10, 40]
    assert run.values.tolist() == [4, 1]
    assert run.reached == 40
    assert imported.notes == ("1 row gives another value for a time: the best counts",)


def test_of_a_training_curve_the_last_value_counts_and_its_cost_is_unknown(project: Project):
    rows = "A,i,1,9\nA,i,2,4\nA,i,3,6\nA,i,3,5\nA,i,4,5\nB,i,4,4.5\n"
    written(project.folder, "algorithm,instance,t,y\n" + rows)
    source = ("import", "data.csv", "--store", "s", "--axis", "epochs")
    notes = project.json(*source, "--set", "trajectory=last")["notes"]
    assert notes == ["1 row gives another value for a time: the last counts"]
    store = StoreOnDisk.open(project.folder / "s")
    assert trajectories(store)["A", "i"] == ([1, 2, 3], [9, 4, 5], 4)
    assert store.on_grid(np.array([4.0])).values.tolist() == [[[5], [4.5]]]
    for entry in project.json("status", "s")["algorithms"]:
        assert (entry["evaluations"], entry["seconds"], entry["spent"]) == (None, None, 4)
    output = project("status", "s").stdout
    assert "seconds" not in output
    assert "evaluations" not in output
    assert 'trajectory: stored "last"' in project(*source).stderr
    project.json("import", "s", "--format", "store", "--store", "again")
    assert StoreOnDisk.open(project.folder / "again").settings.trajectory == "last"


@pytest.mark.parametrize(
    "note", [{b"unit": b"\xff"}, {b"_PL_CATEGORICAL2": b"70;u32;"}], ids=["no text", "wrong"]
)
def test_what_is_noted_about_a_table_and_its_columns_plays_no_part(tmp_path, note, capfd):
    """Polars believes it: where it is wrong, it prints a backtrace and panics."""
    table = pl.read_csv(written(tmp_path, GOOD)).cast({"algorithm": pl.Categorical}).to_arrow()
    table = table.append_column("more", pa.array([{"a": "b"}] * len(table)))
    fields = [field.with_metadata(note) for field in table.schema]
    pq.write_table(table.cast(pa.schema(fields, metadata=note)), tmp_path / "noted.parquet")
    imported = TrajectoryTable().read(tmp_path / "noted.parquet")
    assert len(imported.outcomes) == 3
    assert any("more" in note for note in imported.notes)
    assert capfd.readouterr().err == ""


def test_repeated_runs_are_paired_by_the_order_of_their_seeds(tmp_path: Path):
    rows = "A,i,7,1,5\nA,i,9,1,6\nB,i,100,1,4\nB,i,200,1,3\n"
    path = written(tmp_path, "algorithm,instance,seed,t,y\n" + rows)
    imported = TrajectoryTable(seed_column="seed").read(path)
    values = {(o.task.algorithm.name, o.task.instance.id): o.values[0] for o in imported.outcomes}
    assert values == {("A", "i#1"): 5, ("A", "i#2"): 6, ("B", "i#1"): 4, ("B", "i#2"): 3}


def test_rows_that_make_no_sense_are_counted_and_named(tmp_path: Path):
    bad = "A,i1,x,1\nA,i1,2,nan\nA,i1,3,inf\n,i1,4,1\nA,i1,-1,1\nA,i1,1,5\n"
    imported = TrajectoryTable().read(written(tmp_path, GOOD + bad))
    rejections = {(c.rows, c.reason, c.first) for c in imported.rejected}
    assert rejections == {
        (1, "no algorithm is named", "10"),
        (1, "t is not a finite number", "7"),
        (2, "y is not a finite number", "8"),
        (1, "t is negative", "11"),
        (1, "the row occurs twice", "12"),
    }
    assert len(imported.outcomes) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("algorithm,instance,t,y\n", "has a header but no rows"),
        ("algorithm,instance,t,value\nA,i,1,2\n", "has no column 'y' for y; it has"),
        ("algo,instance,t,y\nA,i,1,2\n", "did you mean --algorithm-column 'algo'?"),
        ("algorithm,instance,t,y\nA,i,x,2\n", "no row of .* is valid: 1 row: t is not"),
        ("algorithm,instance,t,y\nA,i,1,2,3,4\n", "cannot read .* as a table"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused(tmp_path: Path, text: str, words: str):
    with pytest.raises(ImportFailedError, match=words):
        TrajectoryTable().read(written(tmp_path, text))


def test_importing_twice_changes_nothing_a_second_table_adds_and_another_axis_is_refused(project):
    written(project.folder, GOOD + "A,i1,x,1\n")
    done = project("import", "data.csv", "--store", "s", "--points", 5)
    assert "3 runs of 2 algorithms on 2 instances added to s" in done.stdout
    assert "left out: 1 row: t is not a finite number (first: line 7)" in done.stdout
    second_import = project.json("import", "data.csv", "--store", "s")
    assert (second_import["added"], second_import["present"]) == (0, 3)
    assert list(second_import) == [
        "store", "kind", "added", "present", "algorithms", "instances", "rejected", "notes",
    ]  # fmt: skip
    assert list(second_import["rejected"][0]) == ["rows", "reason", "first"]
    written(project.folder, "algorithm,instance,t,y\nC,i1,2,1\n", "more.csv")
    assert project.json("import", "more.csv", "--store", "s")["added"] == 1
    status = project.json("status", "s")
    assert [entry["algorithm"] for entry in status["algorithms"]] == ["A", "B", "C"]
    refusal = project.refused("import", "data.csv", "--store", "s", "--axis", "seconds")
    assert "budget.axis" in refusal
    written(project.folder, "algorithm,instance,t,y\nA,i,0,2\nB,i,0,3\n", "zero.csv")
    assert "every t of the source is 0" in project.refused("import", "zero.csv", "--store", "z")


def test_after_its_end_a_run_keeps_its_best_or_is_absent_as_asked(project: Project):
    written(project.folder, GOOD)
    for choice, expected in (("keeps", 3.0), ("absent", np.nan)):
        project.json("import", "data.csv", "--store", choice, "--after-end", choice)
        grid = StoreOnDisk.open(project.folder / choice).on_grid(np.array([20.0]), ["A"])
        assert np.array_equal(grid.values[0, 0], [expected], equal_nan=True)


def test_columns_that_play_no_part_are_named(tmp_path: Path):
    table = written(tmp_path, "algorithm,instance,t,y,host,seed\nA,i,1,5,h,2\n")
    assert TrajectoryTable().read(table).notes == ("2 columns ignored: host, seed",)
    assert TrajectoryTable(seed_column="seed").read(table).notes == ("1 column ignored: host",)


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
    imported = StoreOnDisk.open(tmp_path / "again")
    assert trajectories(imported) == trajectories(store)
    assert imported.problems() == store.problems()
    assert imported.settings.instances.maximise == maximise


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


def test_a_name_that_a_spreadsheet_would_compute_is_text_in_csv_and_comes_back_as_it_was(tmp_path):
    names = ['=HYPERLINK("http://x")', "@SUM(A1)", "-x", "'=x", "'x", "a=b"]
    store = make_store(tmp_path / "s", {name: [Run([1.0], [2.0])] for name in names})
    pb.open(store.path).export("csv", tmp_path / "runs.csv")
    with (tmp_path / "runs.csv").open() as file:
        written = {row["algorithm"] for row in csv.DictReader(file)}
    assert written == {*(f"'{name}" for name in names[:4]), "'x", "a=b"}
    pb.import_data(tmp_path / "runs.csv", tmp_path / "again", "table")
    assert set(StoreOnDisk.open(tmp_path / "again").settings.algorithms) == set(names)
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
    assert "larger is better" in dictionary["y"]
    pb.open(store.path).export("parquet", tmp_path / "runs.parquet")
    schema = pq.read_schema(tmp_path / "runs.parquet")
    assert {f.name: f.metadata[b"meaning"].decode() for f in schema} == dictionary


def test_runs_without_a_value_have_their_end(tmp_path: Path):
    make_store(tmp_path / "s", {"A": [Run([], [], reached=7), Run([1], [2.0])]})
    report = pb.open(tmp_path / "s").export("csv", tmp_path / "runs.csv")
    assert (report.what, report.notes) == ("2 rows of 2 runs", ())
    rows = pl.read_csv(tmp_path / "runs.csv").select("instance", "run_status", "t", "y").rows()
    assert rows == [("i000", "ended", 7, None), ("i001", "ended", 1, 2)]
    make_store(tmp_path / "empty", {"A": [Run([], [])]})
    with pytest.raises(ExportFailedError, match="no run that found a value"):
        pb.open(tmp_path / "empty").export("csv", tmp_path / "none.csv")


ROWS = "instance,t,algorithm,position\ni1,1,A,1\ni1,1,B,2\ni1,1,C,2\ni1,5,C,1\ni1,5,A,2\ni2,5,B,1\n"


def test_positions_may_be_kept_as_categories(tmp_path: Path):
    rows = {"instance": ["i"] * 3, "t": [1.0] * 3, "algorithm": ["A", "B", "C"]}
    frame = pl.DataFrame({**rows, "rank": ["2", "1", "below"]})
    frame.with_columns(pl.col("rank").cast(pl.Categorical)).write_parquet(tmp_path / "r.parquet")
    with pytest.raises(ImportFailedError, match="has no column 'position'"):
        RankingsTable().read(tmp_path / "r.parquet")
    imported = RankingsTable(position_column="rank").read(tmp_path / "r.parquet")
    assert imported.rankings is not None
    assert imported.rankings["algorithm"].to_list() == [["B", "A", "C"]]


def test_positions_stand_in_for_values_on_the_grid(project: Project):
    (project.folder / "ranks.csv").write_text(ROWS)
    answer = project.json("import", "ranks.csv", "--format", "rankings", "--store", "s")
    assert answer["kind"] == "rankings"
    assert answer["added"] == 3
    assert answer["notes"] == ["1 ranking has one algorithm and is not used"]
    store = StoreOnDisk.open(project.folder / "s")
    assert store.settings.budget.grid == (1.0, 5.0)
    grid = store.on_grid(np.array([1.0, 5.0]))
    assert grid.algorithms == ("A", "B", "C")
    nan = np.nan
    expected = [[[1, 2], [2, nan], [2, 1]], [[nan, nan], [nan, 1], [nan, nan]]]
    assert np.array_equal(grid.values, expected, equal_nan=True)
    second_import = project.json("import", "ranks.csv", "--format", "rankings", "--store", "s")
    assert (second_import["added"], second_import["present"]) == (0, 3)


def test_a_second_position_of_an_algorithm_is_counted_and_left_out(tmp_path: Path):
    (tmp_path / "r.csv").write_text(ROWS + "i1,1,A,3\ni1,1,,3\n")
    imported = RankingsTable().read(tmp_path / "r.csv")
    reasons = {c.reason for c in imported.rejected}
    assert reasons == {"the algorithm already has a position there", "no algorithm is named"}
