"""Draws of the hierarchical model: ratings together with their prior's concentration kappa.

Given kappa the ratings move as in `independent`. Kappa itself moves in two ways (Yu and Meng 2011):
given the ratings, which mixes well where data determine them, and with the ratings carried along as
their prior transforms them, which mixes well where data say little.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

from polarbear.inference.models.base import Model
from polarbear.inference.plackett_luce.independent import whitened
from polarbear.inference.plackett_luce.laplace import IndependentMode
from polarbear.inference.plackett_luce.lattice import Lattice
from polarbear.inference.plackett_luce.likelihood import Likelihood
from polarbear.inference.plackett_luce.split_hmc import (
    Draws,
    Effort,
    Layout,
    Walkers,
    rotate,
    run,
    worst_tenth,
)
from polarbear.numerics.threads import in_threads

CONDITIONAL_MOVES = 6  # of kappa given the ratings, which need no likelihood
# scales of random walks in log kappa: log-uniform between these, since the best one is unknown
MIN_SCALE, MAX_SCALE = 0.05, 3.0


def sample(
    model: Model,
    likelihood: Likelihood,
    lattice: Lattice,
    seed: int,
    effort: Effort,
    threads: int | None = None,
) -> Draws:
    """Exact draws; each chain has its own random numbers and may run in its own thread."""
    options = model.options
    layout = Layout.of(options.draws, options.chains)
    one = Layout(1, layout.walkers_per_chain, layout.draws_per_chain)
    theta = np.empty((options.chains, layout.draws_per_chain, *likelihood.wins.shape))
    log_kappa = np.empty((options.chains, layout.draws_per_chain))

    def run_chain(chain: int) -> float:
        rng = np.random.default_rng([seed, chain])
        walkers = _KappaWalkers(model, likelihood, lattice, one, rng)
        acceptance = run(walkers.move, walkers.record, one.draws_per_walker, effort)
        log_kappa[chain] = one.arrange(walkers.log_kappas)
        theta[chain] = np.exp(one.arrange(walkers.log_thetas))
        return worst_tenth(acceptance)

    acceptance = in_threads(run_chain, range(options.chains), threads)
    # Moves of kappa lead far into tails, from where rotations may be rejected for their energy.
    # These are not counted as divergences: the density is log-concave with bounded curvature.
    shape = likelihood.wins.shape
    return Draws(theta.reshape(-1, *shape), log_kappa.reshape(-1, 1), acceptance=min(acceptance))


class _KappaWalkers:
    """Walkers of one chain: log_kappa[W] and log_theta[T, W, n]."""

    def __init__(
        self,
        model: Model,
        likelihood: Likelihood,
        lattice: Lattice,
        layout: Layout,
        rng: np.random.Generator,
    ) -> None:
        self.model, self.likelihood, self.rng = model, likelihood, rng
        self.nodes = lattice.log_hyper[:, 0]
        modes = [mode for mode in lattice.modes if isinstance(mode, IndependentMode)]
        self.centre = np.stack([mode.centre for mode in modes], axis=1)  # [T, J, n]
        self.spread = np.stack([mode.spread for mode in modes], axis=1)
        self.whiten = np.linalg.pinv(self.spread)
        size, (n_times, n) = layout.walkers, likelihood.wins.shape
        start = rng.choice(len(modes), size, p=lattice.weights)
        self.log_kappa = self.nodes[start]
        u = rng.standard_normal((n_times, size, n - 1, 1))
        self.log_theta = _normalised(self.centre[:, start] + (self.spread[:, start] @ u)[..., 0])
        self.log_kappas = np.empty((layout.draws_per_walker, size))
        self.log_thetas = np.empty((layout.draws_per_walker, size, n_times, n))

    def record(self, k: int) -> None:
        self.log_kappas[k], self.log_thetas[k] = self.log_kappa, self.log_theta.swapaxes(0, 1)

    def move(self, steps: int) -> np.ndarray:
        """One transition; returns the acceptance[T] of the ratings."""
        log_likelihood, chance = self._move_ratings(steps)
        for _ in range(CONDITIONAL_MOVES):
            self._move_kappa()
        self._move_both(log_likelihood)
        return np.asarray(chance.mean(axis=1))

    def _move_ratings(self, steps: int) -> tuple[np.ndarray, np.ndarray]:
        """Ratings given kappa, around the nearest node's mode; their log-likelihood[W]."""
        alpha = np.exp(self.log_kappa) / self.likelihood.n
        node = np.abs(self.nodes[:, None] - self.log_kappa).argmin(axis=0)
        centre, spread = self.centre[:, node], self.spread[:, node]
        u = (self.whiten[:, node] @ (self.log_theta - centre)[..., None])[..., 0]
        target = whitened(self.likelihood, centre, spread, alpha)
        walkers, _, chance, _ = rotate(Walkers.at(u, target), [target] * steps, self.rng)
        self.log_theta = _normalised(walkers.mu)
        values = walkers.residual - 0.5 * (walkers.u**2).sum(axis=2)
        prior = alpha * self.log_theta.sum(axis=(0, 2))
        return values.sum(axis=0) - prior, chance

    def _move_kappa(self) -> None:
        """Kappa given the ratings."""
        proposed = self._random_walk()
        gain = self._log_density(proposed) - self._log_density(self.log_kappa)
        accepted = np.log(self.rng.random(len(gain))) < gain
        self.log_kappa = np.where(accepted, proposed, self.log_kappa)

    def _random_walk(self) -> np.ndarray:
        size, (low, high) = len(self.log_kappa), np.log([MIN_SCALE, MAX_SCALE])
        scale = np.exp(self.rng.uniform(low, high, size))
        return np.asarray(self.log_kappa + scale * self.rng.standard_normal(size))

    def _log_density(self, log_kappa: np.ndarray) -> np.ndarray:
        """Of log kappa given the ratings."""
        kappa, (n_times, n) = np.exp(log_kappa), self.likelihood.wins.shape
        normaliser = n_times * (gammaln(kappa) - n * gammaln(kappa / n))
        return np.asarray(
            normaliser + kappa / n * self.log_theta.sum(axis=(0, 2)) + self._log_prior(log_kappa)
        )

    def _log_prior(self, log_kappa: np.ndarray) -> np.ndarray:
        return np.array([self.model.log_hyperprior(one) for one in log_kappa[:, None]])

    def _move_both(self, log_likelihood: np.ndarray) -> None:
        """Another kappa, with the ratings carried along.

        Ratings are gamma variates G over their sum, and G = G1 U^(1/a) for G1 of shape a + 1 and U
        uniform: given G, G1 is G plus a standard exponential. U is kept, and so is z in Marsaglia
        and Tsang's G1 = d (1 + c z)^3, which is nearly normal for every a.
        """
        rng, n, kappa = self.rng, self.likelihood.n, np.exp(self.log_kappa)
        shape = *self.log_theta.shape[:2], 1
        # a small gamma variate underflows; its logarithm does not: G(a) = G(a + 1) U^(1/a)
        log_sum = np.log(rng.standard_gamma(kappa[:, None] + 1, shape))
        log_sum += np.log(rng.random(shape)) / kappa[:, None]
        log_g = log_sum + self.log_theta
        log_g1 = np.logaddexp(log_g, np.log(rng.standard_exponential(self.log_theta.shape)))
        old = _MarsagliaTsang(kappa / n)
        z = old.z(log_g1)

        proposed = self._random_walk()
        new = _MarsagliaTsang(np.exp(proposed) / n)
        valid = (1 + new.c * z > 0).all(axis=(0, 2))
        z = np.where(valid[:, None], z, 0.0)
        log_theta = _normalised(new.log_g1(z) + old.a / new.a * (log_g - log_g1))
        found = self.likelihood.evaluate(log_theta)[0].sum(axis=0)
        gain = found - log_likelihood + new.log_density(z) - old.log_density(z)
        gain += self._log_prior(proposed) - self._log_prior(self.log_kappa)
        accepted = valid & (np.log(rng.random(len(gain))) < gain)
        self.log_kappa = np.where(accepted, proposed, self.log_kappa)
        self.log_theta = np.where(accepted[:, None], log_theta, self.log_theta)


class _MarsagliaTsang:
    """Gamma variates of shape a[W] + 1 as cubes of nearly normal z[T, W, n]."""

    def __init__(self, a: np.ndarray) -> None:
        self.a, self.d = a[:, None], a[:, None] + 2 / 3
        self.c = 1 / np.sqrt(9 * self.d)

    def z(self, log_g1: np.ndarray) -> np.ndarray:
        return np.asarray((np.exp((log_g1 - np.log(self.d)) / 3) - 1) / self.c)

    def log_g1(self, z: np.ndarray) -> np.ndarray:
        return np.asarray(np.log(self.d) + 3 * np.log1p(self.c * z))

    def log_density(self, z: np.ndarray) -> np.ndarray:
        """Of all z of a walker together."""
        log_g1 = self.log_g1(z)
        constant = math.log(3) + np.log(self.c) + np.log(self.d) / 3 - gammaln(self.a + 1)
        return np.asarray((self.d * log_g1 - np.exp(log_g1) + constant).sum(axis=(0, 2)))


def _normalised(mu: np.ndarray) -> np.ndarray:
    return np.asarray(mu - np.logaddexp.reduce(mu, axis=-1, keepdims=True))
