"""The Laplace approximation of ratings under a Dirichlet prior: a small one at each time.

Of few algorithms by plain NumPy over many times at once, so that nothing has to be compiled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from polarbear.inference.loops.likelihood import LOWEST, SetSums
from polarbear.inference.loops.tree import tree_curvature
from polarbear.inference.models import Latent
from polarbear.inference.native.newton import CONVERGED, MOST_STEPS, SHORTEST_STEP, no_mode
from polarbear.inference.native.set_sums import with_prior
from polarbear.numerics.threads import in_threads, single_threaded_blas
from polarbear.rankings.wide import FEW

_LONGEST_STEP = 3.0  # of a log-ratio: where ratings are nearly zero the density is nearly flat
_ENTRIES_AT_A_TIME = 200_000  # members of sets; bounds memory, not results


@dataclass(frozen=True)
class Mode:
    """The mode x[T, d] in Helmert coordinates, and mu = centre[T, n] + spread[T, n, d] u around it.

    For u standard normal that is the approximation, which is log-density ``heights[T]`` high.
    ``log_marginal`` is the log-probability of the data, as far as it depends on the prior, with
    ``correction`` added for what Laplace's method is known to miss.
    """

    latent: Latent
    x: np.ndarray
    centre: np.ndarray
    spread: np.ndarray
    heights: np.ndarray
    log_marginal: float
    correction: float


def find_mode(sets: SetSums, latent: Latent, start: np.ndarray | None = None) -> Mode:
    """Newton's method at each time; the log-density is concave, so there is one mode."""
    n_times, n = sets.wins.shape
    x = np.zeros((n_times, n - 1)) if start is None else start.copy()
    heights, lower = np.empty(n_times), np.empty((n_times, n - 1, n - 1))
    with_all = with_prior(sets, latent.dirichlet)

    def climb(times: slice) -> None:
        density = (Density if n <= FEW else _TreeDensity)(with_all, times)
        x[times], heights[times], lower[times] = density.climb(x[times])

    parts = runs_of_times(with_all)
    if n <= FEW:  # mostly in the interpreter, which threads would only wait for
        for part in parts:
            climb(part)
    else:
        with single_threaded_blas():
            in_threads(climb, parts)
    spread = sets.helmert @ np.linalg.inv(lower).swapaxes(1, 2)
    half_log_det = float(np.log(np.diagonal(lower, axis1=1, axis2=2)).sum())
    correction = _stirling_correction(sets.wins, latent.dirichlet)
    log_marginal = float(heights.sum()) - half_log_det + latent.log_constant + correction
    return Mode(latent, x, x @ sets.helmert.T, spread, heights, log_marginal, correction)


def runs_of_times(sets: SetSums, parts: int = 1) -> list[slice]:
    """One run of times after the other, so many at least where there are as many times."""
    n_times, n = sets.wins.shape
    most = _ENTRIES_AT_A_TIME // (int(sets.widest[0]) * n)
    stride = max(1, min(most, -(-n_times // parts)))
    starts = range(0, n_times, stride)
    return [slice(first, min(first + stride, n_times)) for first in starts]


class Density:
    """Log-density, gradient and curvature of eta[T, d] at several times, all sets side by side."""

    def __init__(self, sets: SetSums, times: slice) -> None:
        offsets = sets.offsets[times.start : times.stop + 1].astype(np.int64)
        n = sets.wins.shape[1]
        within = np.arange(int(sets.widest[0]))
        there = within < np.diff(offsets)[:, None]
        place = np.where(there, offsets[:-1, None] + within, 0)
        self.counts = np.where(there, sets.counts[place], 0.0)
        self.member = (sets.masks[place][:, :, None] >> np.arange(n) & 1).astype(float)
        self.wins, self.helmert = sets.wins[times], sets.helmert

    def __call__(self, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        mu = eta @ self.helmert.T
        mu -= mu.max(axis=1, keepdims=True)
        weight = np.exp(np.maximum(mu, LOWEST))
        sums = (self.member @ weight[:, :, None])[:, :, 0]
        sums[self.counts == 0] = 1.0
        values = (self.wins * mu).sum(axis=1) - (self.counts * np.log(sums)).sum(axis=1)
        shares = self.member * weight[:, None, :]
        shares /= sums[:, :, None]
        expected = (self.counts[:, None, :] @ shares)[:, 0]
        bend = -(shares.swapaxes(1, 2) @ (self.counts[:, :, None] * shares))
        rows = np.arange(len(self.helmert))
        bend[:, rows, rows] += expected
        return values, (self.wins - expected) @ self.helmert, self.helmert.T @ bend @ self.helmert

    def climb(self, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mode, its log-density and the Cholesky factor of the curvature there, at each time."""
        values, slope, bend = self(eta)
        for _ in range(MOST_STEPS):
            try:
                lower = np.linalg.cholesky(bend)
            except np.linalg.LinAlgError:
                break
            step = np.linalg.solve(bend, slope[:, :, None])[:, :, 0]
            if (slope * step).sum(axis=1).max() < CONVERGED:
                return eta, values, lower
            longest = np.abs(step).max(axis=1, keepdims=True)
            step *= _LONGEST_STEP / np.maximum(longest, _LONGEST_STEP)
            rise = (slope * step).sum(axis=1)
            length = np.ones(len(eta))
            while True:
                there = eta + length[:, None] * step
                found = self(there)
                enough = 1e-4 * length * rise - 1e-10 * (1 + np.abs(values))
                short = ~(found[0] - values >= enough)
                if not short.any() or length.min() < SHORTEST_STEP:
                    break
                length[short] *= 0.5
            eta, (values, slope, bend) = there, found
        raise no_mode(len(self.helmert), len(eta))


class _TreeDensity(Density):
    """The same for many algorithms, by compiled loops: no set's members have to be held."""

    def __init__(self, sets: SetSums, times: slice) -> None:
        self.sets, self.wins, self.helmert = sets, sets.wins[times], sets.helmert
        self.offsets = sets.offsets[times.start : times.stop + 1].astype(np.int64)

    def __call__(self, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        mu = eta @ self.helmert.T
        values, slopes = np.empty(len(mu)), np.empty(mu.shape)
        bends = np.empty((*mu.shape, mu.shape[1]))
        tree_curvature(
            self.wins, self.offsets, self.sets.left, self.sets.right, self.sets.counts,
            int(self.sets.widest[0]), mu, values, slopes, bends,
        )  # fmt: skip
        return values, slopes @ self.helmert, self.helmert.T @ bends @ self.helmert


def _stirling_correction(wins: np.ndarray, alpha: float) -> float:
    """What Laplace's method misses of the integral over ratings under a Dirichlet prior.

    On gamma variates of shape a it errs by Stirling's remainder of log Gamma(a), which is large
    for small a. The ratings behave like gamma variates of shape alpha plus wins, but for their
    common scale; without data that is exact.
    """
    n_times, n = wins.shape
    items = _stirling_remainder(alpha + wins).sum()
    return float(items - n_times * _stirling_remainder(np.array(n * alpha)))


def _stirling_remainder(a: np.ndarray) -> np.ndarray:
    return np.asarray(gammaln(a) - (a - 0.5) * np.log(a) + a - 0.5 * np.log(2 * np.pi))
