"""What a user's algorithm or problem is made of: files by their contents, packages by version."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class MadeOf:
    """Files, named as seen from the configuration's folder, and packages that something uses."""

    files: Mapping[str, str] = field(default_factory=dict)
    packages: Mapping[str, str] = field(default_factory=dict)

    def and_of(self, other: MadeOf) -> MadeOf:
        """What both together are made of."""
        return MadeOf({**self.files, **other.files}, {**self.packages, **other.packages})


def of_packages(*names: str) -> MadeOf:
    """Installed packages with their versions; one that is not there is said to be missing."""
    from importlib.metadata import PackageNotFoundError

    found = {}
    for name in names:
        try:
            found[name] = installed_version(name)
        except PackageNotFoundError:
            found[name] = "missing"
    return MadeOf(packages=found)


def installed_version(name: str) -> str:
    """The version that is installed, by the line that says so: a race asks in every round, and
    importlib would parse all of what a package tells about itself, its README included."""
    from importlib.metadata import distribution

    package = distribution(name)
    line = re.search(r"^Version:[ \t]*(\S+)", package.read_text("METADATA") or "", re.MULTILINE)
    return line[1] if line else package.version


def of_files(paths: Iterable[Path], folder: str, imports: bool = True) -> MadeOf:
    """Files with a hash of what is in them; with a Python file comes what it imports.

    A file from elsewhere goes by its mere name, which is the same on every machine.
    """
    root = Path(folder).resolve()
    found: dict[Path, str] = {}
    for path in map(Path.resolve, paths):
        for one in _with_imports(path, root) if imports else [path]:
            found[one] = found.get(one) or _hash(one)
    named: dict[str, str] = {}
    for path, key in sorted(found.items()):
        inside = path.is_relative_to(root)
        name = path.relative_to(root).as_posix() if inside else path.name
        named[name] = f"{named[name]}+{key}" if name in named else key
    return MadeOf(named)


def of_function(reference: str, folder: str) -> MadeOf:
    """The file of 'module:function' or 'file.py:function', with what it imports from beside it.

    A module that is not beside the configuration is known by its package's version or, where it
    belongs to none, by its file.
    """
    module = reference.rpartition(":")[0]
    if module.endswith(".py"):
        path = Path(folder) / module
        return of_files([path] if path.is_file() else [], folder)
    beside = _modules(module.split("."), Path(folder))
    return of_files(beside, folder) if beside else _installed(module, folder)


def _installed(module: str, folder: str) -> MadeOf:
    from importlib.util import find_spec

    top = module.partition(".")[0]
    made = of_packages(top)
    if made.packages[top] != "missing":
        return made
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        spec = None
    files = [Path(spec.origin)] if spec is not None and spec.origin else []
    return of_files([path for path in files if path.is_file()], folder, imports=False)


def _with_imports(path: Path, folder: Path) -> list[Path]:
    """A file and, if it is Python's, all it imports from its own folder or the configuration's."""
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
    except (OSError, SyntaxError, ValueError):  # whoever runs it will say so
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
    """The files that importing a dotted name would run, as far as they are under a folder."""
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
