"""Compilation: said once, when it happens."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from numba import njit

from polarbear import compiling
from polarbear.compiling import on_first_compilation


def test_compiling_is_said_once_and_only_when_it_happens():
    twice, thrice = njit(lambda x: 2 * x), njit(lambda x: 3 * x)
    said: list[str] = []
    with on_first_compilation(lambda: said.append("compiling")):
        assert said == []
        assert twice(1) == 2
        assert thrice(1) == 3
        assert said == ["compiling"]
    with on_first_compilation(lambda: said.append("again")):
        assert twice(2) == 4
    assert said == ["compiling"]


def test_a_change_of_any_source_compiles_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package = tmp_path / "polarbear"
    shutil.copytree(compiling.PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(compiling, "PACKAGE", package)
    before = compiling.cache_folder()
    assert compiling.cache_folder() == before
    assert before.parent == tmp_path / "cache"
    changed = package / "inference" / "kernels" / "band.py"
    changed.write_text(changed.read_text() + "# changed")
    assert compiling.cache_folder() != before


def test_a_home_that_cannot_be_written_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "inside"))
    assert "polarbear-" in str(compiling.cache_folder())
