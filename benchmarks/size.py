"""Size and structure of the package: lines, imports, circles, names, and the lines a race loads.

    python benchmarks/size.py

Lines are those of whole files, with comments and blank lines. Imports for type checkers alone (`if
TYPE_CHECKING`) do not count. Exits with 1 when a target is missed.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from targets import Row, report

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "polarbear"
QUICK_START = ROOT / "configs" / "quickstart.yaml"
PARALLEL = {"base", "engine", "python", "synthetic"}  # implementations of one interface
LOADED = """
import contextlib, io, sys
from pathlib import Path
from polarbear.__main__ import main
sys.argv = ["polarbear", "race", "quickstart.yaml"]
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
files = {getattr(module, "__file__", None) for name, module in sys.modules.items()
         if name.split(".")[0] == "polarbear"}
print(sum(len(Path(file).read_text().splitlines()) for file in files if file))
"""


def lines_of(paths: Iterable[Path]) -> int:
    return sum(len(path.read_text().splitlines()) for path in paths)


def lines_loaded() -> int:
    """The lines of all modules that a race of the quick start has loaded at its end."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "quickstart.yaml").write_text(QUICK_START.read_text())
        command = [sys.executable, "-c", LOADED]
        completed = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return int(completed.stdout)


def nodes_of(tree: ast.AST, leaves: tuple[type[ast.AST], ...] = ()) -> Iterator[ast.AST]:
    """All nodes that are executed, but none below nodes of the types ``leaves``."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        yield node
        if not isinstance(node, leaves):
            yield from nodes_of(node, leaves)


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path, modules: set[str]) -> set[str]:
    """The modules of the package that a module imports when it is imported."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    names: set[str] = set()
    for node in nodes_of(ast.parse(path.read_text()), functions):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            submodules = {f"{node.module}.{alias.name}" for alias in node.names} & modules
            names |= submodules or {node.module}
    return (names & modules) - {module_of(path)}


def circle(paths: list[Path]) -> list[str]:
    """Modules that import each other in a circle, if there are any."""
    modules = {module_of(path) for path in paths}
    graph = {module_of(path): imported(path, modules) for path in paths}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def imports_in_functions(path: Path) -> int:
    tree = ast.parse(path.read_text())
    imports: set[ast.AST] = set()  # a set, since a nested function's import is in two functions
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            imports |= {
                node for node in nodes_of(function) if isinstance(node, ast.Import | ast.ImportFrom)
            }
    return len(imports)


def uses_of_any(path: Path) -> int:
    return len(re.findall(r"\bAny\b", path.read_text()))


def main() -> int:
    paths = sorted(PACKAGE.rglob("*.py"))
    scripts = [path for path in PACKAGE.rglob("*.js") if "plotly" not in path.parts]
    names = Counter(path.stem for path in paths if path.stem != "__init__")
    repeated = sorted(name for name, count in names.items() if count > 1 and name not in PARALLEL)
    module_circle = circle(paths)
    counts_and_limits = {
        "lines of Python in polarbear/": (lines_of(paths), 35_000),
        "files of Python in polarbear/": (len(paths), 320),
        "lines of the page's JavaScript": (lines_of(scripts), 2_600),
        "lines of tests": (lines_of((ROOT / "tests").rglob("*.py")), 26_000),
        "lines loaded by a race of the quick start": (lines_loaded(), 13_000),
        "imports inside functions": (sum(map(imports_in_functions, paths)), 80),
        "the word Any": (sum(map(uses_of_any, paths)), 250),
        f"modules in a circle of imports {' '.join(module_circle)}": (len(module_circle), 0),
        f"names of modules used twice {' '.join(repeated)}": (len(repeated), 0),
    }
    return report(
        [
            Row(label.strip(), f"{count:,}", f"at most {limit:,}", count <= limit)
            for label, (count, limit) in counts_and_limits.items()
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
