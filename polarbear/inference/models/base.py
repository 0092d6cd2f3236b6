"""What a model is: given its hyperparameters, a prior on coefficients and a way to observe them.

With d = n - 1 independent copies of K coefficients x, the latent functions on the grid are

    eta[t, q] = sum_j weights[t, j] x[starts[t] + j, q]

and mu(t) = Q eta(t), theta(t) = softmax(mu(t)). Models on the simplex have no Gaussian prior but a
Dirichlet one, which in softmax space joins the likelihood; each time then has its own coefficient.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from polarbear.settings.options import Options

if TYPE_CHECKING:
    from polarbear.inference.options import ModelOptions


@dataclass(frozen=True)
class Latent:
    """A model given its hyperparameters: precision[K, width] of the coefficients as a band.

    ``half_log_det`` is of that precision, for one latent function; ``dirichlet`` the concentration
    of a Dirichlet prior at each time, zero for none; ``log_constant`` what else the prior density
    has in it that depends on the hyperparameters.
    """

    precision: np.ndarray
    half_log_det: float
    starts: np.ndarray
    weights: np.ndarray
    dirichlet: float = 0.0
    log_constant: float = 0.0

    @property
    def n_coefficients(self) -> int:
        return int(self.precision.shape[0])


class NoOptions(Options):
    """What a model has that needs no options of its own."""


class AnyModel:
    """What is known of a model before it is used."""

    plackett_luce: ClassVar[bool] = True  # whether it is a prior over Plackett-Luce ratings
    temporal: ClassVar[bool]  # whether it smooths ratings over time
    hyperparameters: ClassVar[tuple[str, ...]]  # inferred on their logarithms
    own_options: ClassVar[type[Options]] = NoOptions
    # The same model for the stan engine: a file, absolute or in PolarBear's folder of programs,
    # and the acceptance that NUTS aims at. A model without one is the native engine's alone.
    stan_program: ClassVar[Path | str | None] = None
    stan_adapt_delta: ClassVar[float] = 0.9
    joint: ClassVar[bool]  # whether statements about several times at once mean something

    def __init_subclass__(cls) -> None:
        if "joint" not in vars(cls):
            cls.joint = getattr(cls, "temporal", False)


class Model(AnyModel, ABC):
    """One prior over theta(t) on a grid of unit times, for n algorithms.

    A temporal model has a Gaussian prior on its coefficients. Any other has a Dirichlet one at each
    time, of a concentration that is fixed or the hyperparameter kappa over n. ``self.own`` holds
    the model's own options, which a user writes under 'options' and the class describes.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        hyper = getattr(cls, "hyperparameters", ())
        if not getattr(cls, "temporal", True) and hyper not in ((), ("kappa",)):
            raise TypeError(
                f"{cls.__name__} is not temporal, so kappa is the one hyperparameter it may have, "
                f"but it has {', '.join(hyper)}"
            )

    def __init__(self, times: np.ndarray, n_algorithms: int, options: ModelOptions) -> None:
        self.times = times
        self.n_algorithms = n_algorithms
        self.options = options
        self.own: Any = self.own_options.model_validate(options.options)

    @property
    def name(self) -> str:
        return self.options.model

    @abstractmethod
    def latent(self, log_hyper: np.ndarray) -> Latent:
        """The prior of the coefficients at one setting of the hyperparameters."""

    @abstractmethod
    def log_hyperprior(self, log_hyper: np.ndarray) -> float:
        """Log-density of the logarithms of the hyperparameters, but for a constant."""

    @abstractmethod
    def draw_hyper(self, rng: np.random.Generator) -> np.ndarray:
        """Logarithms of hyperparameters from their prior."""

    def stan_data(self) -> dict[str, Any]:
        """What the model's Stan program is given beside the rankings."""
        return {}

    def hyper_with_another(self, hyper: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Hyperparameters under which one more algorithm leaves the prior of these as it is.

        Log-space models need no change: contrasts among some of the algorithms have the same
        covariance, however many others there are.
        """
        return dict(hyper)

    def starting_points(self) -> np.ndarray:
        """Where to look for modes of the hyperparameters: a few of their prior's draws."""
        rng = np.random.default_rng(0)
        return np.array([self.draw_hyper(rng) for _ in range(6)])
