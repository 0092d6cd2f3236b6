"""How a user values time: a single budget, a distribution over budgets, the worst case, ...

Heavy imports wait until they are asked for: the names alone need none.

Uses `settings` and `wording`.
"""

from __future__ import annotations

from polarbear.preferences.base import Context, Preference, Valuation, Variations
from polarbear.preferences.parsing import parse_preference, read_preference
from polarbear.preferences.registry import PREFERENCES

__all__ = [
    "PREFERENCES",
    "Context",
    "Preference",
    "Valuation",
    "Variations",
    "parse_preference",
    "read_preference",
]
