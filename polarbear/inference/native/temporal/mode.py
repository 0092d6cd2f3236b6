"""The Laplace approximation of a model's coefficients at one setting of its hyperparameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polarbear.inference.loops.band import (
    band_cholesky,
    band_times,
    flipped,
    lower_band_of,
    posterior_band,
    solve_lower,
    solve_upper,
)
from polarbear.inference.loops.likelihood import SetSums, curvature
from polarbear.inference.loops.observe import observe, observe_back
from polarbear.inference.models import Latent
from polarbear.inference.native.newton import CONVERGED, MOST_STEPS, SHORTEST_STEP, no_mode


@dataclass(frozen=True)
class Mode:
    """The conditional mode: coefficients x[K d], functions eta[T, d], and what is known there.

    ``lower`` is the Cholesky factor of the posterior precision, ``log_marginal`` the approximate
    log-probability of the data given the hyperparameters; the rest is of the likelihood at eta.
    """

    latent: Latent
    x: np.ndarray
    eta: np.ndarray
    values: np.ndarray
    gradients: np.ndarray
    curvatures: np.ndarray
    lower: np.ndarray
    log_marginal: float


def find_mode(sets: SetSums, latent: Latent, start: np.ndarray | None = None) -> Mode:
    """Newton's method with a line search; the log-density is concave, so there is one mode."""
    n_times, d = len(sets.wins), sets.helmert.shape[1]
    size = latent.n_coefficients * d
    x = np.zeros(size) if start is None else start.copy()
    here = _Point(sets, latent, x)
    lower = np.empty((size, _width(latent, d)))
    for _ in range(MOST_STEPS):
        _posterior_precision(latent, here.curvatures, lower)
        half_log_det = band_cholesky(lower)
        if not np.isfinite(half_log_det):
            break
        step = here.slope.copy()
        solve_lower(lower, step)
        decrement = float(step @ step)
        solve_upper(flipped(lower), step)
        if decrement < CONVERGED:
            return Mode(
                latent, here.x, here.eta, here.values, here.gradients, here.curvatures, lower,
                here.log_density + d * latent.half_log_det - half_log_det,
            )  # fmt: skip
        here = _ascend(sets, latent, here, step)
    raise no_mode(d + 1, n_times)


def _ascend(sets: SetSums, latent: Latent, here: _Point, step: np.ndarray) -> _Point:
    """As far along the step as the log-density rises as it should."""
    expected = float(here.slope @ step)
    length = 1.0
    while True:
        there = _Point(sets, latent, here.x + length * step)
        rise = there.log_density - here.log_density
        enough = 1e-4 * length * expected - 1e-10 * (1 + abs(here.log_density))
        if rise >= enough or length < SHORTEST_STEP:
            return there
        length *= 0.5


class _Point:
    """The log-density of coefficients x, with all that a Newton step from there needs."""

    def __init__(self, sets: SetSums, latent: Latent, x: np.ndarray) -> None:
        n_times, d = len(sets.wins), sets.helmert.shape[1]
        self.x = x
        self.eta = np.zeros((n_times, d))
        observe(latent.starts, latent.weights, x, self.eta)
        self.values = np.empty(n_times)
        self.gradients = np.empty((n_times, d))
        self.curvatures = np.empty((n_times, d, d))
        curvature(sets, self.eta, self.values, self.gradients, self.curvatures)
        pull = np.empty((latent.n_coefficients, d))
        band_times(latent.precision, x.reshape(-1, d), pull)
        self.log_density = float(self.values.sum() - 0.5 * x @ pull.ravel())
        self.slope = -pull.ravel()
        observe_back(latent.starts, latent.weights, self.gradients, self.slope)


def _posterior_precision(latent: Latent, curvatures: np.ndarray, out: np.ndarray) -> None:
    """Prior precision plus the data's curvature; where every time sees all, by matrix products."""
    size, d = latent.n_coefficients, curvatures.shape[1]
    if latent.weights.shape[1] < size or latent.precision.shape[1] > 1:
        posterior_band(latent.precision, latent.starts, latent.weights, curvatures, out)
        return
    total = np.zeros((size, d, size, d))
    for q in range(d):
        for p in range(q + 1):
            part = (latent.weights * curvatures[:, q, p, None]).T @ latent.weights
            total[:, q, :, p] = total[:, p, :, q] = part
    matrix = total.reshape(size * d, size * d)
    matrix[np.diag_indices(size * d)] += np.repeat(latent.precision[:, -1], d)
    lower_band_of(matrix, out)


def _width(latent: Latent, d: int) -> int:
    """Entries of a row of the posterior precision's band."""
    return int(max(latent.precision.shape[1], latent.weights.shape[1])) * d


def observed(latent: Latent, x: np.ndarray, d: int) -> np.ndarray:
    """The latent functions eta[T, d] that coefficients give."""
    eta = np.zeros((len(latent.starts), d))
    observe(latent.starts, latent.weights, x, eta)
    return eta
