"""How loops are compiled: once, kept on disk, free of the interpreter's lock."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numba import njit

# Sums may be reordered into vector instructions; NaN and infinity keep their meaning. Division
# follows IEEE rules, because Python's check for zero would keep every loop from vectorising.
_SETTINGS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
    "no_cfunc_wrapper": True,  # nobody calls them from C, and it takes time to compile
}

kernel = njit(**_SETTINGS)
# for what only other loops call: an entry from Python would take longer to compile than the loop
inner = njit(**_SETTINGS | {"no_cpython_wrapper": True})
inlined = njit(**_SETTINGS, inline="always")


def is_compiled(loop: Any) -> bool:
    """Whether a compiled form of the loop is at hand, in this process or on disk."""
    if loop.signatures:
        return True
    module = loop.py_func.__module__.rpartition(".")[2]
    kept = Path(loop._cache.cache_path)
    return any(kept.glob(f"{module}.{loop.py_func.__qualname__}-*.nbi"))
