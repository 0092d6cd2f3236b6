"""The code behind an algorithm or a problem: files by their hash, packages by their version.

Of a file with a user's function only the used part counts: the function, and all that it uses.
"""

import ast
import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Self

Names = frozenset[str] | None  # names of a file that are used; None for the whole file
Use = tuple[Path, Names]
# Words of code that may use names without naming them: a file that has one counts as a whole.
INDIRECT = (
    *(b"globals", b"vars(", b"exec(", b"eval(", b"__import__", b"import_module", b"sys.modules"),
    *(b"__dict__", b"__subclasses__", b"__init_subclass__", b"metaclass"),
)


@dataclass(frozen=True)
class MadeOf:
    """Files, relative to the configuration's folder, and packages, each with its fingerprint."""

    files: Mapping[str, str] = field(default_factory=dict)
    packages: Mapping[str, str] = field(default_factory=dict)

    def and_of(self, other: Self) -> "MadeOf":
        """The union of both."""
        return MadeOf({**self.files, **other.files}, {**self.packages, **other.packages})


def of_packages(*names: str) -> MadeOf:
    """Packages with their installed versions, or 'missing'."""
    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "missing"
    return MadeOf(packages=found)


def of_files(paths: Iterable[Path], folder: str) -> MadeOf:
    """Files with their hashes, and what a Python file imports from local files."""
    return _of_code([(path, None) for path in paths], folder)


def of_function(reference: str, folder: str) -> MadeOf:
    """What 'module:function' or 'file.py:function' uses of its file and of local files.

    A module outside the configuration's folder is known by the version of its package or, if it
    belongs to none, by its file.
    """
    module, _, function = reference.rpartition(":")
    if module.endswith(".py"):
        path = Path(folder) / module
        return _of_code([(path, frozenset({function}))] if path.is_file() else [], folder)
    local = _modules(module.split("."), Path(folder), frozenset({function}))
    return _of_code(local, folder) if local else _installed(module, folder)


def _installed(module: str, folder: str) -> MadeOf:
    package = module.partition(".")[0]
    made = of_packages(package)
    if made.packages[package] != "missing":
        return made
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        spec = None
    file = Path(spec.origin) if spec is not None and spec.origin else None
    return _named({file.resolve(): _hash(file)} if file and file.is_file() else {}, folder)


def _named(hashes: Mapping[Path, str], folder: str) -> MadeOf:
    """Hashes by file name, which has no path outside the folder: it may differ by machine."""
    root = Path(folder).resolve()
    named: dict[str, str] = {}
    for path, key in sorted(hashes.items()):
        is_inside = path.is_relative_to(root)
        name = path.relative_to(root).as_posix() if is_inside else path.name
        named[name] = f"{named[name]}+{key}" if name in named else key
    return MadeOf(named)


def _of_code(waiting: list[Use], folder: str) -> MadeOf:
    """Hashes of the used parts of files, and of the local files that these import."""
    root = Path(folder).resolve()
    used: dict[Path, Names] = {}
    hashes: dict[Path, str] = {}
    while waiting:
        path, names = waiting.pop()
        path = path.resolve()
        known = used.get(path, frozenset())
        wanted = None if names is None or known is None else known | names
        if path in used and wanted == known:
            continue
        used[path] = wanted
        hashes[path], imported = _used_part(path, wanted, root)
        waiting += imported
    return _named({path: key for path, key in hashes.items() if key}, folder)


def _used_part(path: Path, names: Names, folder: Path) -> tuple[str, list[Use]]:
    """The hash of the used part of a file, empty if nothing is used, and what it imports."""
    try:
        source = path.read_bytes()
        body = ast.parse(source).body if path.suffix == ".py" else []
    except (OSError, SyntaxError, ValueError):  # reported when it is run
        return _hash(path), []
    is_plain = not any(word in source for word in INDIRECT)
    parts = _reached(body, names, path, folder) if names is not None and is_plain else None
    if parts is None:
        return _hash(path), [one for node in body for one in _imports(node, path, folder)]
    lines = source.splitlines()
    kept = []
    for node in parts:
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
        kept += lines[first - 1 : node.end_lineno]
    imported = [one for node in parts for one in _imports(node, path, folder)]
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):  # runs, used or not
            imported += [(one, frozenset()) for one, _ in _imports(node, path, folder)]
    return hashlib.sha256(b"\n".join(kept)).hexdigest()[:16] if kept else "", imported


