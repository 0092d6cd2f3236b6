"""What a room offers at its door, loaded when it is first asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazily(room: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """A room's ``__getattr__``: ``places`` says in which of its modules each name is."""

    def found(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{room}.{places[name]}"), name)

    return found
