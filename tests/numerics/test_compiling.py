"""Compilation: announced once, when it happens."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba import njit

from polarbear.numerics import compiling
from polarbear.numerics.announcing import on_first_compilation


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


def test_a_change_of_any_source_compiles_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package = tmp_path / "polarbear"
    shutil.copytree(compiling.PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(compiling, "PACKAGE", package)
    before = compiling.cache_folder()
    assert before is not None
    assert compiling.cache_folder() == before
    assert before.parent == tmp_path / "cache"
    changed = package / "inference" / "fit.py"
    changed.write_text(changed.read_text() + "# changed")
    assert compiling.cache_folder() != before


def test_without_a_place_to_keep_them_loops_are_compiled_all_the_same(tmp_path: Path):
    (tmp_path / "file").touch()
    code = (
        "from polarbear.numerics import compiling\n"
        "assert compiling.cache_folder() is None\n"
        "assert compiling.fused(lambda x: 2 * x)(21) == 42\n"
    )
    nowhere = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "file" / "inside")}
    subprocess.run([sys.executable, "-c", code], env=nowhere, check=True)


def test_no_model_waits_for_compilation():
    code = (
        "import sys\n"
        "import numpy as np\n"
        "from polarbear.inference import ModelOptions, infer\n"
        "from polarbear.rankings import rank\n"
        "from polarbear.rankings.choice_sets import count_choice_sets\n"
        "from polarbear.inference.relations import pointwise\n"
        "positions = rank(np.random.default_rng(0).normal(size=(5, 3, 2)))\n"
        "sets, times = count_choice_sets(positions), np.array([0.0, 1.0])\n"
        "for model in ('empirical', 'dirichlet', 'hierarchical', 'gp'):\n"
        "    options = ModelOptions(model=model, draws=2000)\n"
        "    pointwise(infer(sets, times, options, positions=positions))\n"
        "assert 'numba' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
