"""Exact draws from a lattice of Laplace approximations: its own accepted or not, or split HMC.

Each chain has its own random numbers, by its own number, so that draws depend on the seed alone and
not on how many threads share the work.
"""

from __future__ import annotations

import numpy as np

from polarbear.inference.base import draws_a_chain
from polarbear.inference.chains import START, Chains, Effort, unseen
from polarbear.inference.loops.band import flipped
from polarbear.inference.loops.likelihood import SetSums
from polarbear.inference.loops.split_hmc import Noise, Walkers
from polarbear.inference.loops.temporal import Nodes, advance
from polarbear.inference.native.attempt import Draws
from polarbear.inference.native.nested import Lattice
from polarbear.inference.native.temporal.proposals import accept_approximation, draw_approximation
from polarbear.numerics.threads import in_threads

__all__ = ["draw_approximation", "sample", "walk"]


def sample(
    sets: SetSums,
    lattice: Lattice,
    draws: int,
    chains: int,
    seed: int,
    effort: Effort,
    threads: int | None = None,
) -> Draws:
    """Exact draws; a second attempt, which is thinned, walks, whatever was wrong with the first."""
    given = sets, lattice, draws, chains, seed, effort, threads
    return (accept_approximation(*given) if effort.thin == 1 else None) or walk(*given)


def _nodes_of(lattice: Lattice) -> Nodes:
    """Laplace approximations as arrays for compiled loops."""
    modes = lattice.modes
    return Nodes(
        lower=np.stack([m.lower for m in modes]),
        flipped=np.stack([flipped(m.lower) for m in modes]),
        starts=modes[0].latent.starts.astype(np.int64),
        weights=np.stack([m.latent.weights for m in modes]),
        eta=np.stack([m.eta for m in modes]),
        values=np.stack([m.values for m in modes]),
        gradients=np.stack([m.gradients for m in modes]),
        curvatures=np.stack([m.curvatures for m in modes]),
        cumulative=np.cumsum(lattice.weights),
    )


def walk(
    sets: SetSums,
    lattice: Lattice,
    draws: int,
    chains: int,
    seed: int,
    effort: Effort,
    threads: int | None = None,
) -> Draws:
    """Exact draws by split HMC."""
    nodes = _nodes_of(lattice)
    n_times, n = sets.wins.shape
    a_chain = draws_a_chain(draws, chains)
    theta = np.empty((chains, a_chain, n_times, n))
    visited = np.zeros((chains, a_chain), dtype=np.int64)

    def run(chain: int) -> tuple[int, float]:
        rng = np.random.default_rng([seed, chain, 0])
        fared = _Chain(sets, nodes, rng, theta[chain], visited[chain]).run(effort, a_chain)
        return fared.divergences, float(fared.acceptance[0])

    results = in_threads(run, range(chains), threads)
    return Draws(
        theta.reshape(-1, n_times, n),
        visited.ravel(),
        sum(divergences for divergences, _ in results),
        min(acceptance for _, acceptance in results),
    )


class _Chain(Chains):
    """A chain over (node, whitened coefficients); fills theta[draw, T, n] and visited[draw]."""

    uniforms = 3

    def __init__(
        self,
        sets: SetSums,
        nodes: Nodes,
        rng: np.random.Generator,
        theta: np.ndarray,
        visited: np.ndarray,
    ) -> None:
        super().__init__(1, nodes.lower.shape[1], rng)
        self.sets, self.nodes, self.theta, self.visited = sets, nodes, theta, visited
        n_times, d = nodes.eta.shape[1:]
        node = np.searchsorted(nodes.cumulative[:-1], rng.random())
        self.walkers = unseen(START * rng.standard_normal((1, self.size)), n_times, d)
        self.walkers.node[0] = node
        self.trial = Walkers(*map(np.empty_like, self.walkers))
        self.look()

    def _advance(
        self, noise: Noise, n_steps: int, thin: int, kept: slice, accepted: np.ndarray
    ) -> int:
        return int(
            advance(
                self.sets, self.nodes, self.walkers, self.trial, n_steps, thin, noise,
                self.theta[kept], self.visited[kept], accepted,
            )
        )  # fmt: skip
