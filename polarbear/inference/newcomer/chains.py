"""Chains for all draws of the others at once: each has its own density of the newcomer's x.

Those with the same hyperparameters share a Gaussian's precision K^-1 + curvature, the curvature
being that of a typical draw; each has its own centre = K pull near its mode. With u the whitened
coefficients of delta = x - centre the log-prior is, but for a constant,

    -1/2 u'u + 1/2 delta' curvature delta - pull' delta

for any pull and any curvature: they decide over speed, not over results.
"""

from __future__ import annotations

import numpy as np

from polarbear.inference.chains import Chains, Effort, unseen
from polarbear.inference.loops.band import band_cholesky, flipped, posterior_band
from polarbear.inference.loops.newcomer import Entry, advance
from polarbear.inference.loops.split_hmc import Noise, Walkers
from polarbear.inference.models import Latent
from polarbear.inference.newcomer.gaussian import Shared, near_modes, prior_scale
from polarbear.inference.newcomer.placement import Likelihood

EFFORT = Effort(warm_up=1, acceptance=0.9, thin=6)
HARDER = Effort(warm_up=1, acceptance=0.97, thin=30)


class Band:
    """The shared Gaussian's precision, that of the model's coefficients, factored as a band."""

    def __init__(self, latent: Latent, m: int, curvature: np.ndarray) -> None:
        self.starts, self.weights = latent.starts.astype(np.int64), latent.weights
        width = max(latent.precision.shape[1], latent.weights.shape[1])
        self.curvature = np.ascontiguousarray(curvature)[:, None, None]
        self.lower = np.empty((latent.n_coefficients, width))
        precision = latent.precision / prior_scale(m)
        posterior_band(precision, self.starts, self.weights, self.curvature, self.lower)
        band_cholesky(self.lower)
        self.flipped = flipped(self.lower)


class NewcomerChains(Chains):
    """A chain for each of D draws of the others, of which the last state is what is drawn.

    They begin ``dispersion[D]`` standard deviations from their centres. Where that differs from
    one of the posterior's chains to the other, R-hat shows whether these here were too short.
    """

    def __init__(
        self,
        shared: Shared,
        band: Band,
        likelihood: Likelihood,
        dispersion: np.ndarray,
        rng: np.random.Generator,
    ) -> None:
        super().__init__(len(dispersion), len(band.lower), rng)
        mode = near_modes(shared, likelihood)
        n_times = len(mode.x)
        self.target = Entry(
            band.lower, band.flipped, band.starts, band.weights,
            np.ascontiguousarray(mode.x.T)[:, :, None],
            np.ascontiguousarray(mode.pull.T)[:, :, None], band.curvature,
            likelihood.wins[:, 0], likelihood.counts[:, :, 0], likelihood.total[:, 0],
            likelihood.sums, np.zeros(n_times), np.empty((n_times, 1)),
        )  # fmt: skip
        u = dispersion[:, None] * rng.standard_normal((self.count, self.size))
        self.walkers = unseen(u, n_times, 1)
        self.trial = Walkers(*map(np.empty_like, self.walkers))
        self.look()

    @property
    def x(self) -> np.ndarray:
        """Where the chains are: [T, D]."""
        return self.walkers.seen[:, :, 0].T

    def _advance(
        self, noise: Noise, n_steps: int, thin: int, kept: slice, accepted: np.ndarray
    ) -> int:
        return int(advance(self.target, self.walkers, self.trial, n_steps, noise, accepted))
