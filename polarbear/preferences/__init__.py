"""How a user values time: a single budget, a distribution over budgets, the worst case, ...

Heavy imports wait until they are asked for: the names alone need none.

Uses `settings` and `wording`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polarbear.preferences.registry import PREFERENCES
from polarbear.settings.lazily import lazily

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

__getattr__ = lazily(
    __name__,
    {
        "Context": "base",
        "Preference": "base",
        "Valuation": "base",
        "Variations": "base",
        "parse_preference": "parsing",
        "read_preference": "parsing",
    },
)
