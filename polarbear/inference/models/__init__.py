"""The models of performance over time; a new one is a file here and a line in this registry.

Other packages add models by an entry point in the group polarbear.models. A model is imported when
it is first used.

Uses `settings`; no engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polarbear.errors import InferenceError
from polarbear.settings.registry import Registry

if TYPE_CHECKING:
    from polarbear.inference.models.base import AnyModel, Model

_HERE = "polarbear.inference.models"

MODELS: Registry[type[AnyModel]] = Registry(
    "model",
    "polarbear.models",
    f"{_HERE}.base:AnyModel",
    {
        "empirical": f"{_HERE}.base:Empirical",
        "dirichlet": f"{_HERE}.dirichlet:Dirichlet",
        "hierarchical": f"{_HERE}.dirichlet:Hierarchical",
        "gp": f"{_HERE}.gp:GaussianProcess",
        "sparse-gp": f"{_HERE}.sparse_gp:SparseGP",
        "hsgp": f"{_HERE}.hsgp:HilbertSpaceGP",
        "random-walk": f"{_HERE}.random_walk:RandomWalk",
        "bspline": f"{_HERE}.bspline:BSpline",
    },
)


def temporal_models() -> list[str]:
    """The names of the models whose ratings are correlated over time."""
    return [name for name, model in MODELS.items() if model.temporal]


def joint_models() -> list[str]:
    """The names of the models whose statements about all times at once are valid."""
    return [name for name, model in MODELS.items() if model.joint]


def rating_models() -> list[str]:
    """The names of the models that are priors over Plackett-Luce ratings."""
    return [name for name, model in MODELS.items() if model.plackett_luce]


def rating_model(name: str) -> type[Model]:
    """A prior over Plackett-Luce ratings, by its name."""
    model = MODELS[name]
    if not model.plackett_luce:
        raise InferenceError(f"the model '{name}' is not a prior over ratings")
    return model  # type: ignore[return-value]


def without_program(name: str) -> str:
    """Why the stan engine refuses a model that has no Stan program."""
    return f"the model '{name}' has no Stan program: use the engine 'native'"
