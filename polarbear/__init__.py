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
    from polarbear.api import adapters, suites
    from polarbear.api.experiments import check, race, run
    from polarbear.api.gating import gate
    from polarbear.api.importing import import_data, infer
    from polarbear.api.listening import Listener
    from polarbear.api.merge_stores import merge
    from polarbear.api.posterior import Posterior
    from polarbear.api.reporting import compare_stores
    from polarbear.api.store_handle import Store, open
    from polarbear.config import Execution
    from polarbear.config.configuration import Configuration as Config
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
    from polarbear.inference.model_options import ModelOptions
    from polarbear.racing.rules import Rules
    from polarbear.settings.grid import Budget

__version__ = "0.1.0"

__all__ = [
    "AlgorithmError",
    "Budget",
    "Config",
    "ConfigError",
    "Execution",
    "ExportFailedError",
    "ImportFailedError",
    "InferenceError",
    "Listener",
    "ModelOptions",
    "PolarBearError",
    "PolarBearWarning",
    "Posterior",
    "ProblemError",
    "RaceError",
    "ReportError",
    "Rules",
    "SelectionError",
    "Store",
    "StoreError",
    "__version__",
    "adapters",
    "check",
    "compare_stores",
    "gate",
    "import_data",
    "infer",
    "merge",
    "open",
    "race",
    "run",
    "suites",
]

_PLACES = {
    "Budget": "settings.grid",
    "Config": "config.configuration:Configuration",
    "Execution": "config.execution",
    "Listener": "api.listening",
    "ModelOptions": "inference.model_options",
    "Posterior": "api.posterior",
    "Rules": "racing.rules",
    "Store": "api.store_handle",
    "adapters": "api:adapters",
    "check": "api.experiments",
    "compare_stores": "api.reporting",
    "gate": "api.gating",
    "import_data": "api.importing",
    "infer": "api.importing",
    "merge": "api.merge_stores",
    "open": "api.store_handle",
    "race": "api.experiments",
    "run": "api.experiments",
    "suites": "api:suites",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    place, _, attribute = _PLACES.get(name, "errors").partition(":")
    module = importlib.import_module(f"{__name__}.{place}")
    found = globals()[name] = getattr(module, attribute or name)
    if name in ("Budget", "Config", "Execution", "ModelOptions", "Rules"):
        found.model_rebuild()  # gives it a signature, which editors complete by
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
