"""The Python interface: everything that `import polarbear` offers, and every command's work.

Each question is one call here: it opens and locks the store, does the work through the rooms below,
and returns a typed record. Nothing here prints or exits. Modules are imported at their first use,
as in ``api.store_status.status(path)``: a command loads what it needs.

Uses every room but `cli`.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polarbear.api import configurations as configurations
    from polarbear.api import environment as environment
    from polarbear.api import experiments as experiments
    from polarbear.api import gating as gating
    from polarbear.api import importing as importing
    from polarbear.api import live_page as live_page
    from polarbear.api import merge_stores as merge_stores
    from polarbear.api import plain_runs as plain_runs
    from polarbear.api import plots as plots
    from polarbear.api import posterior as posterior
    from polarbear.api import progress_display as progress_display
    from polarbear.api import reporting as reporting
    from polarbear.api import selecting as selecting
    from polarbear.api import standings_words as standings_words
    from polarbear.api import store_handle as store_handle
    from polarbear.api import store_status as store_status
    from polarbear.api import text_table as text_table
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


def __getattr__(name: str) -> ModuleType:
    if find_spec(f"{__name__}.{name}") is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")
