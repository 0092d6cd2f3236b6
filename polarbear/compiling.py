"""How loops are compiled: once, kept on disk, free of the interpreter's lock."""

from __future__ import annotations

from typing import Any

from numba import njit

# Sums may be reordered into vector instructions; NaN and infinity keep their meaning. Division
# follows IEEE rules, because Python's check for zero would keep every loop from vectorising.
_SETTINGS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
}

kernel = njit(**_SETTINGS)
inlined = njit(**_SETTINGS, inline="always")
