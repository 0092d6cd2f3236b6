"""Draws of ratings under a Dirichlet prior at each time: the dirichlet model.

Times are independent. They are sampled in groups, each with its own random numbers, so that draws
depend on the seed and not on the number of threads.
"""

from __future__ import annotations

import numpy as np

from polarbear.inference.models.base import Latent
from polarbear.inference.plackett_luce.laplace import IndependentMode, find_independent_mode
from polarbear.inference.plackett_luce.lattice import Lattice
from polarbear.inference.plackett_luce.likelihood import Concentration, Likelihood, softmax
from polarbear.inference.plackett_luce.split_hmc import (
    Draws,
    Effort,
    Layout,
    Target,
    Walkers,
    rotate,
    run,
)
from polarbear.inference.posterior_draws import draws_a_chain
from polarbear.numerics.threads import in_threads
from polarbear.rankings import ChoiceSets

MAX_TIMES_PER_GROUP = 32
MAX_ENTRIES_PER_GROUP = 2**21  # of sets and their members, which bounds memory


def groups_of_times(sets: ChoiceSets, times: np.ndarray) -> list[np.ndarray]:
    """Times, some at once."""
    widest = max(1, int(np.diff(sets.offsets).max()))
    most = MAX_ENTRIES_PER_GROUP // (widest * sets.n_algorithms)
    size = max(1, min(MAX_TIMES_PER_GROUP, most))
    return [times[first : first + size] for first in range(0, len(times), size)]


def whitened(
    likelihood: Likelihood, centre: np.ndarray, spread: np.ndarray, alpha: Concentration
) -> Target:
    """The target for mu = centre + spread u, with centre[T, W or 1, n], spread[T, W or 1, n, d]."""
    if spread.shape[1] == 1:  # matrix products are faster where all walkers share the spread
        shared = spread[:, 0]

        def of_u(u: np.ndarray) -> np.ndarray:
            return np.asarray(u @ shared.swapaxes(1, 2))

        def of_slopes(slopes: np.ndarray) -> np.ndarray:
            return np.asarray(slopes @ shared)
    else:

        def of_u(u: np.ndarray) -> np.ndarray:
            return np.asarray((spread * u[..., None, :]).sum(axis=-1))

        def of_slopes(slopes: np.ndarray) -> np.ndarray:
            return np.asarray((slopes[..., None] * spread).sum(axis=-2))

    def target(u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        mu = centre + of_u(u)
        values, slopes = likelihood.evaluate(mu, alpha)
        return values + 0.5 * (u**2).sum(axis=-1), of_slopes(slopes) + u, mu

    return target


class TimeSampler:
    """Exact draws at chosen times, theta[draw, T, n], of which some can be drawn again."""

    def __init__(
        self, sets: ChoiceSets, latent: Latent, draws: int, chains: int, seed: int,
        threads: int | None,
    ) -> None:  # fmt: skip
        self._sets, self._latent, self._seed, self._threads = sets, latent, seed, threads
        self._layout = Layout.of(draws, chains)
        size = chains * self._layout.draws_per_chain
        self.theta = np.empty((size, sets.n_times, sets.n_algorithms))
        self.acceptance = np.ones(sets.n_times)
        self.divergences = np.zeros(sets.n_times, dtype=np.int64)

    def sample(self, times: np.ndarray, effort: Effort, attempt: int) -> None:
        """Draw at these times."""

        def run_group(group: np.ndarray) -> None:
            rng = np.random.default_rng([self._seed, int(group[0]), attempt])
            found = self._sample_group(group, effort, rng)
            self.theta[:, group], self.acceptance[group], self.divergences[group] = found

        in_threads(run_group, groups_of_times(self._sets, times), self._threads)

    def _sample_group(
        self, times: np.ndarray, effort: Effort, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, int]:
        likelihood, alpha = Likelihood(self._sets, times), self._latent.dirichlet
        mode = find_independent_mode(likelihood, self._latent)
        target = whitened(likelihood, mode.centre[:, None], mode.spread[:, None], alpha)
        layout, (n_times, n) = self._layout, mode.centre.shape
        start = rng.standard_normal((n_times, layout.walkers, n - 1))
        walkers, divergences = Walkers.at(start, target), 0
        theta = np.empty((layout.draws_per_walker, layout.walkers, n_times, n))

        def move(steps: int) -> np.ndarray:
            nonlocal walkers, divergences
            walkers, _, chance, diverged = rotate(walkers, [target] * steps, rng)
            divergences += diverged
            return np.asarray(chance.mean(axis=1))

        def record(k: int) -> None:
            theta[k] = softmax(walkers.mu).swapaxes(0, 1)

        acceptance = run(move, record, layout.draws_per_walker, effort)
        return layout.arrange(theta), acceptance, divergences


def draw_approximation(
    likelihood: Likelihood, lattice: Lattice, draws: int, chains: int, seed: int
) -> Draws:
    """Independent draws from the nested Laplace approximation, with their importance weights."""
    size = chains * draws_a_chain(draws, chains)
    rng = np.random.default_rng(seed)
    visited = rng.choice(len(lattice.weights), size, p=lattice.weights)
    theta = np.empty((size, *likelihood.wins.shape))
    log_weights = np.empty((size, likelihood.n_times))
    for node, mode in enumerate(lattice.modes):
        assert isinstance(mode, IndependentMode)
        here = np.flatnonzero(visited == node)
        if not len(here):
            continue
        u = rng.standard_normal((likelihood.n_times, len(here), likelihood.n - 1))
        mu = mode.centre[:, None] + u @ mode.spread.swapaxes(1, 2)
        values, _ = likelihood.evaluate(mu, mode.latent.dirichlet)
        # log p(data, u) - log q(u), and the node's weight has what Laplace's method integrates to
        log_weights[here] = (values + 0.5 * (u**2).sum(axis=2) - mode.heights[:, None]).T
        log_weights[here, 0] -= mode.correction
        theta[here] = softmax(mu).swapaxes(0, 1)
    return Draws(theta, lattice.log_hyper[visited], log_weights=log_weights)
