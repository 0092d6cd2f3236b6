"""Help that names what the registries hold, looked up when somebody reads it."""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand

if TYPE_CHECKING:
    from polarbear.settings.registry import Registry

REGISTRIES = {
    "models": "polarbear.inference.models:MODELS",
    "suites": "polarbear.problems:SUITES",
    "adapters": "polarbear.algorithms:ADAPTERS",
    "preferences": "polarbear.preferences.registry:PREFERENCES",
    "figures": "polarbear.report.figures.registry:FIGURES",
    "formats": "polarbear.formats:FORMATS",
    "exports": "polarbear.formats:EXPORTS",
}
_NAMES = rf"\{{({'|'.join(REGISTRIES)})(\.about)?\}}"


def registry(name: str) -> Registry[Any]:
    """One of them, imported now."""
    module, _, attribute = REGISTRIES[name].partition(":")
    return getattr(importlib.import_module(module), attribute)  # type: ignore[no-any-return]


class Naming(TyperCommand):
    """A command in whose help '{models}' stands for their names, and '{formats.about}' for more."""

    def format_help(self, *arguments: Any) -> None:
        self.help = _named(self.help)
        for parameter in self.params:
            if getattr(parameter, "help", None):
                parameter.help = _named(parameter.help)  # type: ignore[attr-defined]
        super().format_help(*arguments)


def _named(text: str | None) -> str | None:
    return text and re.sub(_NAMES, lambda place: _listed(place[1], bool(place[2])), text)


def _listed(name: str, with_about: bool) -> str:
    known = registry(name)
    if with_about:
        return "\n\n".join(f"{entry}: {known.about(entry)}" for entry in known)
    return ", ".join(known)
