"""Instances that are names: lists, globs, and lists in files."""

from pathlib import Path
from typing import Any

import pytest

from polarbear.errors import ConfigError, ProblemError
from polarbear.problems import Setting
from polarbear.problems.instance_files import Files
from polarbear.settings.grid import Budget
from polarbear.settings.options import Source, validate


def suite(**options: Any) -> Files:
    return validate(Files, {"suite": "files", **options}, Source("test"))


def setting(folder: Path, seed: int = 1) -> Setting:
    return Setting(seed, Budget(grid=(1.0,)), str(folder))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.cnf", "a.cnf", "deep/c.cnf", "notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "list.txt").write_text("# training\na.cnf\n\nb.cnf  # easy\n")
    return tmp_path


def names(files: Files, setting: Setting) -> list[str]:
    return [files.instance(i, setting).id for i in range(files.size(setting))]


def test_globs_and_lists_in_files_give_names_as_they_are_written(folder: Path):
    for options, expected in (
        ({"glob": "**/*.cnf"}, ["a.cnf", "b.cnf", "deep/c.cnf"]),
        ({"glob": f"{folder}/*.cnf"}, [f"{folder}/a.cnf", f"{folder}/b.cnf"]),
        ({"listed_in": "list.txt"}, ["a.cnf", "b.cnf"]),
    ):
        assert names(suite(**options, order="given"), setting(folder)) == expected


def test_names_are_handed_on_as_they_are(folder: Path):
    files = suite(names=["no such file", "b"], order="given")
    spec = files.instance(0, setting(folder)).spec
    assert files.build(spec, setting(folder)) == "no such file"


def test_a_random_order_depends_on_the_seed_and_a_new_file_reorders_nobody(folder: Path):
    many = [f"f{i}" for i in range(30)]
    first_setting = setting(folder)
    order = names(suite(names=many), first_setting)
    assert sorted(order) == sorted(many)
    assert order != many
    assert order != names(suite(names=many), setting(folder, seed=2))
    with_new = names(suite(names=[*many, "new"]), first_setting)
    assert [name for name in with_new if name != "new"] == order


def test_what_names_no_instance_is_refused(folder: Path):
    with pytest.raises(ProblemError, match="only 2 instances"):
        suite(names=["a", "b"]).instance(2, setting(folder))
    with pytest.raises(ProblemError, match=r"'\*\.lp' matches no instance"):
        suite(glob="*.lp").instance(0, setting(folder))
    with pytest.raises(ProblemError, match="cannot read the list 'none.txt'"):
        suite(listed_in="none.txt").instance(0, setting(folder))
    with pytest.raises(ConfigError, match="takes one of: names, glob, listed_in"):
        suite()
    with pytest.raises(ConfigError, match="takes one of: names, glob, listed_in"):
        suite(names=["a"], glob="*")
