"""The configuration's folder as an archive: the same bytes for the same files, and only code."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from polarbear.errors import ClusterError
from polarbear.execution import dask_worker
from polarbear.execution.dask_worker import pack, unpack


def folder_with(path: Path, **files: str) -> Path:
    for name, text in files.items():
        file = path / name.replace("__", "/").replace("_dot_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return path


def test_code_arrives_with_its_permissions_and_everything_else_stays_behind(tmp_path: Path):
    here = folder_with(
        tmp_path / "here",
        solver_dot_py="x = 1",
        deep__solve_dot_sh="#!/bin/sh\n",
        store__polarbear_dot_json="{}",
        venv__pyvenv_dot_cfg="",
        _dot_git__config="",
    )
    (here / "deep" / "solve.sh").chmod(0o755)
    (here / "__pycache__").mkdir()
    (here / "__pycache__" / "solver.pyc").write_text("")
    there = unpack(pack(here), tmp_path)
    files = {path.relative_to(there).as_posix() for path in there.rglob("*") if path.is_file()}
    assert files == {"solver.py", "deep/solve.sh"}
    assert os.access(there / "deep" / "solve.sh", os.X_OK)
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
    there = unpack(archive, tmp_path)
    (there / "solver.py").write_text("changed there")
    assert unpack(archive, tmp_path) == there
    assert (there / "solver.py").read_text() == "changed there"


def test_too_much_is_refused_with_a_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(dask_worker, "MAX_ARCHIVE_BYTES", 10)
    here = folder_with(tmp_path / "here", solver_dot_py="x = 1234567890")
    with pytest.raises(ClusterError, match="contains more than .*`code: shared`"):
        pack(here)
