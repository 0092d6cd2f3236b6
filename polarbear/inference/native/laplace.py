"""The Laplace approximation of a model's coefficients at one setting of its hyperparameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from polarbear.errors import InferenceError
from polarbear.inference.kernels.band import (
    band_cholesky,
    band_times,
    flipped,
    lower_band_of,
    posterior_band,
    solve_lower,
    solve_upper,
)
from polarbear.inference.kernels.likelihood import SetSums, curvature
from polarbear.inference.kernels.observe import observe, observe_back
from polarbear.inference.models import Latent

_MOST_STEPS = 100
_SHORTEST_STEP = 1e-7
_LONGEST_STEP = 3.0  # of a log-ratio, under a Dirichlet prior
CONVERGED = 1e-7  # squared Newton decrement: distance to the mode in posterior standard deviations


@dataclass(frozen=True)
class Mode:
    """The conditional mode: coefficients x[K d], functions eta[T, d], and what is known there.

    ``lower`` is the Cholesky factor of the posterior precision, ``log_marginal`` the approximate
    log-probability of the data given the hyperparameters, ``correction`` what should be added to
    it for Laplace's known error on a Dirichlet prior; the rest is of the likelihood at eta.
    """

    latent: Latent
    x: np.ndarray
    eta: np.ndarray
    values: np.ndarray
    gradients: np.ndarray
    curvatures: np.ndarray
    lower: np.ndarray
    log_marginal: float
    correction: float


def find_mode(sets: SetSums, latent: Latent, start: np.ndarray | None = None) -> Mode:
    """Newton's method with a line search; the log-density is concave, so there is one mode."""
    n_times, d = len(sets.wins), sets.helmert.shape[1]
    size = latent.n_coefficients * d
    x = np.zeros(size) if start is None else start.copy()
    here = _Point(sets, latent, x)
    lower = np.empty((size, _width(latent, d)))
    for _ in range(_MOST_STEPS):
        _posterior_precision(latent, here.curvatures, lower)
        half_log_det = band_cholesky(lower)
        if not np.isfinite(half_log_det):
            break
        step = here.slope.copy()
        solve_lower(lower, step)
        decrement = float(step @ step)
        solve_upper(flipped(lower), step)
        if decrement < CONVERGED:
            log_marginal = (
                here.log_density + d * latent.half_log_det - half_log_det + latent.log_constant
            )
            return Mode(
                latent, here.x, here.eta, here.values, here.gradients, here.curvatures, lower,
                log_marginal, _stirling_correction(sets.wins, latent.dirichlet),
            )  # fmt: skip
        here = _ascend(sets, latent, here, step)
    raise InferenceError(
        f"no mode of the posterior was found for {d + 1} algorithms at {n_times} times: the "
        "rankings and the prior together leave it (nearly) flat; choose a less diffuse prior"
    )


def _ascend(sets: SetSums, latent: Latent, here: _Point, step: np.ndarray) -> _Point:
    """As far along the step as the log-density rises as it should.

    Under a Dirichlet prior every time has its own length of step, and a longest one: where ratings
    are nearly zero the density is nearly flat, and one time's leap would end in nowhere.
    """
    parts = len(here.parts)
    by_part = step.reshape(parts, -1).copy()
    if latent.dirichlet > 0:
        longest = np.abs(by_part).max(axis=1, keepdims=True)
        by_part *= _LONGEST_STEP / np.maximum(longest, _LONGEST_STEP)
    expected = (here.slope.reshape(parts, -1) * by_part).sum(axis=1)
    length = np.ones(parts)
    while True:
        there = _Point(sets, latent, here.x + (length[:, None] * by_part).ravel())
        rise = there.parts - here.parts
        short = ~(rise >= 1e-4 * length * expected - 1e-10 * (1 + np.abs(here.parts)))
        if not short.any() or length.min() < _SHORTEST_STEP:
            return there
        length[short] *= 0.5


class _Point:
    """The log-density of coefficients x, with all that a Newton step from there needs.

    ``parts`` are its independent summands: one a time under a Dirichlet prior, else one in all.
    """

    def __init__(self, sets: SetSums, latent: Latent, x: np.ndarray) -> None:
        n_times, d = len(sets.wins), sets.helmert.shape[1]
        self.x = x
        self.eta = np.zeros((n_times, d))
        observe(latent.starts, latent.weights, x, self.eta)
        self.values = np.empty(n_times)
        self.gradients = np.empty((n_times, d))
        self.curvatures = np.empty((n_times, d, d))
        curvature(sets, latent.dirichlet, self.eta, self.values, self.gradients, self.curvatures)
        pull = np.empty((latent.n_coefficients, d))
        band_times(latent.precision, x.reshape(-1, d), pull)
        self.log_density = float(self.values.sum() - 0.5 * x @ pull.ravel())
        self.parts = self.values if latent.dirichlet > 0 else np.array([self.log_density])
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


def _stirling_correction(wins: np.ndarray, alpha: float) -> float:
    """What Laplace's method misses of the integral over ratings under a Dirichlet prior.

    On gamma variates of shape a it errs by Stirling's remainder of log Gamma(a), which is large
    for small a. The ratings behave like gamma variates of shape alpha plus wins, but for their
    common scale; without data that is exact.
    """
    if alpha == 0:
        return 0.0
    n_times, n = wins.shape
    items = _stirling_remainder(alpha + wins).sum()
    return float(items - n_times * _stirling_remainder(np.array(n * alpha)))


def _stirling_remainder(a: np.ndarray) -> np.ndarray:
    return np.asarray(gammaln(a) - (a - 0.5) * np.log(a) + a - 0.5 * np.log(2 * np.pi))


def _width(latent: Latent, d: int) -> int:
    """Entries of a row of the posterior precision's band."""
    return int(max(latent.precision.shape[1], latent.weights.shape[1])) * d


def observed(latent: Latent, x: np.ndarray, d: int) -> np.ndarray:
    """The latent functions eta[T, d] that coefficients give."""
    eta = np.zeros((len(latent.starts), d))
    observe(latent.starts, latent.weights, x, eta)
    return eta
