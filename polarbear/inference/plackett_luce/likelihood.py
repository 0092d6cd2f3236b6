"""The Plackett-Luce log-likelihood of choice sets: value, gradient and curvature.

At each time it is sum_i w_i mu_i - sum_S c_S log sum_{i in S} exp(mu_i). A Dirichlet prior on the
ratings softmax(mu), in softmax space, adds its concentration to each w_i, and n times that to c of
the full set.
"""

import numpy as np

from polarbear.rankings.choice_sets import ChoiceSets

MIN_UTILITY = -690.0  # relative to the best: below it, sums would underflow
_CHUNK = 2**17  # set sums evaluated at once, so that they stay in the processor's cache

# A concentration for all points, or an array with that of each point
Concentration = float | np.ndarray


def helmert(n: int) -> np.ndarray:
    """The paper's Helmert matrix Q[n, n - 1]: orthonormal columns, each summing to zero."""
    q = np.zeros((n, n - 1))
    for k in range(1, n):
        q[:k, k - 1] = np.sqrt(1 / (k * (k + 1)))
        q[k, k - 1] = -np.sqrt(k / (k + 1))
    return q


class Likelihood:
    """The choice sets of T times as padded arrays: wins[T, n], counts[T, m], member[T, n, m]."""

    def __init__(self, sets: ChoiceSets) -> None:
        self.n_times = sets.n_times
        self.n = sets.n_algorithms
        self.helmert = helmert(self.n)
        self.wins = sets.wins
        sizes = np.diff(sets.offsets)
        columns = np.arange(max(1, int(sizes.max(initial=0))))
        exists = columns < sizes[:, None]
        # Padding is the set {0}, whose sum is never zero, with count zero.
        counts: np.ndarray = np.zeros(exists.shape)
        masks: np.ndarray = np.ones(exists.shape, dtype=np.int64)
        index = (sets.offsets[:-1, None] + columns)[exists]
        counts[exists] = sets.counts[index]
        masks[exists] = sets.masks[index]
        self.counts = counts
        bits = np.arange(self.n, dtype=np.int64)[:, None]
        self.member = (masks[:, None, :] >> bits & 1).astype(float)

    def evaluate(
        self, mu: np.ndarray, concentration: Concentration = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Values[T, W] and gradients[T, W, n] at utilities mu[T, W, n]."""
        values = np.empty(mu.shape[:2])
        gradients = np.empty(mu.shape)
        stride = max(1, _CHUNK // (mu.shape[1] * self.counts.shape[1]))
        for first in range(0, self.n_times, stride):
            part = slice(first, first + stride)
            values[part], gradients[part] = self._evaluate(mu[part], concentration, part)
        return values, gradients

    def _evaluate(
        self, mu: np.ndarray, concentration: Concentration, times: slice
    ) -> tuple[np.ndarray, np.ndarray]:
        member = self.member[times]
        counts = self.counts[times, None]
        wins = self.wins[times, None]
        mu = mu - mu.max(axis=2, keepdims=True)
        strength = np.exp(np.maximum(mu, MIN_UTILITY))
        sums = strength @ member
        rates = counts / sums
        expected = strength * (rates @ member.swapaxes(1, 2))
        np.log(sums, out=sums)
        values = (mu @ wins.swapaxes(1, 2) - sums @ counts.swapaxes(1, 2))[:, :, 0]
        gradients = wins - expected
        if np.any(concentration):
            ones = np.ones(self.n)  # a product is faster than the sum of a few numbers
            total = strength @ ones
            values += concentration * (mu @ ones - self.n * np.log(total))
            share = strength / total[:, :, None]
            gradients += np.asarray(concentration)[..., None] * (1 - self.n * share)
        return values, gradients

    def curvature(
        self, mu: np.ndarray, concentration: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values[T], gradients[T, n] and negative Hessians[T, n, n] at utilities mu[T, n]."""
        values, gradients = self.evaluate(mu[:, None], concentration)
        strength = strengths(mu)
        shares = self.member * strength[:, :, None]
        shares /= shares.sum(axis=1, keepdims=True)
        weighted = shares * self.counts[:, None]
        hessians = -(weighted @ shares.swapaxes(1, 2))
        diagonal = weighted.sum(axis=2)
        if concentration:
            share = strength / strength.sum(axis=1, keepdims=True)
            hessians -= self.n * concentration * share[:, :, None] * share[:, None, :]
            diagonal += self.n * concentration * share
        index = np.arange(self.n)
        hessians[:, index, index] += diagonal
        return values[:, 0], gradients[:, 0], hessians


def strengths(mu: np.ndarray) -> np.ndarray:
    """exp(mu) relative to the best algorithm, for utilities mu[..., n], within the range of floats.

    Utilities are far beyond it where a hierarchical prior concentrates on one algorithm.
    """
    return np.asarray(np.exp(np.maximum(mu - mu.max(axis=-1, keepdims=True), MIN_UTILITY)))


def softmax(mu: np.ndarray) -> np.ndarray:
    """Ratings theta[..., n] of utilities mu[..., n]."""
    strength = np.exp(mu - mu.max(axis=-1, keepdims=True))
    return np.asarray(strength / (strength @ np.ones((mu.shape[-1], 1))))
