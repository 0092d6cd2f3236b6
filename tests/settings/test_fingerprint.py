"""The code of users: its files, and the local files that these import."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

from polarbear.settings.fingerprint import of_files, of_function, of_packages


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(
        "import numpy\nimport helper\nfrom parts import one\nfrom parts.two import f\n"
        "def solve():\n    from late import g\n"
    )
    (tmp_path / "helper.py").write_text("import mine\n")  # a circle
    (tmp_path / "late.py").touch()
    (tmp_path / "stranger.py").touch()
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "__init__.py").touch()
    (tmp_path / "parts" / "one.py").write_text("from . import three\n")
    (tmp_path / "parts" / "two.py").touch()
    (tmp_path / "parts" / "three.py").touch()
    return tmp_path


USED = [
    *("helper.py", "late.py", "mine.py", "parts/__init__.py", "parts/one.py"),
    *("parts/three.py", "parts/two.py"),
]


@pytest.mark.parametrize("reference", ["mine:solve", "mine.py:solve"])
def test_all_that_a_function_s_file_imports_from_beside_it_is_found(folder: Path, reference: str):
    assert sorted(of_function(reference, str(folder)).files) == USED


@pytest.mark.parametrize("file", [*USED, "stranger.py"])
def test_a_change_shows_in_the_files_that_are_used_and_in_no_other(folder: Path, file: str):
    before = of_function("mine:solve", str(folder)).files
    with (folder / file).open("a") as opened:
        opened.write("# changed\n")
    after = of_function("mine:solve", str(folder)).files
    assert {name for name in before if before[name] != after[name]} == {file} & set(USED)


def test_a_function_of_an_installed_package_goes_by_its_version(folder: Path):
    made = of_function("numpy.linalg:norm", str(folder))
    assert made.packages == {"numpy": version("numpy")}
    assert made.files == {}
    assert of_packages("no-such-package").packages == {"no-such-package": "missing"}
    program = folder.parent / "solver"  # from elsewhere: by its name
    program.write_bytes(b"\x7fELF")
    assert list(of_files([program], str(folder)).files) == ["solver"]


def test_a_folder_that_is_moved_makes_no_difference(folder: Path, tmp_path_factory):
    before = of_function("mine:solve", str(folder))
    moved = tmp_path_factory.mktemp("other") / "place"
    folder.rename(moved)
    assert of_function("mine:solve", str(moved)) == before


def test_code_that_cannot_be_parsed_is_looked_at_nevertheless(folder: Path):
    (folder / "mine.py").write_text("def solve(:\n")
    assert list(of_function("mine:solve", str(folder)).files) == ["mine.py"]
