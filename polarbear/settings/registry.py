"""Plug-ins by name: PolarBear's own, imported only when asked for, and those of other packages.

A package of somebody else adds one by an entry point in the registry's group. What is wrong with
such a plug-in is said in a warning, and it is left out; everything else works as it did.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import warnings
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from polarbear.errors import ConfigError, PlugInWarning

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PlugIn = TypeVar("PlugIn")


class Stranger(NamedTuple):
    """What another package has declared: the plug-in, or ``flaw``, the reason to leave it out."""

    name: str
    package: str
    found: Any = None
    flaw: str = ""


class Registry(Generic[PlugIn]):
    """One family of plug-ins, in the order in which a reader wants them.

    ``places`` maps the names of PolarBear's own to 'module:attribute', and ``base`` is the place of
    the class that all of them derive from or, if they are ``objects``, belong to. Nothing is
    imported, and no entry point is looked up, until somebody asks. ``guard`` is the place of a
    function that makes a plug-in of another package safe to call, given what to call it.
    """

    def __init__(
        self,
        what: str,
        group: str,
        base: str,
        places: Mapping[str, str],
        objects: bool = False,
        guard: str | None = None,
    ) -> None:
        self.what = what
        self.group = group
        self.base = base
        self.places = dict(places)
        self.objects = objects
        self.guard = guard

    def __iter__(self) -> Iterator[str]:
        return iter([*self.places, *self._usable])

    def __len__(self) -> int:
        return len(self.places) + len(self._usable)

    def __contains__(self, name: object) -> bool:
        return name in self.places or name in self._usable

    def __getitem__(self, name: str) -> PlugIn:
        if name in self._usable:
            return self._usable[name]  # type: ignore[no-any-return]
        if name not in self.places:
            raise ConfigError(self.refusal(name))
        return _load(self.places[name])  # type: ignore[no-any-return]

    def items(self) -> list[tuple[str, PlugIn]]:
        return [(name, self[name]) for name in self]

    def values(self) -> list[PlugIn]:
        return [self[name] for name in self]

    def refusal(self, name: str) -> str:
        """One line on a name that is not here: the nearest that is, or why it was left out."""
        from polarbear.settings.options import unknown

        for stranger in self.strangers:
            if stranger.name == name and stranger.flaw:
                return f"{self._called(stranger)} cannot be used: {stranger.flaw}"
        return unknown(self.what, name, self)

    def about(self, name: str) -> str:
        """The first line of a class's docstring; one of our own is read, not imported."""
        if name in self._usable:
            text = inspect.getdoc(self._usable[name])
        else:
            module, _, attribute = self.places[name].partition(":")
            text = _docstring(module, attribute)
        return (text or "").strip().partition("\n")[0]

    @cached_property
    def strangers(self) -> tuple[Stranger, ...]:
        """All that other packages declare, looked up once; what is broken is warned of."""
        from importlib.metadata import entry_points  # takes longer than all else in this file

        declared = sorted(entry_points(group=self.group), key=lambda entry: _package(entry))
        found: dict[str, Stranger] = {}
        refused = []
        for entry in sorted(declared, key=lambda entry: entry.name):
            stranger = self._loaded(entry, found)
            if stranger.flaw:
                refused.append(stranger)
                text = f"{self._called(stranger)} is left out: {stranger.flaw}"
                warnings.warn(text, PlugInWarning, stacklevel=2)
            else:
                found[entry.name] = stranger
        return (*found.values(), *refused)

    @cached_property
    def _usable(self) -> dict[str, Any]:
        return {stranger.name: stranger.found for stranger in self.strangers if not stranger.flaw}

    def _loaded(self, entry: EntryPoint, before: Mapping[str, Stranger]) -> Stranger:
        package = _package(entry)
        if entry.name in self.places:
            flaw = "the name is that of one of PolarBear's own"
            return Stranger(entry.name, package, flaw=flaw)
        if entry.name in before:
            flaw = f"the name is taken by the package '{before[entry.name].package}'"
            return Stranger(entry.name, package, flaw=flaw)
        try:
            found = entry.load()
        except (Exception, SystemExit) as error:  # somebody else's module may raise anything
            first = str(error).partition("\n")[0]
            return Stranger(entry.name, package, flaw=f"{type(error).__name__}: {first}")
        stranger = Stranger(entry.name, package, found, self._flaw(entry.name, found))
        if stranger.flaw or self.guard is None:
            return stranger
        return stranger._replace(found=_load(self.guard)(found, self._called(stranger)))

    def _called(self, stranger: Stranger) -> str:
        return f"the {self.what} '{stranger.name}' of the package '{stranger.package}'"

    def _flaw(self, name: str, found: Any) -> str:
        """Why this cannot be a plug-in of this family, or an empty string."""
        base = _load(self.base)
        if self.objects:
            if not isinstance(found, base):
                return f"{found!r} is not a {base.__module__}.{base.__name__}"
            return "" if found.name == name else f"it calls itself '{found.name}'"
        if not (isinstance(found, type) and issubclass(found, base)):
            return f"{found!r} is not a class derived from {base.__module__}.{base.__name__}"
        missing = sorted(getattr(found, "__abstractmethods__", ()))
        missing += [name for name in _class_variables(base) if not hasattr(found, name)]
        return f"{found.__name__} lacks {', '.join(missing)}" if missing else ""


def _load(place: str) -> Any:
    module, _, attribute = place.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.value.partition(":")[0]


def _class_variables(base: type) -> list[str]:
    """Those that a class promises, whether or not it gives them a value."""
    annotations = inspect.get_annotations(base)
    return [name for name, kind in annotations.items() if str(kind).startswith("ClassVar")]


def _docstring(module: str, name: str) -> str | None:
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return ast.get_docstring(node)
    return None
