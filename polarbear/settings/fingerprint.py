"""The code behind an algorithm or a problem: files by their hash, packages by their version.

If a file has a user's function, only the used part of it counts: the function, and all it uses.
"""

import ast
import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Self

Names = frozenset[str] | None  # names of a file that are used; None for the whole file
Use = tuple[Path, Names]  # a file, and the names of it that are used
MISSING = "missing"  # in place of the version of a package
# Code with one of these words may use names without naming them, so the whole file counts.
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
    """Packages with their installed versions."""
    return MadeOf(packages={name: installed_version(name) for name in names})


@lru_cache
def installed_version(package: str) -> str:
    """A package's version when this process asked first, which is that of the imported code."""
    try:
        return version(package)
    except PackageNotFoundError:
        return MISSING


def of_files(paths: Iterable[Path], folder: str) -> MadeOf:
    """Files with their hashes, and what a Python file imports from local files."""
    return _of_code([(path, None) for path in paths], folder)


def of_function(reference: str, folder: str) -> MadeOf:
    """The source that 'module:function' or 'file.py:function' uses, also from local files.

    A module outside the configuration's folder is identified by the version of its package or, if
    it belongs to none, by its file.
    """
    module, _, function = reference.rpartition(":")
    if module.endswith(".py"):
        path = Path(folder) / module
        return _of_code([(path, frozenset({function}))] if path.is_file() else [], folder)
    local_files = _modules(module.split("."), Path(folder), frozenset({function}))
    return _of_code(local_files, folder) if local_files else _installed(module, folder)


def _installed(module: str, folder: str) -> MadeOf:
    """The package of a module that is not in the folder, or its file if no package has it."""
    package = module.partition(".")[0]
    made_of = of_packages(package)
    if made_of.packages[package] != MISSING:
        return made_of
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        spec = None
    if spec is None or not spec.origin or not Path(spec.origin).is_file():
        return MadeOf()
    file = Path(spec.origin)
    return _by_file_name({file.resolve(): _hash(file)}, folder)


def _by_file_name(hashes: Mapping[Path, str], folder: str) -> MadeOf:
    """Hashes by file name; outside the folder it has no path, which may differ by machine."""
    root = Path(folder).resolve()
    by_name: dict[str, str] = {}
    for path, file_hash in sorted(hashes.items()):
        is_inside = path.is_relative_to(root)
        name = path.relative_to(root).as_posix() if is_inside else path.name
        by_name[name] = f"{by_name[name]}+{file_hash}" if name in by_name else file_hash
    return MadeOf(by_name)


def _of_code(queue: list[Use], folder: str) -> MadeOf:
    """Hashes of the used parts of files, and of the local files that these import."""
    root = Path(folder).resolve()
    used: dict[Path, Names] = {}
    hashes: dict[Path, str] = {}
    while queue:
        path, names = queue.pop()
        path = path.resolve()
        earlier_names = used.get(path, frozenset())
        all_names = None if names is None or earlier_names is None else earlier_names | names
        if path in used and all_names == earlier_names:
            continue
        used[path] = all_names
        hashes[path], imported = _used_part(path, all_names, root)
        queue += imported
    return _by_file_name({path: value for path, value in hashes.items() if value}, folder)


def _used_part(path: Path, names: Names, folder: Path) -> tuple[str, list[Use]]:
    """The hash of the used part of a file, empty if nothing is used, and what it imports."""
    try:
        source = path.read_bytes()
        body = ast.parse(source).body if path.suffix == ".py" else []
    except (OSError, SyntaxError, ValueError):  # reported when the function is run
        return _hash(path), []
    is_plain = not any(word in source for word in INDIRECT)
    parts = _reached(body, names, path, folder) if names is not None and is_plain else None
    if parts is None:
        return _hash(path), [use for node in body for use in _imports(node, path, folder)]
    lines = source.splitlines()
    used_lines = []
    for node in parts:
        used_lines += lines[first_line(node) - 1 : node.end_lineno]
    imported = [use for node in parts for use in _imports(node, path, folder)]
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):  # an import runs, used or not
            imported += [(file, frozenset()) for file, _ in _imports(node, path, folder)]
    used_hash = hashlib.sha256(b"\n".join(used_lines)).hexdigest()[:16] if used_lines else ""
    return used_hash, imported


