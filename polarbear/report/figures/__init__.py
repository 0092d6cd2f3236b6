"""The figures of a report, one per file, with data and drawing apart.

Heavy imports wait until they are asked for: the names alone need none.

Uses the report's context and drawing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from polarbear.report.figures.registry import FIGURES

if TYPE_CHECKING:
    from polarbear.report.figures.base import Figure

__all__ = ["FIGURES", "Figure"]


def __getattr__(name: str) -> Any:
    if name != "Figure":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("polarbear.report.figures.base"), name)
