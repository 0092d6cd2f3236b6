"""The rooms: imports point one way, and only the command line prints."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import polarbear

ROOT = Path(polarbear.__file__).parent
# Earlier rooms know nothing of later ones.
ORDER = [
    {"errors", "tables", "palette"},
    {"options"},
    {"budget", "registry", "yamlfile", "user_code", "rules"},
    {"choice_sets", "compiling"},
    {"counting"},
    {"placing"},
    {"rankings"},
    {"inference"},
    {"relations"},
    {"race"},
    {"problems", "preferences"},
    {"algorithms"},
    {"config"},
    {"execution", "parts"},
    {"lock"},
    {"store"},
    {"collect", "summary", "template", "imports", "learn"},
    {"tally", "beliefs"},
    {"racing", "standings"},
    {"select"},
    {"attainment"},
    {"report"},
    {"cli"},
    {"__main__"},
]
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}


def sources() -> list[Path]:
    return [path for path in sorted(ROOT.rglob("*.py")) if path != ROOT / "__init__.py"]


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


def imported_rooms(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
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


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_room_imports_only_earlier_rooms(path: Path):
    here = room_of(path)
    for other in imported_rooms(path) - {here}:
        assert LEVEL[other] < LEVEL[here], f"{here} imports {other}"


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_only_the_command_line_prints(path: Path):
    if room_of(path) in {"cli", "__main__"}:
        return
    names = {
        node.func.id
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert "print" not in names


def test_help_imports_nothing_heavy():
    import subprocess
    import sys

    code = (
        "import sys\nsys.argv = ['polarbear', '--help']\nfrom polarbear.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'scipy', 'polars', 'pyarrow', 'pydantic', 'numba', 'rich'}\n"
        "print('HEAVY', sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "HEAVY []" in done.stdout
