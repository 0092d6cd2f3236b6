"""What others wrote and this process has loaded: users' functions, other packages' plug-ins."""

from __future__ import annotations

_loaded: list[str] = []


def note(what: str) -> None:
    """Keep in mind that others' code is about to be loaded."""
    _loaded.append(what)


def is_here() -> bool:
    """Whether any was."""
    return bool(_loaded)
