"""Registries of models, suites, adapters, preferences, figures and formats, imported on demand."""

from __future__ import annotations

import importlib
from typing import Any

from polarbear.settings.registry import Registry

REGISTRIES = {
    "models": "polarbear.inference.models:MODELS",
    "suites": "polarbear.problems:SUITES",
    "adapters": "polarbear.algorithms:ADAPTERS",
    "preferences": "polarbear.selection.preference:PREFERENCES",
    "figures": "polarbear.report.figures:FIGURES",
    "formats": "polarbear.formats:FORMATS",
    "exports": "polarbear.formats:EXPORTS",
}


def registry(name: str) -> Registry[Any]:
    """The registry with one of the names in REGISTRIES."""
    module, _, attribute = REGISTRIES[name].partition(":")
    found: Registry[Any] = getattr(importlib.import_module(module), attribute)
    return found
