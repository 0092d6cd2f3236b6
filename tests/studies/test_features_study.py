"""Choices by features on learning curves: a small archive in the form of LCDB's."""

import sys
import tarfile
from pathlib import Path
from types import ModuleType

import features
import numpy as np
import polars as pl
import pytest

N_DATA_SETS = 40


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The study, with a smaller archive than it asks for."""
    monkeypatch.setattr(features, "MIN_LEARNERS", 3)
    return features


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Two learners of which each is the best on half of the data sets, and a bad one."""
    rng = np.random.default_rng(0)
    width = rng.random(N_DATA_SETS)
    rows = []
    for k in range(N_DATA_SETS):
        for name, base in (("narrow", width[k]), ("wide", 1 - width[k]), ("bad", 1.5)):
            for size in (16, 64, 256):
                score = 0.9 - 0.3 * base - 1 / size + rng.normal(0, 0.01)
                rows.append((k, name, size, 0, score))
    schema = ["openmlid", "learner", "size_train", "outer_seed", "score_test"]
    folder = tmp_path / "lcdb"
    folder.mkdir()
    pl.DataFrame(rows, schema, orient="row").write_csv(folder / "database-accuracy.csv")
    names = [f"set {k}" for k in range(N_DATA_SETS)]
    features = {"openmlid": range(N_DATA_SETS), "Name": names, "Width": width}
    pl.DataFrame(features).write_csv(folder / "datasets.csv")
    path = tmp_path / "lcdb.tar.gz"
    with tarfile.open(path, "w:gz") as file:
        file.add(folder, "lcdb-0.1.0/lcdb")
    return path


@pytest.mark.slow
def test_features_close_the_gap_where_they_decide(
    study: ModuleType, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    out = tmp_path / "out"
    monkeypatch.setattr(sys, "argv", ["features.py", str(archive), "--out", str(out), "--small"])
    assert study.main() == 0
    summary = pl.read_csv(out / "summary.csv")
    share = dict(summary.select("choice", "gap closed").iter_rows())
    assert share["single best"] == 0
    assert share["features"] > 0.5
    assert abs(share["no features"]) < 0.3
    assert "- holds: choices by features close" in (out / "result.md").read_text()
    assert "| 16 | 64 | 256 |" in (out / "result.md").read_text()
