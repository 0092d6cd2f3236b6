"""The interface of models: a prior on coefficients and a basis, given the hyperparameters.

With d = n - 1 independent copies of K coefficients x, the latent functions on the grid are

    eta[t, q] = sum_j weights[t, j] x[starts[t] + j, q]

and mu(t) = Q eta(t), theta(t) = softmax(mu(t)). Models on the simplex have a Dirichlet prior
instead of a Gaussian one, with one coefficient for each time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from polarbear.errors import InferenceError
from polarbear.inference.models import MODELS, AnyModel

if TYPE_CHECKING:
    from polarbear.inference.model_options import ModelOptions

MAX_DENSE = 2**16  # entries of a basis that is multiplied faster without regard to zeros


@dataclass(frozen=True)
class Latent:
    """A model given its hyperparameters: precision[K, width] of the coefficients as a band.

    Row i has the entries (i, i - width + 1) to (i, i). ``half_log_det`` is half the precision's
    log-determinant, for one latent function; ``dirichlet`` the concentration of a Dirichlet prior
    at each time, zero for none; ``log_constant`` the other terms of the log-prior that depend on
    the hyperparameters.
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

    @cached_property
    def basis(self) -> np.ndarray | scipy.sparse.csr_array:
        """The matrix [T, K] from coefficients to functions; sparse where it is large."""
        n_times, width = self.weights.shape
        if width == self.n_coefficients:
            return self.weights
        columns = (self.starts[:, None] + np.arange(width)).ravel()
        ends = width * np.arange(n_times + 1)
        shape = n_times, self.n_coefficients
        found = scipy.sparse.csr_array((self.weights.ravel(), columns, ends), shape=shape)
        return found.toarray() if n_times * self.n_coefficients <= MAX_DENSE else found

    @cached_property
    def lower_band(self) -> np.ndarray:
        """The precision in LAPACK's lower band storage: [i - j, j] is the entry (i, j)."""
        size, width = self.precision.shape
        band = np.zeros((min(width, size), size))
        for below in range(len(band)):
            band[below, : size - below] = self.precision[below:, width - 1 - below]
        return band

    def solve_factor(self, sides: np.ndarray, transposed: bool = False) -> np.ndarray:
        """L^-1 b, or its transpose times b, for the precision L L' and each column b[K]."""
        lower, _ = scipy.linalg.lapack.dpbtrf(self.lower_band, lower=1)
        found, _ = scipy.linalg.lapack.dtbtrs(lower, sides, uplo="L", trans="NT"[transposed])
        return np.asarray(found)

    def precision_times(self, x: np.ndarray) -> np.ndarray:
        """The precision times x[K, d]."""
        found = self.lower_band[0][:, None] * x
        for below, diagonal in enumerate(self.lower_band[1:], start=1):
            entries = diagonal[: len(x) - below, None]
            found[below:] += entries * x[: len(x) - below]
            found[: len(x) - below] += entries * x[below:]
        return np.asarray(found)


class Model(AnyModel, ABC):
    """One prior over theta(t) on a grid of unit times, for n algorithms.

    A temporal model has a Gaussian prior on its coefficients. Any other has a Dirichlet prior at
    each time, whose concentration is fixed or the hyperparameter kappa over n. ``self.own`` holds
    the model-specific options, which a user writes under 'options'.
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
        """Log-density of the logarithms of the hyperparameters, up to a constant."""

    @abstractmethod
    def draw_hyper(self, rng: np.random.Generator) -> np.ndarray:
        """Logarithms of hyperparameters from their prior."""

    def stan_data(self) -> dict[str, Any]:
        """The data of the model's Stan program in addition to the rankings."""
        return {}

    def starting_points(self) -> np.ndarray:
        """Starts of the search for the hyperparameters' mode: a few draws from the prior."""
        rng = np.random.default_rng(0)
        return np.array([self.draw_hyper(rng) for _ in range(6)])


def rating_model(name: str) -> type[Model]:
    """A prior over Plackett-Luce ratings, by its name."""
    model = MODELS[name]
    if not issubclass(model, Model):
        raise InferenceError(f"the model '{name}' is not a prior over ratings")
    return model
