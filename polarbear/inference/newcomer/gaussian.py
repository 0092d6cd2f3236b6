"""Gaussians that the newcomer's densities share, and each one's centre near its mode.

Log-ratings mu with Cov(mu) = K (I - 11'/n) are those of n independent processes with covariance K,
less their mean. So x = mu_new - mean(mu_old) has the prior N(0, (1 + 1/m) K), whatever the m others
do among themselves.

K may be singular and is never inverted: a point is kept together with its ``pull``, x = K pull.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from polarbear.inference.loops.band import band_cholesky, solve_lower
from polarbear.inference.models import Latent
from polarbear.inference.newcomer.placement import Likelihood

_MOST_NEWTON_STEPS = 50
_CENTRING_STEPS = 8
_SHORTEST_STEP = 1e-3
_NEAR_ENOUGH = 0.03  # squared distance of a centre from the mode, in standard deviations


@dataclass(frozen=True)
class Shared:
    """What draws with the same hyperparameters share: G = factor[T, R], curvature[T], and where a
    typical draw has its mode, centre[T] = K pull[T]."""

    factor: np.ndarray
    curvature: np.ndarray
    centre: np.ndarray
    pull: np.ndarray


def prior_scale(m: int) -> float:
    """How much wider than K the prior of x is, among m others."""
    return 1 + 1 / m


def prior_factor(latent: Latent, m: int) -> np.ndarray:
    """F[T, R] with F F' = (1 + 1/m) K, no wider than high however many coefficients there are."""
    lower = latent.precision.copy()
    band_cholesky(lower)
    n_times, width = latent.weights.shape
    rows = np.zeros((n_times, latent.n_coefficients))
    for row, start, weights in zip(rows, latent.starts, latent.weights, strict=True):
        row[start : start + width] = weights
        solve_lower(lower, row)
    if rows.shape[1] > n_times:
        _, upper = np.linalg.qr(rows.T)
        rows = upper.T
    return np.asarray(np.sqrt(prior_scale(m)) * rows)


def share(factor: np.ndarray, typical: Likelihood, pull: np.ndarray) -> Shared:
    """Newton's method for one typical draw of the others, from a pull that should be near."""
    here = Point(typical, factor @ (factor.T @ pull[:, None]), pull[:, None])
    for _ in range(_MOST_NEWTON_STEPS):
        _, curvature = typical.slope_and_curvature(here.x)
        laplace = _posterior_factor(factor, curvature[:, 0])
        dx, dpull, length = here.newton_step(curvature, laplace)
        if length.max() < _NEAR_ENOUGH:
            break
        here = here.ascend(dx, dpull)
    return Shared(laplace, curvature[:, 0], here.x[:, 0], here.pull[:, 0])


def _posterior_factor(factor: np.ndarray, curvature: np.ndarray) -> np.ndarray:
    """G with G G' = (K^-1 + curvature)^-1, for K = F F'."""
    precision = (factor * curvature[:, None]).T @ factor
    precision[np.diag_indices(len(precision))] += 1
    lower = np.linalg.cholesky(precision)
    return np.asarray(solve_triangular(lower, factor.T, lower=True, check_finite=False).T)


class Point:
    """Log-ratings x = K pull, [T, D], on their way to the modes of their densities."""

    def __init__(self, likelihood: Likelihood, x: np.ndarray, pull: np.ndarray) -> None:
        self.likelihood, self.x, self.pull = likelihood, x, pull
        value, self.slope = likelihood.value_and_slope(x)
        self.log_density = (value - 0.5 * x * pull).sum(axis=0)

    def newton_step(
        self, curvature: np.ndarray, factor: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Steps in x and in pull, and their squared lengths in standard deviations.

        With a curvature that is only similar to the likelihood's own, it is nearly Newton's.
        """
        right = curvature * self.x + self.slope
        x = factor @ (factor.T @ right)
        dx, dpull = x - self.x, right - curvature * x - self.pull
        return dx, dpull, (dx * (dpull + curvature * dx)).sum(axis=0)

    def ascend(self, dx: np.ndarray, dpull: np.ndarray) -> Point:
        """Each draw as far along its step as its log-density rises."""
        length = np.ones(self.x.shape[1])
        while True:
            there = Point(self.likelihood, self.x + length * dx, self.pull + length * dpull)
            short = ~(there.log_density >= self.log_density - 1e-9 * np.abs(self.log_density))
            if not short.any() or length.min() < _SHORTEST_STEP:
                return there
            length[short] *= 0.5


def near_modes(shared: Shared, likelihood: Likelihood) -> Point:
    """A centre for each draw: where a few steps with the shared curvature lead."""
    copies = np.ones(likelihood.sums.shape[1])
    here = Point(likelihood, np.outer(shared.centre, copies), np.outer(shared.pull, copies))
    for _ in range(_CENTRING_STEPS):
        dx, dpull, length = here.newton_step(shared.curvature[:, None], shared.factor)
        if length.max() < _NEAR_ENOUGH:
            break
        here = here.ascend(dx, dpull)
    return here
