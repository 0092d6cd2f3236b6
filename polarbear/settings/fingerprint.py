"""The code behind an algorithm or a problem: files by their hash, packages by their version."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path


@dataclass(frozen=True)
class MadeOf:
    """Files, relative to the configuration's folder, and packages, each with its fingerprint."""

    files: Mapping[str, str] = field(default_factory=dict)
    packages: Mapping[str, str] = field(default_factory=dict)

    def and_of(self, other: MadeOf) -> MadeOf:
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


def of_files(paths: Iterable[Path], folder: str, imports: bool = True) -> MadeOf:
    """Files with their hashes, and the files that a Python file imports.

    A file outside the configuration's folder is known by its name without its path, which may
    differ between machines.
    """
    root = Path(folder).resolve()
    hashes: dict[Path, str] = {}
    for path in map(Path.resolve, paths):
        for one in _with_imports(path, root) if imports else [path]:
            hashes[one] = hashes.get(one) or _hash(one)
    named: dict[str, str] = {}
    for path, key in sorted(hashes.items()):
        is_inside = path.is_relative_to(root)
        name = path.relative_to(root).as_posix() if is_inside else path.name
        named[name] = f"{named[name]}+{key}" if name in named else key
    return MadeOf(named)


def of_function(reference: str, folder: str) -> MadeOf:
    """The file of 'module:function' or 'file.py:function', and the local files it imports.

    A module outside the configuration's folder is known by the version of its package or, if it
    belongs to none, by its file.
    """
    module = reference.rpartition(":")[0]
    if module.endswith(".py"):
        path = Path(folder) / module
        return of_files([path] if path.is_file() else [], folder)
    local = _modules(module.split("."), Path(folder))
    return of_files(local, folder) if local else _installed(module, folder)


def _installed(module: str, folder: str) -> MadeOf:
    package = module.partition(".")[0]
    made = of_packages(package)
    if made.packages[package] != "missing":
        return made
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        spec = None
    files = [Path(spec.origin)] if spec is not None and spec.origin else []
    return of_files([path for path in files if path.is_file()], folder, imports=False)


def _with_imports(path: Path, folder: Path) -> list[Path]:
    """A file, and all that it imports from its folder or the configuration's."""
    found, waiting = [], [path]
    while waiting:
        here = waiting.pop()
        if here in found:
            continue
        found.append(here)
        if here.suffix == ".py":
            waiting += [one.resolve() for one in _imported(here, folder)]
    return found


def _imported(path: Path, folder: Path) -> Iterator[Path]:
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):  # reported when it is run
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                for root in (folder, path.parent):
                    yield from _modules(alias.name.split("."), root)
        elif isinstance(node, ast.ImportFrom):
            start = node.module.split(".") if node.module else []
            near = path.parents[node.level - 1] if 0 < node.level <= len(path.parents) else None
            for root in (near,) if near is not None else (folder, path.parent):
                yield from _modules(start, root)
                for alias in node.names:
                    yield from _modules([*start, alias.name], root)


def _modules(parts: list[str], root: Path) -> list[Path]:
    """The files below a folder that importing a dotted name would run."""
    found = []
    for depth in range(1, len(parts) + 1):
        place = root.joinpath(*parts[:depth])
        found += [p for p in (place.with_suffix(".py"), place / "__init__.py") if p.is_file()]
    return found


def _hash(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]
    except OSError as error:
        return f"unreadable ({error.strerror})"
