"""Somebody else's store: opened, reported on and inferred from, it runs and changes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from polarbear.errors import StoreError
from polarbear.store import Store
from tests.support import Project

TABLE = "algorithm,instance,t,y\n" + "".join(
    f"{name},i{i},{t},{y + i / t}\n"
    for i in range(6)
    for name, y in (("A", 1), ("B", 2))
    for t in (1, 5, 20)
)


@pytest.fixture
def foreign(project: Project) -> Path:
    (project.folder / "x.csv").write_text(TABLE)
    assert project("import", "x.csv", "--store", "s").returncode == 0
    return project.folder / "s"


@pytest.mark.parametrize(
    "name", ["lock", "polarbear.json", "runs", "posteriors", "runs/part-x.parquet"]
)
def test_a_link_out_of_a_store_is_not_followed(project: Project, foreign: Path, name: str):
    outside = project.folder / "outside"
    if (foreign / name).exists():
        (foreign / name).rename(outside)
    elif name == "posteriors":
        outside.mkdir()
    else:
        outside.write_text("precious")
    (foreign / name).symlink_to(outside)
    before = outside.read_bytes() if outside.is_file() else sorted(outside.iterdir())
    for command in ("status", "infer", "report"):
        done = project(command, "s")
        assert done.returncode == 1
        assert "is a link that leads out of the store" in done.stderr
    assert before == (outside.read_bytes() if outside.is_file() else sorted(outside.iterdir()))


def test_links_within_a_store_and_to_a_store_are_followed(project: Project, foreign: Path):
    (project.folder / "alias").symlink_to(foreign)
    part = next((foreign / "runs").glob("part-*.parquet"))
    part.rename(part.with_name("kept"))
    part.symlink_to(part.with_name("kept"))
    assert len(Store.open(project.folder / "alias").runs()) == 12


@pytest.mark.slow
def test_reading_a_store_runs_nothing_that_its_configuration_names(project: Project, foreign: Path):
    trap = project.folder / "trap.py"
    trap.write_text(
        f"import pathlib\npathlib.Path({str(project.folder / 'sprung')!r}).touch()\n"
        "def run(*a, **k): pass\n"
    )
    manifest = foreign / "polarbear.json"
    facts = json.loads(manifest.read_text())
    facts["config"]["algorithms"] = {
        "A": {"use": "python", "function": f"{trap}:run", "options": {}},
        "B": {"use": "command", "command": ["touch", str(project.folder / "sprung")]},
    }
    facts["config"]["instances"] |= {"suite": "python", "function": f"{trap}:run", "options": {}}
    manifest.write_text(json.dumps(facts))
    for command in (["status"], ["infer"], ["select"], ["compare"], ["report", "--text"]):
        done = project(command[0], "s", *command[1:])
        assert done.returncode == 0, done.stderr
    assert not (project.folder / "sprung").exists()


@pytest.mark.parametrize("config", [None, [], {}, {"algorithms": []}, {"algorithms": {"A": 3}}])
def test_a_manifest_that_lacks_what_readers_need_is_refused(foreign: Path, config: object):
    manifest = foreign / "polarbear.json"
    facts = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(facts | {"config": config}))
    with pytest.raises(StoreError, match="is not what PolarBear writes there: it"):
        Store.open(foreign)


def test_instances_that_are_missing_are_told(foreign: Path):
    for part in (foreign / "instances").glob("part-*.parquet"):
        part.unlink()
    store = Store.open(foreign)
    with pytest.raises(StoreError, match="lacks 6 of the instances that were run or ranked"):
        store.on_grid([1.0, 5.0])
