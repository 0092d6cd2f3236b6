"""Another store as a source."""

from __future__ import annotations

from pathlib import Path

import pytest

import polarbear as pb
from polarbear.errors import ImportFailedError
from polarbear.formats.other_store import OtherStore
from polarbear.store import Store
from tests.formats.helpers import numbered_store, trajectories
from tests.support import Project


def test_runs_arrive_as_they_were(tmp_path: Path):
    store = numbered_store(tmp_path / "one")
    pb.import_data(store.path, tmp_path / "two", "store")
    again = Store.open(tmp_path / "two")
    assert trajectories(again) == trajectories(store)
    assert again.problems() == store.problems()
    assert again.config["budget"] == store.config["budget"]
    kept = ["algorithm", "instance", "seed", "status", "reached", "evaluations", "started"]
    assert again.runs().select(kept).equals(store.runs().select(kept))
    assert pb.import_data(store.path, tmp_path / "two", "store").result.added == 0


def test_what_a_suite_knows_of_its_instances_comes_along(project: Project):
    project.configure()
    assert project("run", "config.yaml").returncode == 0
    project.json("import", "config", "--format", "store", "--store", "copy")
    first, second = project.json("compare", "config"), project.json("compare", "copy")
    for key in ("aocc", "ecdf", "scale", "axis", "instances"):
        assert first[key] == second[key]


def test_rankings_arrive_as_they_were(tmp_path: Path):
    table = "instance,t,algorithm,position\ni,1,A,1\ni,1,B,2\nj,2,A,2\nj,2,B,1\n"
    (tmp_path / "r.csv").write_text(table)
    pb.import_data(tmp_path / "r.csv", tmp_path / "one", "rankings")
    pb.import_data(tmp_path / "one", tmp_path / "two", "store")
    one, two = (Store.open(tmp_path / name).rankings() for name in ("one", "two"))
    assert one.equals(two)


def test_a_folder_of_something_else_is_refused(tmp_path: Path):
    with pytest.raises(ImportFailedError, match="is not a PolarBear store"):
        OtherStore().read(tmp_path)
    (tmp_path / "polarbear.json").write_text('{"format": 1, "config": {}}')
    with pytest.raises(ImportFailedError, match="is damaged"):
        OtherStore().read(tmp_path)
