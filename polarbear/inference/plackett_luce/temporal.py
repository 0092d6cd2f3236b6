"""Draws of a temporal model: split HMC over (node of the lattice, whitened coefficients)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from polarbear.inference.plackett_luce.laplace import TemporalMode
from polarbear.inference.plackett_luce.lattice import Lattice
from polarbear.inference.plackett_luce.likelihood import Likelihood, softmax
from polarbear.inference.plackett_luce.split_hmc import Draws, Effort, Layout, Walkers, rotate, run
from polarbear.inference.posterior_draws import draws_a_chain
from polarbear.numerics.threads import in_threads

TASKS = 2  # that threads share; more walkers in one task are faster in total
MAX_BLOCK = 2**22  # utilities of approximate draws at once, which bounds memory


class NestedTarget:
    """The target over (node, u): weight_node N(u; 0, I) exp(residual_node(u)).

    The prior is Gaussian, so the residual is what the log-likelihood has beyond second order.
    """

    def __init__(self, likelihood: Likelihood, lattice: Lattice) -> None:
        self.likelihood, self.weights = likelihood, lattice.weights
        self.modes = [mode for mode in lattice.modes if isinstance(mode, TemporalMode)]
        self.size = len(self.modes[0].x)
        self._eta = np.stack([mode.eta for mode in self.modes], axis=1)  # [T, J, d]
        self._constants = np.array([mode.values.sum() for mode in self.modes])
        self._gradients = np.stack([mode.gradients for mode in self.modes], axis=1)
        self._curvatures = np.stack([mode.curvatures for mode in self.modes], axis=1)

    def deviations(self, u: np.ndarray, node: np.ndarray) -> np.ndarray:
        """eta[T, W, d] relative to the modes; walkers are in the order of their nodes."""
        found = np.empty((self.likelihood.n_times, len(u), self._eta.shape[2]))
        for mode, walkers in self._groups(node):
            found[:, walkers] = mode.spread(u[walkers])
        return found

    def _groups(self, node: np.ndarray) -> Iterator[tuple[TemporalMode, slice]]:
        """Each node that walkers are at, and which they are, in the order of their nodes."""
        ends = np.flatnonzero(np.diff(node, append=-1)) + 1
        for first, end in zip([0, *ends[:-1]], ends, strict=True):
            yield self.modes[node[first]], slice(first, end)

    def __call__(
        self, u: np.ndarray, node: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Residuals[W], their gradients[W, K d] and utilities mu[W, T, n]."""
        order, q = np.argsort(node, kind="stable"), self.likelihood.helmert
        node = node[order]
        away = self.deviations(u[order], node)
        mu = (self._eta[:, node] + away) @ q.T
        values, slopes = self.likelihood.evaluate(mu)
        curvatures, d = self._curvatures[:, node], away.shape[2]
        bent = sum(curvatures[..., p] * away[..., p, None] for p in range(d))
        linear = self._gradients[:, node]
        residual = values.sum(axis=0) - self._constants[node]
        residual -= ((linear - 0.5 * bent) * away).sum(axis=(0, 2))
        rest = slopes @ q - linear + bent
        gradient = np.empty_like(u)
        for mode, walkers in self._groups(node):
            gradient[walkers] = mode.spread_back(rest[:, walkers])
        back = np.argsort(order)
        return residual[back], gradient[back], mu.swapaxes(0, 1)[back]


def sample(
    likelihood: Likelihood,
    lattice: Lattice,
    draws: int,
    chains: int,
    seed: int,
    effort: Effort,
    threads: int | None = None,
) -> Draws:
    """Exact draws; chains are divided over a fixed number of tasks with their random numbers."""
    target, layout = NestedTarget(likelihood, lattice), Layout.of(draws, chains)

    def run_task(task: int) -> tuple[np.ndarray, np.ndarray, float, int]:
        part = replace(layout, chains=chains // TASKS + (task < chains % TASKS))
        walkers = _NodeWalkers(target, part, np.random.default_rng([seed, task]))
        acceptance = run(walkers.move, walkers.record, part.draws_per_walker, effort)
        found = part.arrange(walkers.theta), part.arrange(walkers.nodes)
        return *found, float(acceptance.mean()), walkers.divergences

    parts = in_threads(run_task, range(TASKS), threads)
    theta, nodes, acceptance, divergences = zip(*parts, strict=True)
    visited = np.concatenate(nodes)
    return Draws(
        np.concatenate(theta),
        lattice.log_hyper[visited],
        sum(divergences),
        min(acceptance),
        missed=lattice.missed(visited),
    )


class _NodeWalkers:
    """Walkers with what they recorded."""

    def __init__(self, target: NestedTarget, layout: Layout, rng: np.random.Generator) -> None:
        self.target, self.rng, self.divergences = target, rng, 0
        size = layout.walkers
        self.node = rng.choice(len(target.weights), size, p=target.weights)
        u = rng.standard_normal((size, target.size))
        self.walkers = Walkers.at(u, partial(target, node=self.node))
        shape = layout.draws_per_walker, size
        self.nodes = np.empty(shape, dtype=np.int64)
        self.theta = np.empty((*shape, *target.likelihood.wins.shape))

    def move(self, steps: int) -> np.ndarray:
        """Whitened coefficients and node together: the trajectory begins at the one node and ends
        at another, drawn by its weight; the middle, if there is one, is at the lower of the two."""
        weights = self.target.weights
        proposed = self.rng.choice(len(weights), len(self.node), p=weights)
        middle = np.minimum(self.node, proposed)
        nodes = [
            self.node if 2 * k < steps else middle if 2 * k == steps else proposed
            for k in range(1, steps + 1)
        ]
        targets = [partial(self.target, node=node) for node in nodes]
        self.walkers, accepted, chance, diverged = rotate(self.walkers, targets, self.rng)
        self.node = np.where(accepted, proposed, self.node)
        self.divergences += diverged
        return chance

    def record(self, k: int) -> None:
        self.theta[k], self.nodes[k] = softmax(self.walkers.mu), self.node


def draw_approximation(
    likelihood: Likelihood, lattice: Lattice, draws: int, chains: int, seed: int
) -> Draws:
    """Independent draws from the nested Laplace approximation, with their importance weights."""
    target, size = NestedTarget(likelihood, lattice), chains * draws_a_chain(draws, chains)
    rng = np.random.default_rng(seed)
    visited = rng.choice(len(lattice.weights), size, p=lattice.weights)
    theta, log_weights = np.empty((size, *likelihood.wins.shape)), np.empty(size)
    stride = max(1, MAX_BLOCK // likelihood.wins.size)
    for first in range(0, size, stride):
        some = slice(first, first + stride)
        node = visited[some]
        u = rng.standard_normal((len(node), target.size))
        log_weights[some], _, mu = target(u, node)
        theta[some] = softmax(mu)
    return Draws(
        theta,
        lattice.log_hyper[visited],
        log_weights=log_weights[:, None],
        missed=lattice.missed(visited),
    )
