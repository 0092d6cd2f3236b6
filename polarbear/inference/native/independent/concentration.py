"""Exact draws of ratings together with their prior's concentration kappa (the hierarchical model).

Given kappa the ratings are turned as in `sampling`. Kappa itself moves in two ways that help each
other out (Yu and Meng 2011): given the ratings, which is quick where data pin them down; and with
the ratings carried along as their prior would have them, which is quick where data say little.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from polarbear.inference.base import draws_a_chain
from polarbear.inference.chains import Effort, worst_tenth
from polarbear.inference.loops.likelihood import SetSums
from polarbear.inference.models import Model
from polarbear.inference.native.attempt import Draws
from polarbear.inference.native.independent.sampling import TimeChains
from polarbear.inference.native.nested import Lattice
from polarbear.inference.native.set_sums import with_prior
from polarbear.numerics.threads import in_threads

_MUCH_WORK = 5000  # sets; with fewer, threads would only wait for the interpreter's lock
_LONGEST_WALK = 5.0  # of log kappa
_WANTED = 0.44  # acceptance of a random walk in one dimension that explores it fastest


def sample_with_concentration(
    model: Model,
    sets: SetSums,
    lattice: Lattice,
    seed: int,
    effort: Effort,
    threads: int | None = None,
) -> tuple[Draws, np.ndarray]:
    """Draws and their log kappa[draw, 1]."""
    options = model.options
    shape = options.chains, draws_a_chain(options.draws, options.chains)
    theta = np.empty((*shape, *sets.wins.shape))
    log_kappa = np.empty((*shape, 1))

    def run(chain: int) -> float:
        rng = np.random.default_rng([seed, chain])
        sampler = _Chain(model, sets, lattice, rng)
        sampler.warm_up(effort)
        for k in range(shape[1]):
            for _ in range(effort.thin):
                sampler.move()
            theta[chain, k] = np.exp(sampler.log_theta)
            log_kappa[chain, k] = sampler.log_kappa
        return worst_tenth(sampler.acceptance())

    if sets.counts.size < _MUCH_WORK:
        threads = 1
    results = in_threads(run, range(shape[0]), threads)
    draws = Draws(
        theta.reshape(-1, *sets.wins.shape),
        np.zeros(shape[0] * shape[1], dtype=np.int64),
        # Kappa's moves lead far out into tails, from where a turn is rejected for its energy. That
        # hides nothing: the density is log-concave, and its curvature has a bound.
        divergences=0,
        acceptance=min(results),
    )
    return draws, log_kappa.reshape(-1, 1)


class _Chain:
    """One Markov chain over (log kappa, log theta[T, n])."""

    def __init__(
        self, model: Model, sets: SetSums, lattice: Lattice, rng: np.random.Generator
    ) -> None:
        self.model, self.sets, self.lattice, self.rng = model, sets, lattice, rng
        self.n_times, self.n = sets.wins.shape
        self.whiten = [np.linalg.pinv(mode.spread) for mode in lattice.modes]
        node = int(rng.choice(len(lattice.weights), p=lattice.weights))
        self.log_kappa = float(lattice.log_hyper[node, 0])
        everywhere = slice(0, self.n_times)
        self.ratings = TimeChains(
            sets, everywhere, lattice.modes[node], rng, np.empty((1, self.n_times, self.n))
        )
        self.log_theta = self._where_ratings_are()
        self.scale = 1.0
        self.moves, self.accepted = 0, np.zeros(self.n_times)

    def warm_up(self, effort: Effort) -> None:
        """Find the number of steps and the length of the random walk's."""

        def acceptance() -> np.ndarray:
            self.moves, self.accepted[:] = 0, 0.0
            for k in range(effort.warm_up):
                change = (self.move() - _WANTED) / math.sqrt(k + 1)
                self.scale = min(self.scale * math.exp(change), _LONGEST_WALK)
            return self.acceptance()

        self.ratings.settle(acceptance, effort)

    def acceptance(self) -> np.ndarray:
        """Of each time's ratings, since the number of steps changed."""
        return self.accepted / self.moves

    def move(self) -> float:
        """One transition; returns how likely the joint move was to be accepted."""
        log_likelihood = self._turn()
        self.log_kappa = _slice(self._log_kappa_given_theta(), self.log_kappa, 1.0, self.rng)
        return self._move_both(log_likelihood)

    def _turn(self) -> float:
        """Ratings given kappa, around the nearest node's mode; returns their log-likelihood."""
        alpha = math.exp(self.log_kappa) / self.n
        node = int(np.abs(self.lattice.log_hyper[:, 0] - self.log_kappa).argmin())
        mode = self.lattice.modes[node]
        ratings = self.ratings
        u = (self.whiten[node] @ (self.log_theta - mode.centre)[:, :, None])[:, :, 0]
        ratings.place(with_prior(self.sets, alpha), mode.centre, mode.spread, u)
        self.accepted += ratings.advance(slice(0, 1)).acceptance
        self.moves += 1
        self.log_theta = self._where_ratings_are()
        return float(ratings.log_densities.sum() - alpha * self.log_theta.sum())

    def _where_ratings_are(self) -> np.ndarray:
        target, u = self.ratings.target, self.ratings.walkers.u
        return _normalised(target.centre + (target.spread @ u[:, :, None])[:, :, 0])

    def _log_kappa_given_theta(self) -> Callable[[float], float]:
        total, n, n_times = float(self.log_theta.sum()), self.n, self.n_times

        def log_density(log_kappa: float) -> float:
            kappa = math.exp(log_kappa)
            normaliser = n_times * (math.lgamma(kappa) - n * math.lgamma(kappa / n))
            return float(normaliser + kappa / n * total + self._log_prior(log_kappa))

        return log_density

    def _move_both(self, log_likelihood: float) -> float:
        """Another kappa, the ratings carried along; returns how likely that was to be accepted.

        Ratings are gamma variates G over their sum, and G = G1 U^(1/a) for G1 of shape a + 1 and U
        uniform: given G, G1 is G plus a standard exponential. U is kept, and so is z in Marsaglia
        and Tsang's G1 = d (1 + c z)^3, which is nearly normal for every a.
        """
        rng, shape = self.rng, (self.n_times, self.n)
        kappa = math.exp(self.log_kappa)
        # a small gamma variate G(a) underflows; its logarithm does not: G(a) = G(a + 1) U^(1/a)
        log_sum = np.log(rng.standard_gamma(kappa + 1, size=(self.n_times, 1)))
        log_sum += np.log(rng.random((self.n_times, 1))) / kappa
        log_g = log_sum + self.log_theta
        log_g1 = np.logaddexp(log_g, np.log(rng.standard_exponential(shape)))
        old = _MarsagliaTsang(kappa / self.n)
        z = old.z(log_g1)

        log_kappa = self.log_kappa + self.scale * rng.standard_normal()
        uniform = rng.random()
        new = _MarsagliaTsang(math.exp(log_kappa) / self.n)
        if not 1 + new.c * z.min() > 0:
            return 0.0
        log_theta = _normalised(new.log_g1(z) + old.a / new.a * (log_g - log_g1))
        gain = self._log_likelihood(log_theta) - log_likelihood
        gain += new.log_density(z) - old.log_density(z)
        gain += self._log_prior(log_kappa) - self._log_prior(self.log_kappa)
        chance = math.exp(min(gain, 0.0)) if math.isfinite(gain) else 0.0
        if uniform < chance:
            self.log_kappa, self.log_theta = log_kappa, log_theta
        return chance

    def _log_likelihood(self, log_theta: np.ndarray) -> float:
        """What is to be seen from there, without a prior."""
        still = np.zeros((self.n_times, self.n, self.n - 1))
        self.ratings.place(self.sets, log_theta, still, np.zeros((self.n_times, self.n - 1)))
        return float(self.ratings.log_densities.sum())

    def _log_prior(self, log_kappa: float) -> float:
        return self.model.log_hyperprior(np.array([log_kappa]))


