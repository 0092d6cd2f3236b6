"""PolarBear compares anytime algorithms at every budget, to choose one when the budget is known.

    import polarbear as pb

    store = pb.race("config.yaml")
    store.select("at 1000").choice

Each name is loaded when it is first used; docs/reference/python.md describes them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polarbear.api import adapters, suites
    from polarbear.api.experiments import race
    from polarbear.api.gating import gate
    from polarbear.api.importing import import_data, infer
    from polarbear.api.listening import Listener
    from polarbear.api.merge_stores import merge
    from polarbear.api.plain_runs import check, run
    from polarbear.api.posterior import Posterior
    from polarbear.api.reporting import compare_stores
    from polarbear.api.store_handle import Store, open
    from polarbear.config.configuration import Configuration as Config
    from polarbear.config.execution import Execution
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

__all__ = ["Listener", "Posterior", "Store", "__version__"]
__all__ += ["Budget", "Config", "Execution", "ModelOptions", "Rules", "adapters", "suites"]
__all__ += ["check", "gate", "merge", "open", "race", "run"]
__all__ += ["compare_stores", "import_data", "infer"]
__all__ += ["AlgorithmError", "ConfigError", "ExportFailedError", "ImportFailedError"]
__all__ += ["InferenceError", "PolarBearError", "PolarBearWarning", "ProblemError", "RaceError"]
__all__ += ["ReportError", "SelectionError", "StoreError"]

_OPTIONS = {
    "Budget": "settings.grid",
    "Config": "config.configuration:Configuration",
    "Execution": "config.execution",
    "ModelOptions": "inference.model_options",
    "Rules": "racing.rules",
}
_PLACES = {
    **_OPTIONS,
    **dict.fromkeys(("check", "run"), "api.plain_runs"),
    **dict.fromkeys(("import_data", "infer"), "api.importing"),
    **dict.fromkeys(("Store", "open"), "api.store_handle"),
    **dict.fromkeys(("adapters", "suites"), "api"),
    "Listener": "api.listening",
    "Posterior": "api.posterior",
    "compare_stores": "api.reporting",
    "gate": "api.gating",
    "merge": "api.merge_stores",
    "race": "api.experiments",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    place, _, attribute = _PLACES.get(name, "errors").partition(":")
    module = importlib.import_module(f"{__name__}.{place}")
    found = globals()[name] = getattr(module, attribute or name)
    if name in _OPTIONS:
        found.model_rebuild()  # adds the signature that editors complete
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
