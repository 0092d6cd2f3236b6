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
from typing import Any

import numpy as np
import scipy

from polarbear.errors import InferenceError
from polarbear.inference.model_options import ModelOptions
from polarbear.inference.models import MODELS, AnyModel

StanData = dict[str, np.ndarray | float]  # the data of a Stan program, by name


@dataclass(frozen=True)
class Latent:
    """A model given its hyperparameters: the prior of the coefficients and their basis.

    ``precision[width, K]`` of the coefficients is a band in LAPACK's lower storage: [i - j, j] is
    the entry (i, j). ``half_log_det`` is half its log-determinant, for one latent function;
    ``dirichlet`` the concentration of a Dirichlet prior at each time, zero for none;
    ``log_constant`` the other terms of the log-prior that depend on the hyperparameters.
    """

    precision: np.ndarray
    half_log_det: float
    starts: np.ndarray
    weights: np.ndarray
    dirichlet: float = 0.0
    log_constant: float = 0.0

    @classmethod
    def standard_normal(
        cls, weights: np.ndarray, starts: np.ndarray | None = None, size: int | None = None
    ) -> Latent:
        """Standard normal coefficients; ``size`` of them, by default the width of the weights."""
        if starts is None:
            starts = np.zeros(len(weights), dtype=np.int64)
        precision = np.ones((1, size or weights.shape[1]))
        return cls(precision, 0.0, starts, weights)

    @property
    def n_coefficients(self) -> int:
        return int(self.precision.shape[1])

    @cached_property
    def basis(self) -> np.ndarray | scipy.sparse.csr_array:
        """The matrix [T, K] from coefficients to functions; sparse where it has zeros."""
        n_times, width = self.weights.shape
        if width == self.n_coefficients:
            return self.weights
        columns = (self.starts[:, None] + np.arange(width)).ravel()
        ends = width * np.arange(n_times + 1)
        shape = (n_times, self.n_coefficients)
        return scipy.sparse.csr_array((self.weights.ravel(), columns, ends), shape=shape)

    @cached_property
    def transposed_basis(self) -> np.ndarray | scipy.sparse.csr_array:
        return self.basis.T if isinstance(self.basis, np.ndarray) else self.basis.T.tocsr()

    def observe(self, x: np.ndarray) -> np.ndarray:
        """Functions eta[T, W, d] of coefficients x[W, K d]."""
        n_walkers = len(x)
        k = self.n_coefficients
        columns = x.reshape(n_walkers, k, -1).swapaxes(0, 1).reshape(k, -1)
        return np.asarray(self.basis @ columns).reshape(-1, n_walkers, x.shape[1] // k)

    def observe_back(self, slopes: np.ndarray) -> np.ndarray:
        """The gradient by coefficients x[W, K d], given the slopes[T, W, d] by eta."""
        n_times, n_walkers, d = slopes.shape
        columns = np.asarray(self.transposed_basis @ slopes.reshape(n_times, n_walkers * d))
        return columns.reshape(-1, n_walkers, d).swapaxes(0, 1).reshape(n_walkers, -1)

    def solve_factor(self, sides: np.ndarray, transposed: bool = False) -> np.ndarray:
        """L^-1 b, or its transpose times b, for the precision L L' and each column b[K]."""
        lower, _ = scipy.linalg.lapack.dpbtrf(self.precision, lower=1)
        trans = "T" if transposed else "N"
        solution, _ = scipy.linalg.lapack.dtbtrs(lower, sides, uplo="L", trans=trans)
        return np.asarray(solution)

    def precision_times(self, x: np.ndarray) -> np.ndarray:
        """The precision times x[K, d]."""
        product = self.precision[0][:, None] * x
        for offset, diagonal in enumerate(self.precision[1:], start=1):
            entries = diagonal[: len(x) - offset, None]
            product[offset:] += entries * x[: len(x) - offset]
            product[: len(x) - offset] += entries * x[offset:]
        return np.asarray(product)


class Model(AnyModel, ABC):
    """A prior over theta(t) on a grid of unit times, for n algorithms.

    A temporal model has a Gaussian prior on its coefficients. Any other has a Dirichlet prior at
    each time, whose concentration is fixed or the hyperparameter kappa over n. ``self.own`` holds
    the model-specific options, which a user writes under 'options'.
    """

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

    def stan_data(self) -> StanData:
        """The data of the model's Stan program in addition to the rankings."""
        return {}

    def starting_points(self) -> np.ndarray:
        """Starts of the search for the hyperparameters' mode: a few draws from the prior."""
        rng = np.random.default_rng(0)
        return np.array([self.draw_hyper(rng) for _ in range(6)])

    def at_times(self, times: np.ndarray) -> Model:
        """The same model on some times of the grid, given by their indices."""
        return type(self)(self.times[times], self.n_algorithms, self.options)


def rating_model(name: str) -> type[Model]:
    """A prior over Plackett-Luce ratings, by its name."""
    model = MODELS[name]
    if not issubclass(model, Model):
        raise InferenceError(f"the model '{name}' is not a prior over ratings")
    return model