class _MarsagliaTsang:
    """Gamma variates of shape a + 1 as cubes of nearly normal z."""

    def __init__(self, a: float) -> None:
        self.a, self.d = a, a + 2 / 3
        self.c = 1 / math.sqrt(9 * self.d)

    def z(self, log_g1: np.ndarray) -> np.ndarray:
        return np.asarray((np.exp((log_g1 - math.log(self.d)) / 3) - 1) / self.c)

    def log_g1(self, z: np.ndarray) -> np.ndarray:
        return np.asarray(math.log(self.d) + 3 * np.log1p(self.c * z))

    def log_density(self, z: np.ndarray) -> float:
        """Of all z together."""
        log_g1 = self.log_g1(z)
        each = (self.a + 2 / 3) * log_g1 - np.exp(log_g1)
        constant = math.log(3 * self.c) + math.log(self.d) / 3 - math.lgamma(self.a + 1)
        return float(each.sum() + z.size * constant)


def _normalised(mu: np.ndarray) -> np.ndarray:
    return np.asarray(mu - np.logaddexp.reduce(mu, axis=1, keepdims=True))


def _slice(
    log_density: Callable[[float], float], at: float, width: float, rng: np.random.Generator
) -> float:
    """Slice sampling in one dimension (Neal 2003)."""
    level = log_density(at) - rng.exponential()
    low = at - width * rng.random()
    high = low + width
    while log_density(low) > level:
        low -= width
    while log_density(high) > level:
        high += width
    while True:
        found = low + (high - low) * rng.random()
        if log_density(found) > level:
            return float(found)
        if found < at:
            low = found
        else:
            high = found
