"""PolarBear: which anytime algorithm to run when the time limit is not yet known.

    import polarbear as pb

    store = pb.race("config.yaml")
    store.select("at 1000").choice

What is offered here is loaded when it is first asked for; docs/reference/python.md describes it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polarbear.api.experiments import check, race, run
    from polarbear.api.gating import gate
    from polarbear.api.importing import import_data, infer
    from polarbear.api.listening import Listener
    from polarbear.api.merge_stores import merge
    from polarbear.api.posterior import Posterior
    from polarbear.api.reporting import compare_stores
    from polarbear.api.store_handle import Store, open
    from polarbear.errors import (
        AlgorithmError,
        ConfigError,
        ExportFailedError,
        ImportFailedError,
        InferenceError,
        PolarBearError,
        PolarBearWarning,
        ProblemError,
        RaceError,
        ReportError,
        SelectionError,
        StoreError,
    )

__version__ = "0.1.0"

__all__ = [
    "AlgorithmError",
    "ConfigError",
    "ExportFailedError",
    "ImportFailedError",
    "InferenceError",
    "Listener",
    "PolarBearError",
    "PolarBearWarning",
    "Posterior",
    "ProblemError",
    "RaceError",
    "ReportError",
    "SelectionError",
    "Store",
    "StoreError",
    "__version__",
    "check",
    "compare_stores",
    "gate",
    "import_data",
    "infer",
    "merge",
    "open",
    "race",
    "run",
]

_PLACES = {
    "Listener": "api.listening",
    "Posterior": "api.posterior",
    "Store": "api.store_handle",
    "check": "api.experiments",
    "compare_stores": "api.reporting",
    "gate": "api.gating",
    "import_data": "api.importing",
    "infer": "api.importing",
    "merge": "api.merge_stores",
    "open": "api.store_handle",
    "race": "api.experiments",
    "run": "api.experiments",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{_PLACES.get(name, 'errors')}")
    found = globals()[name] = getattr(module, name)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
