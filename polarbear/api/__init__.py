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
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polarbear.api import (  # noqa: F401
        configurations,
        environment,
        experiments,
        gating,
        importing,
        inferring,
        listening,
        live_page,
        merge_stores,
        posterior,
        registries,
        reporting,
        selecting,
        store_details,
        store_handle,
        store_status,
    )


def __getattr__(name: str) -> ModuleType:
    if find_spec(f"{__name__}.{name}") is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")