def first_line(node: ast.stmt) -> int:
    """The number of a statement's first line, which may be that of a decorator."""
    return min([node.lineno, *(decorator.lineno for decorator in _decorators(node))])


def _decorators(node: ast.AST) -> list[ast.expr]:
    """The decorators of a function or a class; [] for other code."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.decorator_list
    return []


def _reached(
    body: list[ast.stmt], names: frozenset[str], path: Path, folder: Path
) -> list[ast.stmt] | None:
    """The statements that define names and all that they use, and those with possible effects.

    None where a name is defined in another way, so that anything may be used.
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
    queue = [*reached, *(node for name in names for node in defined[name])]
    while queue:
        node = queue.pop()
        reached.add(node)
        used_names = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
        definitions = (other for name in used_names for other in defined.get(name, ()))
        queue += [other for other in definitions if other not in reached]
    return [node for node in body if node in reached]


def _bound(node: ast.stmt) -> list[str]:
    """The names that a plain definition, assignment or import defines; [] for other statements."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    targets: list[ast.expr] = []
    if isinstance(node, ast.AnnAssign):
        targets.append(node.target)
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            targets += target.elts if isinstance(target, ast.Tuple) else [target]
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    return names if len(names) == len(targets) else []


def _has_effect(node: ast.stmt, local: Collection[str]) -> bool:
    """Whether a statement may do more than define names.

    A definition does more if it calls local code, for example as a decorator.
    """
    if isinstance(node, ast.Import | ast.ImportFrom):
        return any(alias.name == "*" for alias in node.names)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return False  # a docstring
    if isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'":
        return bool(node.orelse)
    if not _bound(node):
        return True
    queue: list[ast.AST] = [node]
    while queue:
        part = queue.pop()
        called = [part.func] if isinstance(part, ast.Call) else _decorators(part)
        for expression in called:
            words = ast.walk(expression)
            if any(isinstance(word, ast.Name) and word.id in local for word in words):
                return True
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            queue.append(part.args)  # its body is not run
        elif not isinstance(part, ast.Lambda):
            queue += ast.iter_child_nodes(part)
    return False


def _imports(node: ast.stmt, path: Path, folder: Path) -> Iterator[Use]:
    """The local files that a statement imports, with the names that it uses of them."""
    for part in ast.walk(node):
        if isinstance(part, ast.Import):
            for alias in part.names:
                for root in (folder, path.parent):
                    yield from _modules(alias.name.split("."), root, None)
        elif isinstance(part, ast.ImportFrom):
            start = part.module.split(".") if part.module else []
            names = frozenset(alias.name for alias in part.names)
            if 0 < part.level <= len(path.parents):
                roots = [path.parents[part.level - 1]]
            else:
                roots = [folder, path.parent]
            for root in roots:
                yield from _modules(start, root, None if "*" in names else names)
                for name in names:
                    yield from _modules([name], root.joinpath(*start), None)


def _modules(parts: list[str], root: Path, names: Names) -> list[Use]:
    """The files below a folder that importing a dotted name runs; ``names`` are of the last."""
    uses: list[Use] = []
    for depth in range(1, len(parts) + 1):
        module = root.joinpath(*parts[:depth])
        used_names = names if depth == len(parts) else frozenset()
        for path in (module.with_suffix(".py"), module / "__init__.py"):
            if path.is_file():
                uses.append((path, used_names))
    return uses


def _hash(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]
    except OSError as error:
        return f"unreadable ({error.strerror})"
