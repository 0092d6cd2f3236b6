"""Numerical integration for three algorithms at one time: the reference for samplers."""

import numpy as np
from scipy.interpolate import CubicSpline

from polarbear.rankings.choice_sets import ChoiceSets


class Simplex3:
    """Posterior expectations under a Dirichlet(alpha) prior, on a grid in softmax space.

    The density is smooth and vanishes at the edges, so that sums over the grid converge faster
    than any power of its spacing. The probability of an event about a pair is the integral of a
    spline through the density of the log-ratio of the pair.
    """

    def __init__(self, sets: ChoiceSets, alpha: float, points: int = 801) -> None:
        self.sets = sets
        self.alpha = alpha
        self.axis = np.linspace(-1, 1, points) * 30 / alpha**0.8

    def _grid(self, order: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
        """Weights [i, j] and log-theta where order[0] is i and order[2] is j above order[1]."""
        mu = np.zeros((len(self.axis), len(self.axis), 3))
        mu[:, :, order[0]] = self.axis[:, None]
        mu[:, :, order[2]] = self.axis
        log_theta = mu - np.logaddexp.reduce(mu, axis=2, keepdims=True)
        log_density = ((self.alpha + self.sets.wins[0]) * log_theta).sum(axis=2)
        for mask, count in zip(self.sets.masks, self.sets.counts, strict=True):
            members = [i for i in range(3) if mask >> i & 1]
            log_density -= count * np.logaddexp.reduce(log_theta[:, :, members], axis=2)
        weights = np.exp(log_density - log_density.max())
        weights /= weights.sum()
        edges = weights[0].sum() + weights[-1].sum() + weights[:, 0].sum() + weights[:, -1].sum()
        assert edges < 1e-4, "the grid does not reach far enough"
        return weights, log_theta

    def _log_ratio(self, a: int, b: int) -> CubicSpline:
        """The cumulative distribution function of log(theta_a / theta_b)."""
        weights, _ = self._grid((a, b, 3 - a - b))
        density = CubicSpline(self.axis, weights.sum(axis=1) / (self.axis[1] - self.axis[0]))
        return density.antiderivative()

    def mean(self) -> np.ndarray:
        weights, log_theta = self._grid((0, 1, 2))
        return np.einsum("ij,ijk->k", weights, np.exp(log_theta))

    def dominance(self, a: int, b: int) -> float:
        cumulative = self._log_ratio(a, b)
        return float(cumulative(self.axis[-1]) - cumulative(0.0))

    def equivalence(self, a: int, b: int, epsilon: float) -> float:
        cumulative = self._log_ratio(a, b)
        bound = np.log((0.5 + epsilon) / (0.5 - epsilon))
        return float(cumulative(bound) - cumulative(-bound))
