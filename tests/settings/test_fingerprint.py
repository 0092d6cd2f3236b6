"""Fingerprints cover the code that a user's function uses, in its file and in local imports."""

from importlib.metadata import version
from pathlib import Path

import pytest

from polarbear.settings.fingerprint import of_files, of_function, of_packages

CODE = {
    "mine.py": """
import numpy as np
import helper
import unused
from parts import one
from parts.two import f as second

LIMIT = 10
STEPS: list[int] = []
TABLE = np.zeros(3)


def late():
    from late import g
    return g


@np.vectorize
def other(x):
    return helper.h(x) + TABLE


def solve(problem, seed):
    return inner(problem) + one.x


def inner(problem):
    return second(LIMIT) + late()


STEPS += [helper]

if __name__ == "__main__":
    other(1)
""",
    "helper.py": "from mine import LIMIT\n",  # The files import each other.
    "unused.py": "def nothing():\n    pass\n\n\nprint('imported')\n",
    "late.py": "def g():\n    return 1\n\n\ndef not_g():\n    return 2\n",
    "stranger.py": "",
    "parts/__init__.py": "",
    "parts/one.py": "from . import three\n",
    "parts/two.py": "from late import not_g\n\n\ndef f(x):\n    return C.of(x)\n\n\n"
    "class Base:\n    unit = 1\n\n\nclass C(Base):\n    of = abs\n\n\nclass D(C):\n    pass\n",
    "parts/three.py": "",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "parts").mkdir()
    for name, code in CODE.items():
        (tmp_path / name).write_text(code)
    return tmp_path


@pytest.mark.parametrize("reference", ["mine:solve", "mine.py:solve"])
def test_local_files_of_which_a_function_uses_anything_are_found(folder: Path, reference: str):
    assert sorted(of_function(reference, str(folder)).files) == [
        *("helper.py", "late.py", "mine.py", "parts/__init__.py", "parts/one.py"),
        *("parts/three.py", "parts/two.py", "unused.py"),
    ]


CHANGES = {
    "the function": ("mine.py", "one.x", "one.y", True),
    "a function that it uses": ("mine.py", "second(LIMIT)", "second(-LIMIT)", True),
    "a constant": ("mine.py", "LIMIT = 10", "LIMIT = 11", True),
    "an import": ("mine.py", "f as second", "f as second, C", True),
    "a statement with an effect": ("mine.py", "STEPS += [helper]", "STEPS += [helper, 1]", True),
    "a name that such a statement uses": ("mine.py", "list[int] = []", "list[int] = [1]", True),
    "the base of a class in an imported file": ("parts/two.py", "unit = 1", "unit = 2", True),
    "a function that is imported late": ("late.py", "return 1", "return 3", True),
    "an effect of a file that is imported and not used": ("unused.py", "'imported'", "1", True),
    "a file used as a whole": ("parts/three.py", "", "x = 1\n", True),
    "another function": ("mine.py", "helper.h(x)", "helper.k(x)", False),
    "a constant of another function": ("mine.py", "np.zeros(3)", "np.zeros(4)", False),
    "an added function": ("mine.py", "def inner", "def third():\n    pass\n\n\ndef inner", False),
    "a decorated function that is added": ("mine.py", "@np", "@np.f\ndef added(): 1\n@np", False),
    "what runs as a script only": ("mine.py", "    other(1)", "    other(2)", False),
    "a derived class": ("parts/two.py", "    pass", "    unit = 3", False),
    "the unused rest of an imported file": ("late.py", "return 2", "return 3", False),
    "a function of a file that is imported and not used": ("unused.py", "pass", "1", False),
    "a registration": ("mine.py", "@np.vectorize", "@late", True),
    "a name found in an indirect way": ("mine.py", "helper.h(x)", "globals()['h'](x)", True),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_counts_if_the_function_uses_the_changed_code(folder: Path, change: str):
    file, old, new, counts = CHANGES[change]
    before = of_function("mine:solve", str(folder)).files
    (folder / file).write_text(CODE[file].replace(old, new, 1))
    after = of_function("mine:solve", str(folder)).files
    changed = [name for name in before if before[name] != after.get(name)]
    assert (file in changed, bool(changed)) == (counts, counts)


def test_a_function_of_an_installed_package_is_identified_by_its_version(folder: Path):
    fingerprint = of_function("numpy.linalg:norm", str(folder))
    assert fingerprint.packages == {"numpy": version("numpy")}
    assert fingerprint.files == {}
    assert of_packages("no-such-package").packages == {"no-such-package": "missing"}


def test_a_program_outside_of_the_folder_is_listed_by_its_name(folder: Path):
    program = folder.parent / "solver"
    program.write_bytes(b"\x7fELF")
    assert list(of_files([program], str(folder)).files) == ["solver"]


def test_a_folder_that_is_moved_makes_no_difference(folder: Path, tmp_path_factory):
    before = of_function("mine:solve", str(folder))
    moved = tmp_path_factory.mktemp("other") / "place"
    folder.rename(moved)
    assert of_function("mine:solve", str(moved)) == before


def test_a_file_that_cannot_be_parsed_is_in_the_fingerprint(folder: Path):
    (folder / "mine.py").write_text("def solve(:\n")
    assert list(of_function("mine:solve", str(folder)).files) == ["mine.py"]