def _reached(
    body: list[ast.stmt], names: frozenset[str], path: Path, folder: Path
) -> list[ast.stmt] | None:
    """The statements that define names and all that they use, and those with possible effects.

    None where a name is defined by other means, so that anything may be used.
    """
    defined: dict[str, list[ast.stmt]] = {}
    local = set()
    for node in body:
        for name in _bound(node):
            defined.setdefault(name, []).append(node)
            is_import = isinstance(node, ast.Import | ast.ImportFrom)
            if not is_import or any(_imports(node, path, folder)):
                local.add(name)
    if not names <= defined.keys():
        return None
    reached = {node for node in body if _has_effect(node, local)}
    waiting = [*reached, *(node for name in names for node in defined[name])]
    while waiting:
        node = waiting.pop()
        reached.add(node)
        used = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        found = (other for name in used for other in defined.get(name, ()))
        waiting += [other for other in found if other not in reached]
    return [node for node in body if node in reached]


def _bound(node: ast.stmt) -> list[str]:
    """The names that a plain definition, assignment or import defines; [] for other statements."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [one.asname or one.name.partition(".")[0] for one in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign):
        targets = [node.target]
    flat = [one for t in targets for one in (t.elts if isinstance(t, ast.Tuple) else [t])]
    names = [one.id for one in flat if isinstance(one, ast.Name)]
    return names if len(names) == len(flat) else []


def _has_effect(node: ast.stmt, local: Collection[str]) -> bool:
    """Whether a statement may do more than define names, as a definition does by a local call."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return any(one.name == "*" for one in node.names)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return False  # a docstring
    if isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'":
        return bool(node.orelse)
    if not _bound(node):
        return True
    waiting: list[ast.AST] = [node]
    while waiting:
        one = waiting.pop()
        called = [one.func] if isinstance(one, ast.Call) else getattr(one, "decorator_list", [])
        words = (word for each in called for word in ast.walk(each))
        if any(isinstance(word, ast.Name) and word.id in local for word in words):
            return True
        inside = ast.iter_child_nodes(one)
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = iter([one.args])  # its body is not run
        if not isinstance(one, ast.Lambda):
            waiting += inside
    return False


def _imports(node: ast.stmt, path: Path, folder: Path) -> Iterator[Use]:
    """The local files that a statement imports, with the names that it uses of them."""
    for one in ast.walk(node):
        if isinstance(one, ast.Import):
            for alias in one.names:
                for root in (folder, path.parent):
                    yield from _modules(alias.name.split("."), root, None)
        elif isinstance(one, ast.ImportFrom):
            start = one.module.split(".") if one.module else []
            near = path.parents[one.level - 1] if 0 < one.level <= len(path.parents) else None
            names = frozenset(alias.name for alias in one.names)
            for root in (near,) if near is not None else (folder, path.parent):
                yield from _modules(start, root, None if "*" in names else names)
                for name in names:
                    yield from _modules([name], root.joinpath(*start), None)


def _modules(parts: list[str], root: Path, names: Names) -> list[Use]:
    """The files below a folder that importing a dotted name runs; ``names`` are of the last."""
    found: list[Use] = []
    for depth in range(1, len(parts) + 1):
        place = root.joinpath(*parts[:depth])
        used = names if depth == len(parts) else frozenset()
        places = (place.with_suffix(".py"), place / "__init__.py")
        found += [(path, used) for path in places if path.is_file()]
    return found


def _hash(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]
    except OSError as error:
        return f"unreadable ({error.strerror})"
