"""Priors over ratings in time; a new one is a file here and a line in this registry.

Other packages add theirs by an entry point in the group polarbear.models. Heavy imports wait until
they are asked for: the names alone need none.

Uses `settings`; no engine.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from polarbear.settings.registry import Registry

if TYPE_CHECKING:
    from polarbear.inference.models.base import Latent, Model

_HERE = "polarbear.inference.models"

MODELS: Registry[type[Model]] = Registry(
    "model",
    "polarbear.models",
    f"{_HERE}.base:Model",
    {
        "dirichlet": f"{_HERE}.dirichlet:Dirichlet",
        "hierarchical": f"{_HERE}.hierarchical:Hierarchical",
        "gp": f"{_HERE}.gp:GaussianProcess",
        "sparse-gp": f"{_HERE}.sparse_gp:SparseGP",
        "hsgp": f"{_HERE}.hsgp:HilbertSpaceGP",
        "random-walk": f"{_HERE}.random_walk:RandomWalk",
        "bspline": f"{_HERE}.bspline:BSpline",
    },
)

__all__ = ["MODELS", "Latent", "Model", "temporal_models", "without_program"]


def temporal_models() -> list[str]:
    """The names of the models that know how ratings hang together over time."""
    return [name for name, model in MODELS.items() if model.temporal]


def without_program(name: str) -> str:
    """Why the stan engine refuses a model that has no Stan program."""
    return f"the model '{name}' has no Stan program: use the engine 'native'"


def __getattr__(name: str) -> Any:
    if name not in ("Latent", "Model"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{_HERE}.base"), name)
