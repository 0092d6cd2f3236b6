"""A model's log-posterior as one function of one vector, with gradient: what any sampler can take.

The vector holds the log-hyperparameters, then standard normal coefficients z (non-centred, so that
the prior's shape does not depend on the hyperparameters), or for models on the simplex eta itself.
"""

from __future__ import annotations

import numpy as np

from polarbear.inference.loops.band import band_cholesky, flipped, solve_lower, solve_upper
from polarbear.inference.loops.likelihood import SetSums, value_and_slopes
from polarbear.inference.loops.observe import observe, observe_back
from polarbear.inference.models import Latent, Model
from polarbear.inference.native.set_sums import with_prior

_DIFFERENCE = 1e-4  # step of central differences in the few log-hyperparameters


class LogPosterior:
    """Callable on a vector of ``size`` numbers; returns value and gradient."""

    def __init__(self, model: Model, sets: SetSums) -> None:
        self.model, self.sets = model, sets
        self.n_hyper = len(model.hyperparameters)
        self.d = sets.helmert.shape[1]
        start = np.zeros(self.n_hyper)
        self.size = self.n_hyper + model.latent(start).n_coefficients * self.d
        width = int(sets.widest[0]) + self.d + 1
        self._scratch = (np.empty(self.d + 1), np.empty(width), np.empty(width))

    def __call__(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        hyper, z = vector[: self.n_hyper], np.ascontiguousarray(vector[self.n_hyper :])
        gradient = np.empty(self.size)
        value, gradient[self.n_hyper :] = self._at(hyper, z)
        for k in range(self.n_hyper):
            step = np.zeros(self.n_hyper)
            step[k] = _DIFFERENCE
            ahead, _ = self._at(hyper + step, z)
            behind, _ = self._at(hyper - step, z)
            gradient[k] = (ahead - behind) / (2 * _DIFFERENCE)
        return value, gradient

    def theta(self, vector: np.ndarray) -> np.ndarray:
        """Ratings theta[T, n] that the vector stands for."""
        latent = self.model.latent(vector[: self.n_hyper])
        eta, _ = self._eta(latent, np.ascontiguousarray(vector[self.n_hyper :]))
        mu = eta @ self.sets.helmert.T
        weight = np.exp(mu - mu.max(axis=1, keepdims=True))
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))

    def _eta(self, latent: Latent, z: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Functions on the grid, and the factor that coloured z, if any did."""
        x, lower = z, None
        if latent.dirichlet == 0 and latent.precision.shape[1] > 1:
            lower = np.zeros((len(z), latent.precision.shape[1] * self.d))
            band = latent.precision.copy()
            band_cholesky(band)
            lower[:, self.d - 1 :: self.d] = np.repeat(band, self.d, axis=0)
            x = z.copy()
            solve_upper(flipped(lower), x)
        eta = np.zeros((len(latent.starts), self.d))
        observe(latent.starts, latent.weights, x, eta)
        return eta, lower

    def _at(self, hyper: np.ndarray, z: np.ndarray) -> tuple[float, np.ndarray]:
        latent = self.model.latent(hyper)
        eta, lower = self._eta(latent, z)
        values, slope = np.empty(len(eta)), np.empty_like(eta)
        sets = with_prior(self.sets, latent.dirichlet) if latent.dirichlet else self.sets
        value_and_slopes(sets, eta, values, slope, *self._scratch)
        gradient = np.zeros(len(z))
        observe_back(latent.starts, latent.weights, slope, gradient)
        if lower is not None:
            solve_lower(lower, gradient)
        value = values.sum() + latent.log_constant + self.model.log_hyperprior(hyper)
        if latent.dirichlet == 0:
            value -= 0.5 * z @ z
            gradient -= z
        return float(value), gradient
