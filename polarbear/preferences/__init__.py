"""How a user values time: a single budget, a distribution over budgets, the worst case, ...

Heavy imports wait until they are asked for: the names alone need none.

Uses `settings` and `wording`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from polarbear.preferences.registry import PREFERENCES

if TYPE_CHECKING:
    from polarbear.preferences.base import Context, Preference, Valuation, Variations
    from polarbear.preferences.parsing import parse_preference, read_preference

__all__ = [
    "PREFERENCES",
    "Context",
    "Preference",
    "Valuation",
    "Variations",
    "parse_preference",
    "read_preference",
]

_PLACES = {
    "Context": "polarbear.preferences.base",
    "Preference": "polarbear.preferences.base",
    "Valuation": "polarbear.preferences.base",
    "Variations": "polarbear.preferences.base",
    "parse_preference": "polarbear.preferences.parsing",
    "read_preference": "polarbear.preferences.parsing",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_PLACES[name]), name)
