"""The rooms: imports point one way, each says what it is for, only the command line prints."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import polarbear

ROOT = Path(polarbear.__file__).parent
# Earlier rooms know nothing of later ones; rooms on one line know nothing of each other.
ORDER = [
    {"plain", "wording"},
    {"errors"},
    {"settings", "numerics"},
    {"rankings"},
    {"inference"},
    {"racing"},
    {"problems"},
    {"algorithms"},
    {"config"},
    {"execution"},
    {"store"},
    {"driver"},
    {"selection"},
    {"classical"},
    {"report", "formats"},
    {"regression"},
    {"api"},
    {"cli"},
    {"__main__"},
]
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}
MOST_MODULES = 5  # that stand directly in the package


def sources() -> list[Path]:
    return [path for path in sorted(ROOT.rglob("*.py")) if path != ROOT / "__init__.py"]


def folders() -> list[Path]:
    return sorted({path.parent for path in sources()} - {ROOT})


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imported_rooms(path: Path, types_too: bool = True) -> set[str]:
    tree = ast.parse(path.read_text())
    if not types_too:
        tree.body = [node for node in tree.body if not isinstance(node, ast.If)]
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            first, *rest = node.module.split(".")
            if first == "polarbear":
                found |= {rest[0]} if rest else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            for alias in node.names:
                first, *rest = alias.name.split(".")
                if first == "polarbear" and rest:
                    found.add(rest[0])
    return found - {"__version__"}


@pytest.mark.parametrize("path", sources(), ids=name)
def test_a_room_imports_only_earlier_rooms(path: Path):
    here = room_of(path)
    others = imported_rooms(path) - {here}
    assert {other for other in others if LEVEL[other] >= LEVEL[here]} == set()


def test_few_modules_stand_directly_in_the_package():
    assert len(list(ROOT.glob("*.py"))) <= MOST_MODULES


@pytest.mark.parametrize("folder", folders(), ids=name)
def test_every_room_says_what_it_is_for_and_what_it_may_use(folder: Path):
    about = ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))
    assert about
    assert "Uses " in about


def test_tests_mirror_the_rooms():
    tests = {path.name for path in Path(__file__).parent.iterdir() if path.is_dir()}
    rooms = {path.name for path in folders() if path.parent == ROOT}
    assert rooms <= tests


@pytest.mark.parametrize(
    "room",
    [path for path in sorted(Path(__file__).parent.iterdir()) if list(path.glob("test_*.py"))],
    ids=lambda room: room.name,
)
def test_without_slow_tests_every_room_is_still_looked_at(room: Path):
    tests = [
        node
        for path in room.glob("test_*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    quick = [
        test
        for test in tests
        if "pytest.mark.slow" not in {ast.unparse(mark) for mark in test.decorator_list}
    ]
    assert len(quick) >= 2


@pytest.mark.parametrize(
    "path",
    [path for path in sources() if room_of(path) not in {"cli", "__main__"}],
    ids=name,
)
def test_only_the_command_line_prints(path: Path):
    names = {
        node.func.id
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert "print" not in names


@pytest.mark.parametrize("path", sorted((ROOT / "cli").glob("*.py")), ids=name)
def test_the_command_line_uses_the_python_interface_only(path: Path):
    allowed = {"api", "cli", "errors", "plain", "wording"}
    assert imported_rooms(path) <= allowed
