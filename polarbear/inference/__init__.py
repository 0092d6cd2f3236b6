"""Temporal Plackett-Luce posteriors: choice sets in, draws of theta and their diagnostics out.

    options = ModelOptions(model="gp")
    posterior = infer(choice_sets, unit_times, options, seed=1, positions=positions)

Heavy imports wait until they are asked for.

Uses `rankings` and `numerics`; knows nothing of runs or stores.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polarbear.inference.base import Diagnostics, Posterior
    from polarbear.inference.dispatch import infer
    from polarbear.inference.newcomer.extend import extend
    from polarbear.inference.options import ModelOptions

__all__ = ["Diagnostics", "ModelOptions", "Posterior", "extend", "infer"]

_PLACES = {
    "Diagnostics": "polarbear.inference.base",
    "ModelOptions": "polarbear.inference.options",
    "Posterior": "polarbear.inference.base",
    "extend": "polarbear.inference.newcomer.extend",
    "infer": "polarbear.inference.dispatch",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_PLACES[name]), name)
