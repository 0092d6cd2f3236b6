"""Draws from a lattice of Laplace approximations: exact by split HMC, or the approximation itself.

Each chain has its own random numbers, by its own number, so that draws depend on the seed alone and
not on how many threads share the work.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polarbear.inference.loops.band import flipped
from polarbear.inference.loops.likelihood import SetSums
from polarbear.inference.loops.split_hmc import Nodes, Noise, State, advance, approximate
from polarbear.inference.native.laplace import Mode
from polarbear.numerics.threads import in_threads

ROTATION = 1.6  # radians a trajectory turns in all: a quarter circle forgets where it began
STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)  # it may take; one, where nearly Gaussian
BATCH_NUMBERS = 300_000  # random numbers made at a time, which bounds memory


@dataclass(frozen=True)
class Effort:
    """How hard the sampler works: a second attempt works harder."""

    warm_up: int = 40
    acceptance: float = 0.93
    thin: int = 1
    spacing: float = 1.0  # of hyperparameter nodes, in standard deviations
    pruned: float = 1e-4  # weight of nodes left out, relative to the heaviest


HARDER = Effort(warm_up=200, acceptance=0.98, thin=4, spacing=0.8, pruned=1e-6)


@dataclass(frozen=True)
class Draws:
    """theta[draw, T, n], chain after chain; the node each draw was at; how the sampler fared.

    ``log_weights[draw, block]`` are those of importance sampling, for approximate draws only;
    ``visited[draw]`` is the node index, zero for a model without hyperparameters.
    """

    theta: np.ndarray
    visited: np.ndarray
    divergences: int = 0
    acceptance: float = 1.0
    steps: int = 0
    log_weights: np.ndarray | None = None


def draws_a_chain(draws: int, chains: int) -> int:
    """An even number, because diagnostics cut chains in halves."""
    return 2 * math.ceil(draws / (2 * chains))


def nodes_of(modes: Sequence[Mode], weights: np.ndarray) -> Nodes:
    """Laplace approximations as arrays for compiled loops."""
    return Nodes(
        lower=np.stack([m.lower for m in modes]),
        flipped=np.stack([flipped(m.lower) for m in modes]),
        starts=modes[0].latent.starts.astype(np.int64),
        weights=np.stack([m.latent.weights for m in modes]),
        eta=np.stack([m.eta for m in modes]),
        values=np.stack([m.values for m in modes]),
        gradients=np.stack([m.gradients for m in modes]),
        curvatures=np.stack([m.curvatures for m in modes]),
        cumulative=np.cumsum(weights),
    )


def sample(
    sets: SetSums,
    nodes: Nodes,
    draws: int,
    chains: int,
    seed: int,
    effort: Effort,
    threads: int | None = None,
) -> Draws:
    """Exact draws."""
    n_times, n = sets.wins.shape
    a_chain = draws_a_chain(draws, chains)
    theta = np.empty((chains, a_chain, n_times, n))
    visited = np.zeros((chains, a_chain), dtype=np.int64)

    def run(chain: int) -> tuple[int, float, int]:
        sampler = _Chain(sets, nodes, np.random.default_rng([seed, chain, 0]))
        return *sampler.run(effort, theta[chain], visited[chain]), sampler.steps

    results = in_threads(run, range(chains), threads)
    return Draws(
        theta.reshape(-1, n_times, n),
        visited.ravel(),
        sum(divergences for divergences, _, _ in results),
        min(acceptance for _, acceptance, _ in results),
        max(steps for _, _, steps in results),
    )


class _Chain:
    """One Markov chain over (node, whitened coefficients)."""

    def __init__(self, sets: SetSums, nodes: Nodes, rng: np.random.Generator) -> None:
        self.sets, self.nodes, self.rng = sets, nodes, rng
        self.size = nodes.lower.shape[1]
        n_times, d = nodes.eta.shape[1:]
        self.state = State(
            np.array([np.searchsorted(nodes.cumulative[:-1], rng.random())]),
            np.multiply(0.7, rng.standard_normal(self.size)),
            np.empty(self.size),
            np.empty(n_times),
            np.empty((n_times, d)),
        )
        self.steps = STEPS[0]

    def run(self, effort: Effort, theta: np.ndarray, visited: np.ndarray) -> tuple[int, float]:
        """Warm up, then fill theta[draw, T, n] and visited[draw]."""
        self._warm_up(effort)
        batch = max(1, BATCH_NUMBERS // (self.size * effort.thin))
        divergences, accepted = 0, 0.0
        for first in range(0, len(theta), batch):
            here = slice(first, min(first + batch, len(theta)))
            lost, rate = self._advance(effort.thin, theta[here], visited[here])
            divergences += lost
            accepted += rate * (here.stop - here.start) / len(theta)
        return divergences, accepted

    def _warm_up(self, effort: Effort) -> None:
        """Take more and smaller steps until they are accepted."""
        theta = np.empty((effort.warm_up, *self.sets.wins.shape))
        visited = np.empty(effort.warm_up, dtype=np.int64)
        for self.steps in STEPS:
            _, rate = self._advance(1, theta, visited)
            if rate >= effort.acceptance:
                break

    def _advance(self, thin: int, theta: np.ndarray, visited: np.ndarray) -> tuple[int, float]:
        """Divergences and the mean acceptance."""
        transitions = len(theta) * thin
        accepted = np.zeros(1)
        noise = Noise(
            self.rng.standard_normal((transitions, self.size)), self.rng.random((transitions, 4))
        )
        divergences = advance(
            self.sets, self.nodes, self.state, ROTATION / self.steps, self.steps, thin, noise,
            theta, visited, accepted,
        )  # fmt: skip
        return divergences, float(accepted[0]) / transitions


def draw_approximation(
    sets: SetSums, nodes: Nodes, draws: int, chains: int, seed: int, threads: int | None = None
) -> Draws:
    """Independent draws from the nested Laplace approximation, with their importance weights."""
    n_times, n = sets.wins.shape
    a_chain = draws_a_chain(draws, chains)
    theta = np.empty((chains, a_chain, n_times, n))
    visited = np.zeros((chains, a_chain), dtype=np.int64)
    log_weights = np.empty((chains, a_chain, n_times))
    size = nodes.lower.shape[1]

    def run(chain: int) -> None:
        rng = np.random.default_rng([seed, chain])
        batch = max(1, BATCH_NUMBERS // size)
        for first in range(0, a_chain, batch):
            here = slice(first, min(first + batch, a_chain))
            count = here.stop - here.start
            approximate(
                sets, nodes, rng.standard_normal((count, size)), rng.random(count),
                theta[chain, here], visited[chain, here], log_weights[chain, here],
            )  # fmt: skip

    in_threads(run, range(chains), threads)
    return Draws(
        theta.reshape(-1, n_times, n),
        visited.ravel(),
        log_weights=log_weights.reshape(-1, n_times),
    )
