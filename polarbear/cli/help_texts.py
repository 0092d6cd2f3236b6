"""Help texts that list the entries of registries, looked up when help is shown."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand

_PLACEHOLDER = r"\{([a-z]+)(\.about)?\}"


class Command(TyperCommand):
    """A command whose help may contain '{models}' for names, '{formats.about}' for descriptions."""

    def format_help(self, *arguments: Any) -> None:
        self.help = _filled(self.help)
        for parameter in self.params:
            if getattr(parameter, "help", None):
                parameter.help = _filled(parameter.help)  # type: ignore[attr-defined]
        super().format_help(*arguments)


def _filled(text: str | None) -> str | None:
    return text and re.sub(_PLACEHOLDER, _listed, text)


def _listed(place: re.Match[str]) -> str:
    from polarbear.api.registries import REGISTRIES, registry

    if place[1] not in REGISTRIES:
        return place[0]
    known = registry(place[1])
    if place[2]:
        return "\n\n".join(f"{entry}: {known.about(entry)}" for entry in known)
    return ", ".join(known)
