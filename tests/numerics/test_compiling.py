"""Compilation: announced once when it happens, kept where possible, and never out of date."""

import ast
import importlib
import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from numba import njit
from numba.extending import is_jitted

import polarbear
from polarbear.numerics import compiling
from polarbear.numerics.announcing import on_first_compilation

PACKAGE = Path(polarbear.__file__).parent
COMPILER = {"numba", compiling.__name__}
FILE_WITH_A_LOOP = """
from polarbear.numerics.compiling import cache_folder, compiled

FACTOR = {factor}
fused = compiled(nogil=True)


@fused
def scaled(x):
    return FACTOR * x


print(scaled(7), scaled.stats.cache_hits[scaled.signatures[0]] if scaled.stats.cache_hits else 0)
print(cache_folder(scaled))
"""


def imported_modules(path: Path) -> set[str]:
    modules = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            modules.add(node.module)
        elif isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
    return modules


def modules_with_loops() -> list[ModuleType]:
    """The modules that import Numba or PolarBear's decorator for it, outside of numerics."""
    names = [
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for path in sorted(PACKAGE.rglob("*.py"))
        if imported_modules(path) & COMPILER
    ]
    outside = [name for name in names if not name.startswith("polarbear.numerics.")]
    return [importlib.import_module(name) for name in outside]


def loops_of(module: ModuleType) -> Iterator[tuple[str, object]]:
    for name, loop in vars(module).items():
        if is_jitted(loop) and loop.__module__ == module.__name__:
            yield name, loop


def foreign_names(module: ModuleType) -> set[str]:
    """Names in a module that it imports from the package or from modules of the user."""
    standard = sys.stdlib_module_names | {"numpy"}
    tree = ast.parse(inspect.getsource(module))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            if node.module.partition(".")[0] not in standard:
                names.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] not in standard:
                    names.add(alias.asname or alias.name.partition(".")[0])
    return names


def test_a_loop_uses_only_what_its_own_file_defines():
    # Otherwise Numba would use machine code that it has kept of another file's earlier state.
    n_loops = 0
    for module in modules_with_loops():
        foreign = foreign_names(module)
        for name, loop in loops_of(module):
            n_loops += 1
            used = inspect.getclosurevars(loop.py_func).globals
            assert foreign.isdisjoint(used), f"{module.__name__}.{name} uses another file"
    assert n_loops > 30


def run_file(path: Path, **variables: str) -> list[str]:
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), **variables}
    ended = subprocess.run(
        [sys.executable, path.name],
        cwd=path.parent,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return ended.stdout.split()


def test_machine_code_is_kept_and_compiled_again_when_its_file_changes(tmp_path: Path):
    path = tmp_path / "loop.py"
    cache = tmp_path / "cache"
    path.write_text(FILE_WITH_A_LOOP.format(factor=2))
    first = run_file(path, NUMBA_CACHE_DIR=str(cache))
    assert first[:2] == ["14", "0"]
    assert Path(first[2]).parent == cache
    assert run_file(path, NUMBA_CACHE_DIR=str(cache))[:2] == ["14", "1"]
    path.write_text(FILE_WITH_A_LOOP.format(factor=3))
    assert run_file(path, NUMBA_CACHE_DIR=str(cache))[:2] == ["21", "0"]


def test_where_no_folder_can_be_written_every_process_compiles(tmp_path: Path):
    path = tmp_path / "loop.py"
    path.write_text(FILE_WITH_A_LOOP.format(factor=2))
    # Files stand where Numba would make its folders, so that even root cannot write there.
    (tmp_path / "__pycache__").touch()
    file = tmp_path / "file"
    file.touch()
    inside = str(file / "inside")
    for _ in range(2):
        printed = run_file(path, NUMBA_CACHE_DIR=inside, XDG_CACHE_HOME=inside, HOME=inside)
        assert printed == ["14", "0", "None"]


@pytest.mark.parametrize("is_loaded", [True, False])
def test_compiling_is_said_once_and_only_when_it_happens(is_loaded: bool):
    code = (
        f"{'import numba' if is_loaded else ''}\n"
        "from polarbear.numerics.announcing import on_first_compilation\n"
        "messages = []\n"
        "with on_first_compilation(lambda: messages.append('compiling')):\n"
        "    from polarbear.numerics.compiling import compiled\n"
        "    twice = compiled()(eval('lambda x: 2 * x'))\n"
        "    thrice = compiled()(eval('lambda x: 3 * x'))\n"
        "    assert messages == []\n"
        "    assert twice(1) == 2\n"
        "    assert thrice(1) == 3\n"
        "    assert messages == ['compiling']\n"
        "assert compiled()(eval('lambda x: 4 * x'))(1) == 4\n"
        "assert messages == ['compiling']\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_after_an_announcement_nothing_listens_to_numba():
    messages: list[str] = []
    twice = njit(lambda x: 2 * x)
    with on_first_compilation(lambda: messages.append("compiling")):
        assert twice(1) == 2
    assert messages == ["compiling"]
    assert njit(lambda x: 3 * x)(1) == 3
    with on_first_compilation(lambda: messages.append("again")):
        assert twice(2) == 4
    assert messages == ["compiling"]


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
