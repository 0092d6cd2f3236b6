"""Rooms, the subpackages, import each other in one direction, and only the command line prints."""

import ast
from pathlib import Path

import polarbear

ROOT = Path(polarbear.__file__).parent
# A room imports only rooms on earlier lines.
ORDER = [
    {"records", "wording"},
    {"errors"},
    {"settings", "numerics"},
    {"rankings", "spaces"},
    {"inference"},
    {"racing"},
    {"problems"},
    {"algorithms"},
    {"config"},
    {"execution"},
    {"store"},
    {"facts"},
    {"driver"},
    {"selection"},
    {"classical"},
    {"report", "formats", "proposers"},
    {"regression"},
    {"api"},
    {"cli"},
    {"__main__"},
]
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}
# These rooms import `driver`, because they execute runs or write stores. All others use `facts`.
ROOMS_THAT_RUN = {"regression", "api"}
MOST_MODULES = 5  # modules that stand directly in the package


def sources() -> list[Path]:
    return [path for path in sorted(ROOT.rglob("*.py")) if path != ROOT / "__init__.py"]


def folders() -> list[Path]:
    return sorted({path.parent for path in sources()} - {ROOT})


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imported_rooms(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            first, *rest = node.module.split(".")
            if first == "polarbear":
                rooms |= {rest[0]} if rest else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            for alias in node.names:
                first, *rest = alias.name.split(".")
                if first == "polarbear" and rest:
                    rooms.add(rest[0])
    return rooms - {"__version__"}


def test_a_room_imports_only_earlier_rooms():
    wrong_imports = {
        (name(path), other)
        for path in sources()
        for other in imported_rooms(path) - {room_of(path)}
        if LEVEL[other] >= LEVEL[room_of(path)]
    }
    assert wrong_imports == set()


def test_only_rooms_that_run_algorithms_import_the_driver():
    importing_rooms = {room_of(path) for path in sources() if "driver" in imported_rooms(path)}
    assert importing_rooms - {"driver"} == ROOMS_THAT_RUN


def test_few_modules_stand_directly_in_the_package():
    assert len(list(ROOT.glob("*.py"))) <= MOST_MODULES


def test_every_room_says_what_it_is_for_and_what_it_may_use():
    for folder in folders():
        about = ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))
        assert about, folder
        assert "Uses " in about, folder


def test_tests_mirror_the_rooms():
    tests = {path.name for path in Path(__file__).parent.iterdir() if path.is_dir()}
    rooms = {path.name for path in folders() if path.parent == ROOT}
    assert rooms <= tests


def test_every_room_has_tests_that_are_not_slow():
    for room in Path(__file__).parent.iterdir():
        modules = [ast.parse(path.read_text()) for path in room.glob("test_*.py")]
        functions = [
            node for module in modules for node in module.body if isinstance(node, ast.FunctionDef)
        ]
        tests = [function for function in functions if function.name.startswith("test_")]
        marks = [{ast.unparse(mark) for mark in test.decorator_list} for test in tests]
        assert not tests or sum("pytest.mark.slow" not in mark for mark in marks) >= 2, room


def test_only_the_command_line_prints():
    for path in sources():
        names = {
            node.func.id
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert "print" not in names or room_of(path) in {"cli", "__main__"}, path


def test_the_command_line_uses_the_python_interface_only():
    for path in (ROOT / "cli").glob("*.py"):
        assert imported_rooms(path) <= {"api", "cli", "errors", "records", "wording"}, path
