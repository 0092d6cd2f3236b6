"""Laplace approximations of ratings, under a Dirichlet prior at each time or a Gaussian over time.

Newton's method finds the mode; both log-densities are concave, so there is one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack
from scipy.special import gammaln

from polarbear.errors import InferenceError
from polarbear.inference.models.base import Latent
from polarbear.inference.plackett_luce.likelihood import Likelihood
from polarbear.wording import counted

MAX_STEPS = 100
MIN_STEP_LENGTH = 1e-7
MAX_STEP = 3.0  # largest change of a coefficient, since the density can be nearly flat
CONVERGED = 1e-7  # squared Newton decrement: distance to the mode in posterior standard deviations
ENOUGH_GAIN = 1e-4  # share of the predicted increase that a step must reach (Armijo's rule)


@dataclass(frozen=True)
class Mode:
    """The mode of the coefficients x[K d] and the functions eta[T, d] there.

    ``values[T]``, ``gradients[T, d]`` and ``curvatures[T, d, d]`` at eta are those of the
    likelihood with the Dirichlet prior, if there is one. ``log_marginal`` is the log-probability of
    the data up to a constant. It includes the ``correction`` for that error of Laplace's method
    which is known.
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


class _Point(NamedTuple):
    """The log-density of coefficients x with its slope, and the likelihood at their eta."""

    x: np.ndarray
    log_density: float
    slope: np.ndarray
    eta: np.ndarray
    values: np.ndarray
    gradients: np.ndarray
    curvatures: np.ndarray


def find_mode(likelihood: Likelihood, latent: Latent, start: np.ndarray | None = None) -> Mode:
    """The Laplace approximation under this prior; a ``start`` near the mode saves steps."""
    q = likelihood.helmert
    d = q.shape[1]

    def evaluate(x: np.ndarray) -> _Point:
        eta = latent.observe(x[None])[:, 0]
        values, gradients, hessians = likelihood.curvature(eta @ q.T, latent.dirichlet)
        slopes = gradients @ q
        pull = latent.precision_times(x.reshape(-1, d)).ravel()
        return _Point(
            x=x,
            log_density=float(values.sum() - 0.5 * x @ pull),
            slope=latent.observe_back(slopes[:, None])[0] - pull,
            eta=eta,
            values=values,
            gradients=slopes,
            curvatures=q.T @ hessians @ q,
        )

    point = evaluate(np.zeros(latent.n_coefficients * d) if start is None else start)
    for _ in range(MAX_STEPS):
        try:
            factor = Factor(latent, point.curvatures)
        except np.linalg.LinAlgError:
            break
        white = factor.solve(point.slope[None])
        decrement = float((white**2).sum())
        if decrement < CONVERGED:
            return _mode_at(point, likelihood, latent, factor)
        step = factor.solve(white, transposed=True)[0]
        length = min(1.0, MAX_STEP / np.abs(step).max())
        while True:
            next_point = evaluate(point.x + length * step)
            gain = next_point.log_density - point.log_density
            rounding = 1e-10 * (1 + abs(point.log_density))
            if gain >= ENOUGH_GAIN * length * decrement - rounding or length < MIN_STEP_LENGTH:
                break
            length *= 0.5
        point = next_point
    raise InferenceError(
        f"no mode of the posterior was found for {counted(likelihood.n, 'algorithm')} at "
        f"{counted(likelihood.n_times, 'time')}: the rankings and the prior together leave it "
        "(nearly) flat; choose a less diffuse prior"
    )


def _mode_at(point: _Point, likelihood: Likelihood, latent: Latent, factor: Factor) -> Mode:
    correction = _stirling_correction(likelihood.wins, latent.dirichlet)
    d = likelihood.helmert.shape[1]
    log_marginal = point.log_density + d * latent.half_log_det - factor.half_log_det
    log_marginal += latent.log_constant + correction
    return Mode(
        latent=latent,
        x=point.x,
        eta=point.eta,
        values=point.values,
        gradients=point.gradients,
        curvatures=point.curvatures,
        factor=factor,
        log_marginal=log_marginal,
        correction=correction,
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
            solution, _ = lapack.dtrtrs(self.lower, sides.T, lower=1, trans=int(transposed))
        else:
            trans = "T" if transposed else "N"
            solution, _ = lapack.dtbtrs(self.lower, sides.T, uplo="L", trans=trans)
        return np.asarray(solution.T)


def _full_precision(latent: Latent, curvatures: np.ndarray) -> np.ndarray:
    """The posterior precision as a full matrix."""
    weights = latent.weights
    n_times, d, _ = curvatures.shape
    size = latent.n_coefficients
    weighted = weights[:, :, None, None] * curvatures[:, None]  # [T, k, q, p]
    blocks = (weighted.reshape(n_times, -1).T @ weights).reshape(size, d, d, size)
    matrix = np.ascontiguousarray(blocks.swapaxes(2, 3)).reshape(size * d, size * d)
    for offset, diagonal in enumerate(latent.precision):
        rows = np.arange(d * offset, d * size)
        matrix[rows, rows - d * offset] += np.repeat(diagonal[: size - offset], d)
    return matrix


def _banded_precision(latent: Latent, curvatures: np.ndarray) -> np.ndarray:
    """The posterior precision as a band in LAPACK's lower storage."""
    width = latent.weights.shape[1]
    d = curvatures.shape[1]
    widest = max(width, len(latent.precision))
    band = np.zeros((widest * d, latent.n_coefficients * d))
    blocks = latent.weights[:, :, None] * latent.weights[:, None, :]
    values = blocks[:, :, None, :, None] * curvatures[:, None, :, None, :]
    index = (latent.starts[:, None] + np.arange(width))[:, :, None] * d + np.arange(d)
    row = index[:, :, :, None, None]
    column = index[:, None, None]
    is_lower = row >= column
    position = (row - column) * band.shape[1] + column  # in the flattened band
    band += np.bincount(position[is_lower], values[is_lower], band.size).reshape(band.shape)
    for offset, diagonal in enumerate(latent.precision):
        band[offset * d] += np.repeat(diagonal, d)
    return band


def _stirling_correction(wins: np.ndarray, concentration: float) -> float:
    """The correction of Laplace's integral under a Dirichlet prior; zero for other priors.

    For gamma variates of shape a the integral errs by Stirling's remainder of log Gamma(a), which
    is large for small a. Ratings behave like gamma variates of shape concentration plus wins,
    except for their common scale; without data that is exact.
    """
    if concentration == 0:
        return 0.0
    n_times, n = wins.shape
    of_ratings = _stirling_remainder(concentration + wins).sum()
    of_scale = _stirling_remainder(np.array(n * concentration))
    return float(of_ratings - n_times * of_scale)


def _stirling_remainder(a: np.ndarray) -> np.ndarray:
    return np.asarray(gammaln(a) - (a - 0.5) * np.log(a) + a - 0.5 * np.log(2 * np.pi))
