"""The parts of a cluster: code as an archive, and processors that can be compared."""

import os
from pathlib import Path

import pytest

from polarbear.errors import ClusterError
from polarbear.execution import dask_worker
from polarbear.execution.cluster import Placement
from polarbear.execution.dask_worker import pack, unpack
from polarbear.execution.host import Where


def folder_with(path: Path, **files: str) -> Path:
    for name, text in files.items():
        file = path / name.replace("__", "/").replace("_dot_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return path


def test_code_arrives_with_its_permissions_and_everything_else_stays_behind(tmp_path: Path):
    source = folder_with(
        tmp_path / "here",
        solver_dot_py="x = 1",
        deep__solve_dot_sh="#!/bin/sh\n",
        store__polarbear_dot_json="{}",
        venv__pyvenv_dot_cfg="",
        _dot_git__config="",
    )
    (source / "deep" / "solve.sh").chmod(0o755)
    (source / "__pycache__").mkdir()
    (source / "__pycache__" / "solver.pyc").write_text("")
    unpacked = unpack(pack(source), tmp_path)
    paths = [path for path in unpacked.rglob("*") if path.is_file()]
    files = {path.relative_to(unpacked).as_posix() for path in paths}
    assert files == {"solver.py", "deep/solve.sh"}
    assert os.access(unpacked / "deep" / "solve.sh", os.X_OK)
    (tmp_path / "empty").mkdir()
    assert unpack(pack(tmp_path / "empty"), tmp_path).is_dir()


def test_the_same_files_are_the_same_archive_and_unpacked_once(tmp_path: Path):
    first = folder_with(tmp_path / "a", solver_dot_py="x = 1")
    second = folder_with(tmp_path / "b", solver_dot_py="x = 1")
    os.utime(second / "solver.py", (1, 1))
    archive = pack(first)
    assert archive == pack(second)
    folder_with(second, solver_dot_py="x = 2")
    assert archive != pack(second)
    unpacked = unpack(archive, tmp_path)
    (unpacked / "solver.py").write_text("changed there")
    assert unpack(archive, tmp_path) == unpacked
    assert (unpacked / "solver.py").read_text() == "changed there"


def test_too_much_is_refused_with_a_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(dask_worker, "MAX_ARCHIVE_BYTES", 10)
    source = folder_with(tmp_path / "here", solver_dot_py="x = 1234567890")
    with pytest.raises(ClusterError, match="contains more than .*`code: shared`"):
        pack(source)


FAST = "Fast 3000"
SLOW = "Slow 100"
BOTH = {
    "tcp://10.0.0.1:401": Where("one", FAST, 0.0, "tcp://10.0.0.1:401"),
    "tcp://10.0.0.1:402": Where("one", FAST, 0.0, "tcp://10.0.0.1:402"),
    "tcp://10.0.0.2:401": Where("two", SLOW, 0.0, "tcp://10.0.0.2:401"),
}
ALIKE = {address: where for address, where in BOTH.items() if where.cpu == FAST}


def test_workers_of_another_processor_are_refused_by_name():
    with pytest.raises(ClusterError, match="tcp://10.0.0.2:401 on two has .*Slow 100.*grouped"):
        Placement("same").set_workers(BOTH)
    with pytest.raises(ClusterError, match="other runs are timed on Slow 100"):
        Placement("same", {"i1": SLOW}).set_workers(ALIKE)
    placement = Placement("same", {"i1": FAST})
    placement.set_workers(ALIKE)
    assert placement.restrictions("i2") == {}
    placement.check("i2", Where("yet another", FAST))
    with pytest.raises(ClusterError, match="not comparable"):
        placement.check("i1", Where("late", SLOW))


def test_all_runs_on_one_instance_go_to_one_model_in_proportion_to_its_workers():
    placement = Placement("grouped")
    placement.set_workers(BOTH)
    chosen = [placement.restrictions(f"i{i}")["workers"] for i in range(9)]
    assert chosen.count(["10.0.0.1"]) == 6
    assert chosen.count(["10.0.0.2"]) == 3
    assert [placement.restrictions(f"i{i}")["workers"] for i in range(9)] == chosen
    assert placement.restrictions("i0")["allow_other_workers"] is False


def test_an_instance_continues_where_its_stored_runs_were_timed():
    placement = Placement("grouped", {"i1": SLOW})
    placement.set_workers(BOTH)
    assert placement.restrictions("i1")["workers"] == ["10.0.0.2"]
    with pytest.raises(ClusterError, match="was timed on Fast 3000"):
        placement.check("i1", Where("one", FAST))
    placement.set_workers(ALIKE)
    with pytest.raises(ClusterError, match="no worker has that processor; start one that has"):
        placement.restrictions("i1")


def test_mixed_restricts_nothing():
    placement = Placement("mixed", {"i1": SLOW})
    placement.set_workers(BOTH)
    assert placement.restrictions("i1") == {}
    placement.check("i1", Where("one", FAST))
