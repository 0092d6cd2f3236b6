"""The models of performance over time; a new one is a class and a line in this registry.

Other packages add models by an entry point in the group polarbear.models. A model is imported when
it is first used.

Uses `settings`; no engine.
"""

from pathlib import Path
from typing import ClassVar

from polarbear.settings.options import Options
from polarbear.settings.registry import Registry


class NoOptions(Options):
    """The options of a model that has none."""


class AnyModel:
    """The properties of a model that are known before it is used."""

    plackett_luce: ClassVar[bool] = True  # whether it is a prior over Plackett-Luce ratings
    temporal: ClassVar[bool]  # whether it smooths ratings over time
    hyperparameters: ClassVar[tuple[str, ...]]  # inferred on their logarithms
    own_options: ClassVar[type[Options]] = NoOptions
    # The model for the stan engine: a file, absolute or in PolarBear's folder of programs, and
    # the target acceptance of NUTS. A model without a program runs in the native engine only.
    stan_program: ClassVar[Path | str | None] = None
    stan_adapt_delta: ClassVar[float] = 0.9
    joint: ClassVar[bool]  # whether statements about several times at once are valid

    def __init_subclass__(cls) -> None:
        if "joint" not in vars(cls):
            cls.joint = getattr(cls, "temporal", False)


class Empirical(AnyModel):
    """A Bayesian bootstrap over problems, without Plackett-Luce."""

    plackett_luce = False
    temporal = False
    joint = True
    hyperparameters = ("concentration",)


_HERE = "polarbear.inference.models"

MODELS: Registry[type[AnyModel]] = Registry(
    "model",
    "polarbear.models",
    f"{_HERE}:AnyModel",
    {
        "empirical": f"{_HERE}:Empirical",
        "dirichlet": f"{_HERE}.priors:Dirichlet",
        "hierarchical": f"{_HERE}.priors:Hierarchical",
        "gp": f"{_HERE}.priors:GaussianProcess",
        "sparse-gp": f"{_HERE}.priors:SparseGP",
        "hsgp": f"{_HERE}.priors:HilbertSpaceGP",
        "random-walk": f"{_HERE}.priors:RandomWalk",
        "bspline": f"{_HERE}.priors:BSpline",
    },
)


def joint_models() -> list[str]:
    """The names of the models whose statements about all times at once are valid."""
    return [name for name, model in MODELS.items() if model.joint]


def rating_models() -> list[str]:
    """The names of the models that are priors over Plackett-Luce ratings."""
    return [name for name, model in MODELS.items() if model.plackett_luce]


def without_program(name: str) -> str:
    """The reason for which the stan engine refuses a model that has no Stan program."""
    return f"the model '{name}' has no Stan program: use the engine 'native'"
