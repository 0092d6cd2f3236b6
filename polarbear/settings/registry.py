"""Plug-ins by name: PolarBear's, imported when needed, and those of third-party packages.

A package adds a plug-in by an entry point in the registry's group. An invalid plug-in is left out
with a warning; all others continue to work.
"""

import ast
import importlib
import importlib.util
import inspect
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from polarbear.errors import ConfigError, PlugInWarning
from polarbear.settings.options import unknown

PlugIn = TypeVar("PlugIn")


class ThirdParty(NamedTuple):
    """A plug-in that another package declares; ``flaw`` is the reason to leave it out, if any."""

    name: str
    package: str
    plug_in: object = None
    flaw: str = ""


class Registry(Mapping[str, PlugIn]):
    """One family of plug-ins, in the order in which they are listed for users.

    ``family`` is what a message calls one of them, such as 'preference', and ``group`` the group of
    entry points. Objects are named as 'module:attribute': ``base`` is the class that plug-ins
    derive from or, if they are ``objects``, are instances of; ``places`` maps the names of
    PolarBear's plug-ins to them; ``guard`` is a function that wraps third-party plug-ins, and
    receives the plug-in and a description of it. Nothing is imported and no entry point is looked
    up before the registry is used, because a command needs few of the plug-ins.
    """

    def __init__(
        self,
        family: str,
        group: str,
        base: str,
        places: Mapping[str, str],
        objects: bool = False,
        guard: str | None = None,
    ) -> None:
        self.family = family
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

    def refusal(self, name: str) -> str:
        """One line on an unknown name: the nearest known one, or why it was left out."""
        for entry in self.third_party:
            if entry.name == name and entry.flaw:
                return f"{self._label(entry)} cannot be used: {entry.flaw}"
        return unknown(self.family, name, self)

    def about(self, name: str) -> str:
        """The first line of a plug-in's docstring.

        PolarBear's modules are parsed and not imported, because help lists all plug-ins, and
        importing them takes a second.
        """
        if name in self._usable:
            text = inspect.getdoc(self._usable[name])
        else:
            module, _, attribute = self.places[name].partition(":")
            text = _docstring(module, attribute)
        return (text or "").strip().partition("\n")[0]

    @cached_property
    def third_party(self) -> tuple[ThirdParty, ...]:
        """All plug-ins of other packages; a warning names each that is invalid."""
        usable: dict[str, ThirdParty] = {}
        refused = []
        declared = _select_entry_points(tuple(sys.path))(group=self.group)
        for point in sorted(declared, key=lambda point: (point.name, _package(point))):
            entry = self._load_entry(point, usable)
            if entry.flaw:
                refused.append(entry)
                text = f"{self._label(entry)} is left out: {entry.flaw}"
                warnings.warn(text, PlugInWarning, stacklevel=2)
            else:
                usable[entry.name] = entry
        return (*usable.values(), *refused)

    @cached_property
    def _usable(self) -> dict[str, Any]:
        return {entry.name: entry.plug_in for entry in self.third_party if not entry.flaw}

    def _load_entry(self, point: EntryPoint, accepted: Mapping[str, ThirdParty]) -> ThirdParty:
        """Load a plug-in, unless its name is that of one of PolarBear's or of an accepted one."""
        name = point.name
        package = _package(point)
        if name in self.places:
            return ThirdParty(name, package, flaw="the name is that of one of PolarBear's own")
        if name in accepted:
            flaw = f"the name is taken by the package '{accepted[name].package}'"
            return ThirdParty(name, package, flaw=flaw)
        try:
            plug_in = point.load()
        except (Exception, SystemExit) as error:  # a third-party module may raise anything
            first_line = str(error).partition("\n")[0]
            return ThirdParty(name, package, flaw=f"{type(error).__name__}: {first_line}")
        entry = ThirdParty(name, package, plug_in, self._flaw(name, plug_in))
        if entry.flaw or self.guard is None:
            return entry
        return entry._replace(plug_in=_load(self.guard)(plug_in, self._label(entry)))

    def _label(self, entry: ThirdParty) -> str:
        return f"the {self.family} '{entry.name}' of the package '{entry.package}'"

    def _flaw(self, name: str, plug_in: object) -> str:
        """The reason why this is no plug-in of this family, or an empty string."""
        base = _load(self.base)
        if self.objects:
            if not isinstance(plug_in, base):
                return f"{plug_in!r} is not a {base.__module__}.{base.__name__}"
            return "" if plug_in.name == name else f"it calls itself '{plug_in.name}'"
        if not (isinstance(plug_in, type) and issubclass(plug_in, base)):
            return f"{plug_in!r} is not a class derived from {base.__module__}.{base.__name__}"
        missing = sorted(getattr(plug_in, "__abstractmethods__", ()))
        missing += [name for name in _class_variables(base) if not hasattr(plug_in, name)]
        return f"{plug_in.__name__} lacks {', '.join(missing)}" if missing else ""


@cache
def _select_entry_points(path: tuple[str, ...]) -> Callable[..., EntryPoints]:
    """Selects entry points of the packages on a path, which are read once: that takes some time."""
    return entry_points().select


def _load(reference: str) -> Any:
    """The object that 'module:attribute' names."""
    module, _, attribute = reference.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value.partition(":")[0]


def _class_variables(base: type) -> list[str]:
    """The class variables that a class declares, with or without a value."""
    annotations = inspect.get_annotations(base)
    return [name for name, kind in annotations.items() if str(kind).startswith("ClassVar")]


def _docstring(module: str, name: str) -> str | None:
    """The docstring of a class in a module, which is not imported."""
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return ast.get_docstring(node)
    return None
