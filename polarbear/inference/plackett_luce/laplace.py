"""Laplace approximations of ratings, under a Dirichlet prior at each time or a Gaussian over time.

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
MAX_STEP = 3.0  # of a coefficient: where ratings are nearly zero the density is nearly flat
CONVERGED = 1e-7  # squared Newton decrement: distance to the mode in posterior standard deviations


@dataclass(frozen=True)
class Mode:
    """The mode of the coefficients x[K d] and the functions eta[T, d] there.

    ``values[T]``, ``gradients[T, d]`` and ``curvatures[T, d, d]`` at eta are those of the
    likelihood with the Dirichlet prior, if there is one. ``log_marginal`` is the log-probability of
    the data up to a constant, with the ``correction`` for the error of Laplace's method that is
    known.
    """

    latent: Latent
    x: np.ndarray
    eta: np.ndarray
    values: np.ndarray
    gradients: np.ndarray
    curvatures: np.ndarray
    factor: Factor
    log_marginal: float
    correction: float

    def spread(self, u: np.ndarray) -> np.ndarray:
        """Deviations of eta[T, W, d] for whitened coefficients u[W, K d]."""
        return self.latent.observe(self.factor.solve(u, transposed=True))

    def spread_back(self, slopes: np.ndarray) -> np.ndarray:
        """The gradient by u[W, K d], given the slopes[T, W, d] by eta."""
        return self.factor.solve(self.latent.observe_back(slopes))


AtMode = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # eta, values, slopes, curvatures


def find_mode(likelihood: Likelihood, latent: Latent, start: np.ndarray | None = None) -> Mode:
    """The Laplace approximation under this prior; a ``start`` near the mode saves steps."""
    q = likelihood.helmert
    d = q.shape[1]

    def evaluate(x: np.ndarray) -> tuple[float, np.ndarray, AtMode]:
        eta = latent.observe(x[None])[:, 0]
        values, gradients, hessians = likelihood.curvature(eta @ q.T, latent.dirichlet)
        slopes, pull = gradients @ q, latent.precision_times(x.reshape(-1, d)).ravel()
        log_density = float(values.sum() - 0.5 * x @ pull)
        slope = latent.observe_back(slopes[:, None])[0] - pull
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
            correction = _stirling_correction(likelihood.wins, latent.dirichlet)
            log_marginal = log_density + d * latent.half_log_det - factor.half_log_det
            log_marginal += latent.log_constant + correction
            return Mode(latent, x, *at_x, factor, log_marginal, correction)
        step = factor.solve(white, transposed=True)[0]
        length = min(1.0, MAX_STEP / np.abs(step).max())
        while True:
            there = x + length * step
            found = evaluate(there)
            enough = 1e-4 * length * decrement - 1e-10 * (1 + abs(log_density))
            if found[0] - log_density >= enough or length < MIN_STEP_LENGTH:
                break
            length *= 0.5
        x, (log_density, slope, at_x) = there, found
    raise InferenceError(
        f"no mode of the posterior was found for {counted(likelihood.n, 'algorithm')} at "
        f"{counted(likelihood.n_times, 'time')}: the rankings and the prior together leave it "
        "(nearly) flat; choose a less diffuse prior"
    )


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
    for below, diagonal in enumerate(latent.precision):
        rows = np.arange(d * below, d * size)
        matrix[rows, rows - d * below] += np.repeat(diagonal[: size - below], d)
    return matrix


def _banded_precision(latent: Latent, curvatures: np.ndarray) -> np.ndarray:
    width, d = latent.weights.shape[1], curvatures.shape[1]
    widest = max(width, len(latent.precision))
    band = np.zeros((widest * d, latent.n_coefficients * d))
    blocks = latent.weights[:, :, None] * latent.weights[:, None, :]
    values = blocks[:, :, None, :, None] * curvatures[:, None, :, None, :]
    index = (latent.starts[:, None] + np.arange(width))[:, :, None] * d + np.arange(d)
    row, column = index[:, :, :, None, None], index[:, None, None]
    lower = row >= column
    place = (row - column) * band.shape[1] + column
    band += np.bincount(place[lower], values[lower], band.size).reshape(band.shape)
    for below, diagonal in enumerate(latent.precision):
        band[below * d] += np.repeat(diagonal, d)
    return band


def _stirling_correction(wins: np.ndarray, alpha: float) -> float:
    """Corrects Laplace's integral over ratings under a Dirichlet prior; zero for other priors.

    For gamma variates of shape a it errs by Stirling's remainder of log Gamma(a), which is large
    for small a. Ratings behave like gamma variates of shape alpha plus wins, except for their
    common scale; without data that is exact.
    """
    if alpha == 0:
        return 0.0
    n_times, n = wins.shape
    items = _stirling_remainder(alpha + wins).sum()
    return float(items - n_times * _stirling_remainder(np.array(n * alpha)))


def _stirling_remainder(a: np.ndarray) -> np.ndarray:
    return np.asarray(gammaln(a) - (a - 0.5) * np.log(a) + a - 0.5 * np.log(2 * np.pi))
