"""Laplace approximations of ratings: under a Dirichlet prior at each time, or a Gaussian over time.

Newton's method finds the mode; both log-densities are concave, so there is one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack
from scipy.special import gammaln

from polarbear.errors import InferenceError
from polarbear.inference.models.base import Latent
from polarbear.inference.plackett_luce.likelihood import Likelihood
from polarbear.wording import counted

MAX_STEPS = 100
MIN_STEP_LENGTH = 1e-7
MAX_LOG_RATIO_STEP = 3.0  # where ratings are nearly zero the density is nearly flat
CONVERGED = 1e-7  # squared Newton decrement: distance to the mode in posterior standard deviations


@dataclass(frozen=True)
class IndependentMode:
    """The mode x[T, d] in Helmert coordinates, and mu = centre[T, n] + spread[T, n, d] u around it.

    For standard normal u that is the approximation; its log-density is ``heights[T]`` at the mode.
    ``log_marginal`` is the log-probability of the data up to a constant, with the ``correction``
    for the error of Laplace's method that is known.
    """

    latent: Latent
    x: np.ndarray
    centre: np.ndarray
    spread: np.ndarray
    heights: np.ndarray
    log_marginal: float
    correction: float


@dataclass(frozen=True)
class TemporalMode:
    """The mode of the coefficients x[K d], the functions eta[T, d] there, and the likelihood's
    values[T], gradients[T, d] and curvatures[T, d, d] at eta.
    """

    latent: Latent
    x: np.ndarray
    eta: np.ndarray
    values: np.ndarray
    gradients: np.ndarray
    curvatures: np.ndarray
    factor: Factor
    log_marginal: float

    def spread(self, u: np.ndarray) -> np.ndarray:
        """Deviations of eta[T, W, d] for whitened coefficients u[W, K d]."""
        return observe(self.latent, self.factor.solve(u, transposed=True))

    def spread_back(self, slopes: np.ndarray) -> np.ndarray:
        """The gradient by u[W, K d], given the slopes[T, W, d] by eta."""
        return self.factor.solve(observe_back(self.latent, slopes))


AtMode = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # eta, values, slopes, curvatures
Mode = IndependentMode | TemporalMode


def find_mode(likelihood: Likelihood, latent: Latent, start: np.ndarray | None = None) -> Mode:
    """The Laplace approximation under this prior; a ``start`` near the mode saves steps."""
    if latent.dirichlet > 0:
        return find_independent_mode(likelihood, latent, start)
    return find_temporal_mode(likelihood, latent, start)


def find_independent_mode(
    likelihood: Likelihood, latent: Latent, start: np.ndarray | None = None
) -> IndependentMode:
    """Newton's method at all times in parallel."""
    q, alpha = likelihood.helmert, latent.dirichlet

    def evaluate(eta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        values, gradients, hessians = likelihood.curvature(eta @ q.T, alpha)
        return values, gradients @ q, q.T @ hessians @ q

    eta = np.zeros((likelihood.n_times, q.shape[1])) if start is None else start
    values, slopes, hessians = evaluate(eta)
    for _ in range(MAX_STEPS):
        try:
            lower = np.linalg.cholesky(hessians)
        except np.linalg.LinAlgError:
            break
        step = np.linalg.solve(hessians, slopes[:, :, None])[:, :, 0]
        if (slopes * step).sum(axis=1).max() < CONVERGED:
            spread = q @ np.linalg.inv(lower).swapaxes(1, 2)
            half_log_det = float(np.log(np.diagonal(lower, axis1=1, axis2=2)).sum())
            correction = _stirling_correction(likelihood.wins, alpha)
            log_marginal = float(values.sum()) + latent.log_constant - half_log_det + correction
            return IndependentMode(latent, eta, eta @ q.T, spread, values, log_marginal, correction)
        longest = np.abs(step).max(axis=1, keepdims=True)
        step *= MAX_LOG_RATIO_STEP / np.maximum(longest, MAX_LOG_RATIO_STEP)
        rise = (slopes * step).sum(axis=1)
        length = np.ones(len(eta))
        while True:
            there = eta + length[:, None] * step
            found = evaluate(there)
            enough = 1e-4 * length * rise - 1e-10 * (1 + np.abs(values))
            short = ~(found[0] - values >= enough)
            if not short.any() or length.min() < MIN_STEP_LENGTH:
                break
            length[short] *= 0.5
        eta, (values, slopes, hessians) = there, found
    raise _no_mode(likelihood)


def find_temporal_mode(
    likelihood: Likelihood, latent: Latent, start: np.ndarray | None = None
) -> TemporalMode:
    """Newton's method over all times jointly; the posterior precision is a band."""
    q = likelihood.helmert
    d = q.shape[1]

    def evaluate(x: np.ndarray) -> tuple[float, np.ndarray, AtMode]:
        eta = observe(latent, x[None])[:, 0]
        values, gradients, hessians = likelihood.curvature(eta @ q.T)
        slopes, pull = gradients @ q, latent.precision_times(x.reshape(-1, d)).ravel()
        log_density = float(values.sum() - 0.5 * x @ pull)
        slope = observe_back(latent, slopes[:, None])[0] - pull
        return log_density, slope, (eta, values, slopes, q.T @ hessians @ q)

    x = np.zeros(latent.n_coefficients * d) if start is None else start
    log_density, slope, at_x = evaluate(x)
    for _ in range(MAX_STEPS):
        try:
            factor = Factor(latent, at_x[3])
        except np.linalg.LinAlgError:
            break
        white = factor.solve(slope[None])
        decrement = float((white**2).sum())
        if decrement < CONVERGED:
            log_marginal = log_density + d * latent.half_log_det - factor.half_log_det
            return TemporalMode(latent, x, *at_x, factor, log_marginal)
        step = factor.solve(white, transposed=True)[0]
        length = 1.0
        while True:
            there = x + length * step
            found = evaluate(there)
            enough = 1e-4 * length * decrement - 1e-10 * (1 + abs(log_density))
            if found[0] - log_density >= enough or length < MIN_STEP_LENGTH:
                break
            length *= 0.5
        x, (log_density, slope, at_x) = there, found
    raise _no_mode(likelihood)


def observe(latent: Latent, x: np.ndarray) -> np.ndarray:
    """Functions eta[T, W, d] of coefficients x[W, K d]."""
    size, k = len(x), latent.n_coefficients
    columns = x.reshape(size, k, -1).swapaxes(0, 1).reshape(k, -1)
    return np.asarray(latent.basis @ columns).reshape(-1, size, x.shape[1] // k)


def observe_back(latent: Latent, slopes: np.ndarray) -> np.ndarray:
    """The gradient by coefficients x[W, K d], given the slopes[T, W, d] by eta."""
    n_times, size, d = slopes.shape
    found = np.asarray(latent.basis.T @ slopes.reshape(n_times, size * d))
    return found.reshape(-1, size, d).swapaxes(0, 1).reshape(size, -1)


class Factor:
    """The Cholesky factor of the posterior precision, the prior's plus basis' (curvature) basis.

    Row k d + q is coefficient k of function q. The factor is a band in LAPACK's lower storage, or a
    full matrix where every time depends on every coefficient.
    """

    def __init__(self, latent: Latent, curvatures: np.ndarray) -> None:
        self.is_full = latent.weights.shape[1] == latent.n_coefficients
        if self.is_full:
            self.lower, failed = lapack.dpotrf(_full_precision(latent, curvatures), lower=1)
        else:
            self.lower, failed = lapack.dpbtrf(_banded_precision(latent, curvatures), lower=1)
        if failed:
            raise np.linalg.LinAlgError("the posterior precision is not positive definite")
        diagonal = np.diagonal(self.lower) if self.is_full else self.lower[0]
        self.half_log_det = float(np.log(diagonal).sum())

    def solve(self, sides: np.ndarray, transposed: bool = False) -> np.ndarray:
        """L^-1 b, or its transpose times b, for each row b of the sides[W, K d]."""
        if self.is_full:
            found, _ = lapack.dtrtrs(self.lower, sides.T, lower=1, trans=int(transposed))
        else:
            found, _ = lapack.dtbtrs(self.lower, sides.T, uplo="L", trans="NT"[transposed])
        return np.asarray(found.T)


def _full_precision(latent: Latent, curvatures: np.ndarray) -> np.ndarray:
    weights, (n_times, d, _) = latent.weights, curvatures.shape
    size = latent.n_coefficients
    left = weights[:, :, None, None] * curvatures[:, None]  # [T, k, q, p]
    found = (left.reshape(n_times, -1).T @ weights).reshape(size, d, d, size)
    matrix = np.ascontiguousarray(found.swapaxes(2, 3)).reshape(size * d, size * d)
    for below, diagonal in enumerate(latent.lower_band):
        rows = np.arange(d * below, d * size)
        matrix[rows, rows - d * below] += np.repeat(diagonal[: size - below], d)
    return matrix


def _banded_precision(latent: Latent, curvatures: np.ndarray) -> np.ndarray:
    width, d = latent.weights.shape[1], curvatures.shape[1]
    widest = max(width, len(latent.lower_band))
    band = np.zeros((widest * d, latent.n_coefficients * d))
    blocks = latent.weights[:, :, None] * latent.weights[:, None, :]
    values = blocks[:, :, None, :, None] * curvatures[:, None, :, None, :]
    index = (latent.starts[:, None] + np.arange(width))[:, :, None] * d + np.arange(d)
    row, column = index[:, :, :, None, None], index[:, None, None]
    lower = row >= column
    place = (row - column) * band.shape[1] + column
    band += np.bincount(place[lower], values[lower], band.size).reshape(band.shape)
    for below, diagonal in enumerate(latent.lower_band):
        band[below * d] += np.repeat(diagonal, d)
    return band


def _stirling_correction(wins: np.ndarray, alpha: float) -> float:
    """Corrects Laplace's integral over ratings under a Dirichlet prior.

    For gamma variates of shape a it errs by Stirling's remainder of log Gamma(a), which is large
    for small a. Ratings behave like gamma variates of shape alpha plus wins, except for their
    common scale; without data that is exact.
    """
    n_times, n = wins.shape
    items = _stirling_remainder(alpha + wins).sum()
    return float(items - n_times * _stirling_remainder(np.array(n * alpha)))


def _stirling_remainder(a: np.ndarray) -> np.ndarray:
    return np.asarray(gammaln(a) - (a - 0.5) * np.log(a) + a - 0.5 * np.log(2 * np.pi))


def _no_mode(likelihood: Likelihood) -> InferenceError:
    return InferenceError(
        f"no mode of the posterior was found for {counted(likelihood.n, 'algorithm')} at "
        f"{counted(likelihood.n_times, 'time')}: the rankings and the prior together leave it "
        "(nearly) flat; choose a less diffuse prior"
    )
