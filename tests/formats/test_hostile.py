"""Invalid imports are counted or refused in one line, and no name can do harm."""

import json
import os
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from polarbear.errors import ImportFailedError
from polarbear.formats import FORMATS, optuna
from polarbear.formats.coco import Coco
from polarbear.formats.ioh import Ioh
from tests.formats import test_benchopt, test_coco, test_ioh
from tests.settings.test_names import FAMILY, HIDDEN
from tests.store.editing import rewrite_manifest
from tests.support import Project

ROWS: dict[str, list[Any]] = {"algorithm": ["A"], "instance": ["i"], "t": [1.0], "y": [2.0]}


def described(root: Path, **changes: Any) -> Path:
    """A folder of IOHprofiler whose description says something else."""
    folder = test_ioh.folder_of(root, "B", [(1, [(1, 9.0)])])
    (path,) = folder.glob("*.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    return folder


@pytest.mark.parametrize("name", ["table", "rankings"])
@pytest.mark.parametrize("sign", ["\r", "\n", "\x1b[2J", "\x1d", "\x85", "\u2028"])
def test_a_column_with_controls_in_its_name_is_named_in_one_harmless_line(tmp_path, name, sign):
    columns = {f"algo{sign}rithm": ["A"], "instance": ["i"], "t": [1], "y": [1], "position": [1]}
    pl.DataFrame(columns).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(ImportFailedError, match="did you mean --algorithm-column") as refusal:
        FORMATS[name]().read(tmp_path / "x.parquet")
    assert str(refusal.value).isprintable()


@pytest.mark.parametrize("format", ["table", "rankings"])
@pytest.mark.parametrize("name", [*HIDDEN, "x" * 201])
@pytest.mark.parametrize("column", ["algorithm", "instance"])
def test_rows_with_names_that_cannot_be_shown_are_left_out(tmp_path, format, column, name):
    name = name if column == "algorithm" else name * 5
    rows = {key: values * 2 for key, values in ROWS.items()} | {column: [FAMILY, name]}
    pl.DataFrame(rows).with_columns(position=1).write_parquet(tmp_path / "x.parquet")
    imported = FORMATS[format]().read(tmp_path / "x.parquet")
    names = {"algorithm": imported.algorithms, "instance": tuple(i.id for i in imported.instances)}
    assert names[column] == (FAMILY,)
    (rejection,) = imported.rejected
    assert "cannot be a name" in rejection.reason
    assert rejection.reason.isprintable() or "\u200d" in rejection.reason


@pytest.mark.parametrize(
    ("format", "rows", "column"),
    [
        *(("table", ROWS, "algorithm"), ("table", ROWS, "t")),
        *(("benchopt", test_benchopt.ROWS, key) for key in ("objective_name", "idx_rep")),
    ],
)
@pytest.mark.parametrize(
    "value", [[1.0], {"a": 1}, b"\xff", timedelta(1)], ids=["list", "struct", "binary", "duration"]
)
def test_columns_that_hold_neither_names_nor_numbers_are_refused(
    tmp_path: Path, format: str, rows: dict[str, list[Any]], column: str, value: Any
):
    changed = {**rows, column: [value] * len(rows[column])}
    pl.DataFrame(changed).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(ImportFailedError, match=f"the column '{column}' for .* should have"):
        FORMATS[format]().read(tmp_path / "x.parquet")


@pytest.mark.parametrize(
    "changes",
    [
        {"algorithm": "A"},
        {"algorithm": {"info": ""}},
        {"attributes": 3},
        {"scenarios": {"a": 1}},
        {"scenarios": [{"dimension": 2, "path": "data/f3.dat"}]},
        {"scenarios": [{"dimension": 2, "path": 5.5, "runs": [[]]}]},
        {"scenarios": [{"dimension": 2, "path": "data/f3.dat", "runs": [{"best": 3}]}]},
        {"maximization": [1]},
    ],
    ids=str,
)
def test_a_description_of_ioh_with_missing_or_mistyped_fields_is_refused(tmp_path, changes):
    described(tmp_path, **changes)
    with pytest.raises(ImportFailedError, match="is not written by IOHprofiler") as caught:
        Ioh().read(tmp_path)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "data/../../secret"])
def test_an_import_reads_no_file_outside_of_its_folder(tmp_path: Path, name: str):
    (tmp_path / "secret").write_text("evaluations raw_y\n1 2\n")
    scenario = {"dimension": 2, "path": name, "runs": [{"instance": 1}]}
    folder = described(tmp_path, scenarios=[scenario])
    with pytest.raises(ImportFailedError, match="which is not in its folder"):
        Ioh().read(folder)
    other = test_coco.folder_of(tmp_path, "C")
    info = test_coco.INFO.format(algorithm="C").replace("data_f1/bbobexp_f1_DIM2.dat", name)
    (other / "bbobexp_f1.info").write_text(info)
    with pytest.raises(ImportFailedError, match="which is not in its folder"):
        Coco().read(other)


@pytest.mark.parametrize(
    ("format", "name"),
    [
        *(("coco", "a.info"), ("ioh", "IOHprofiler_x.json")),
        *(("preflib", "x.soc"), ("tensorboard", "events.out.tfevents.1")),
    ],
)
def test_a_pipe_in_a_folder_is_no_file_of_a_format_and_not_waited_for(tmp_path, format, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(ImportFailedError, match=str(tmp_path)):
        FORMATS[format]().read(tmp_path)


def test_a_name_in_a_folder_that_cannot_be_shown_is_counted(tmp_path: Path):
    test_ioh.folder_of(tmp_path, "A", [(1, [(1, 9.0)])])
    described(tmp_path, algorithm={"name": "B\x1b[2J"})
    imported = Ioh().read(tmp_path)
    assert imported.algorithms == ("A",)
    assert "U+001B" in imported.rejected[0].reason


def test_a_store_whose_manifest_names_what_cannot_be_a_name_is_refused(project: Project):
    (project.folder / "x.csv").write_text("algorithm,instance,t,y\nA,i,1,2\nB,i,1,3\n")
    project.done("import", "x.csv", "--store", "s")
    added = {"algorithms": {"A": {"use": "imported"}, "C\x1b[2J\nD": {"use": "imported"}}}
    rewrite_manifest(project.folder / "s", lambda facts: facts["config"].update(added))
    for command in ("status", "infer", "select", "report"):
        done = project(command, "s")
        assert done.returncode == 1
        assert "cannot be a name" in done.stderr
        assert "\x1b" not in done.stdout + done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_a_storage_whose_table_is_a_view_without_end_is_not_waited_for(tmp_path, monkeypatch):
    endless = "with recursive n(i) as (select 1 union all select i + 1 from n)"
    with closing(sqlite3.connect(tmp_path / "x.db")) as database:
        database.execute(f"create view studies as {endless} select i study_id, i study_name from n")
    monkeypatch.setattr(optuna, "MAX_SQLITE_STEPS", 10**6)
    with pytest.raises(ImportFailedError, match="is not a storage of Optuna: interrupted"):
        optuna.Optuna().read(tmp_path / "x.db")
