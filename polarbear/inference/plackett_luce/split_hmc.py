"""Split Hamiltonian Monte Carlo: nested Laplace proposals, corrected by Metropolis's rule.

A walker is at a node of the lattice of hyperparameters and at whitened coefficients u, where the
target is weight_node N(u; 0, I) exp(residual_node(u)). The Gaussian part is rotated exactly; the
residual, all that the Laplace approximation misses, acts through kicks (Shahbaba, Lan, Johnson and
Neal 2014). Many walkers move in parallel, so that NumPy does the work.

Coefficients are divided into blocks that are accepted separately: one for each time where times are
independent given the hyperparameters, one in all otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from polarbear.inference.chain_diagnostics import Draws
from polarbear.inference.models.base import Model
from polarbear.inference.plackett_luce.laplace import Mode
from polarbear.inference.plackett_luce.lattice import Lattice, explore
from polarbear.inference.plackett_luce.likelihood import Likelihood, softmax
from polarbear.inference.posterior_draws import draws_a_chain
from polarbear.numerics.threads import Threads, in_threads

ROTATION = 1.6  # radians per transition: a quarter circle forgets where it began
JITTER = 0.15  # relative, of that: no transition may return to its start for ever
STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)  # per transition; one, where nearly Gaussian
DRAWS_PER_WALKER = 50
MAX_WALKERS_PER_CHAIN = 64
DIVERGED = -1000.0  # log-ratio of densities
TASKS = 2  # that threads share; more walkers in one task are faster in total
MAX_BLOCK = 2**22  # utilities of approximate draws at once, which bounds memory
NODE_STEPS = (-3, -2, -1, 1, 2, 3)  # of kappa with ratings scaled
SETTINGS_PER_NODE = 50  # of kappa, from which it is drawn given the ratings


@dataclass(frozen=True)
class Effort:
    """How much work an attempt may take: a second one takes more.

    ``warm_up`` are transitions for each number of steps that is tried, ``acceptance`` is what it
    must reach, ``thin`` are transitions per draw. ``spacing`` of hyperparameter nodes is in
    standard deviations, ``min_weight`` relative to the heaviest node. NUTS has its tuning
    transitions and its target acceptance.
    """

    warm_up: int
    acceptance: float
    thin: int
    spacing: float
    min_weight: float
    nuts_tuning: int
    nuts_acceptance: float


class NestedTarget:
    """The target over nodes and whitened coefficients, u[W, block, D].

    The residual is what the log-likelihood, with a Dirichlet prior if there is one, has beyond
    second order.
    """

    def __init__(self, model: Model, likelihood: Likelihood, lattice: Lattice) -> None:
        self.likelihood, self.lattice, modes = likelihood, lattice, lattice.modes
        self.alpha = np.array([mode.latent.dirichlet for mode in modes])
        self.corrections = np.array([mode.correction for mode in modes])
        blocks = 1 if model.temporal else likelihood.n_times
        self.shape = blocks, len(modes[0].x) // blocks
        self._eta = np.stack([mode.eta for mode in modes], axis=1)  # [T, J, d]
        self._values = np.stack([mode.values for mode in modes], axis=1)
        self._gradients = np.stack([mode.gradients for mode in modes], axis=1)
        self.temporal = model.temporal
        log_dets = np.array([mode.factor.half_log_det for mode in modes])
        self.log_heights = np.log(lattice.weights) + log_dets
        self._kappa = None
        if model.hyperparameters and not model.temporal:
            self._kappa = KappaSettings(model, lattice.log_hyper[:, 0])
            curvatures = np.stack([mode.curvatures for mode in modes], axis=1)
            self._lower = np.linalg.cholesky(curvatures)

    def __call__(
        self, u: np.ndarray, node: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Residuals[W, block], their gradients[W, block, D] and utilities mu[W, T, n]."""
        order = np.argsort(node, kind="stable")  # so that each node has consecutive walkers
        back, node, q = np.argsort(order), node[order], self.likelihood.helmert
        flat = u.reshape(len(u), -1)[order]
        away = np.empty((self.likelihood.n_times, len(u), q.shape[1]))
        bent, gradient = np.empty_like(away), np.empty_like(flat)
        groups = self._groups(node)
        for mode, walkers in groups:
            away[:, walkers] = mode.spread(flat[walkers])
            bent[:, walkers] = away[:, walkers] @ mode.curvatures
        mu = (self._eta[:, node] + away) @ q.T
        values, slopes = self.likelihood.evaluate(mu, self.alpha[node])
        linear = self._gradients[:, node]
        residual = values - self._values[:, node]
        residual -= np.einsum("twd,twd->tw", linear - 0.5 * bent, away)
        rest = slopes @ q - linear + bent
        for mode, walkers in groups:
            gradient[walkers] = mode.spread_back(rest[:, walkers])
        by_block = residual.T.reshape(len(u), self.shape[0], -1).sum(axis=2)
        return by_block[back], gradient.reshape(u.shape)[back], mu.swapaxes(0, 1)[back]

    def _groups(self, node: np.ndarray) -> list[tuple[Mode, slice]]:
        """Each node that walkers are at, and which they are, in the order of their nodes."""
        starts = [0, *(np.flatnonzero(node[1:] != node[:-1]) + 1).tolist(), len(node)]
        return [(self.lattice.modes[node[i]], slice(i, k)) for i, k in pairwise(starts)]

    def draw_nodes(self, size: int, rng: np.random.Generator) -> np.ndarray:
        return rng.choice(len(self.lattice.weights), size, p=self.lattice.weights)

    def draw_start(self, size: int, rng: np.random.Generator) -> np.ndarray:
        return rng.standard_normal((size, *self.shape))

    def draw_hyper(self, node: np.ndarray, mu: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Log-hyperparameters[W, H]: those of the node, or kappa given the ratings."""
        if self._kappa is None:
            return np.asarray(self.lattice.log_hyper[node])
        return self._kappa.draw(mu, rng)[:, None]

    def whiten(self, eta: np.ndarray, node: np.ndarray) -> np.ndarray:
        """u[W, T, d] of functions eta[W, T, d], where times are independent given the node."""
        away = eta.swapaxes(0, 1) - self._eta[:, node]
        return np.asarray((self._lower[:, node] * away[..., None]).sum(axis=2).swapaxes(0, 1))


class KappaSettings:
    """Finely spaced settings of log kappa, from which it is drawn given the ratings."""

    def __init__(self, model: Model, nodes: np.ndarray) -> None:
        self._log_kappa = np.linspace(nodes[0], nodes[-1], SETTINGS_PER_NODE * len(nodes))
        latents = [model.latent(one) for one in self._log_kappa[:, None]]
        prior = [model.log_hyperprior(one) for one in self._log_kappa[:, None]]
        self._alpha = np.array([latent.dirichlet for latent in latents])
        self._log_density = np.array([latent.log_constant for latent in latents]) + prior

    def draw(self, mu: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Log kappa for each of the utilities mu[W, T, n]."""
        log_theta = mu - np.logaddexp.reduce(mu, axis=2, keepdims=True)
        found = self._log_density + np.multiply.outer(log_theta.sum(axis=(1, 2)), self._alpha)
        total = np.exp(found - found.max(axis=1, keepdims=True)).cumsum(axis=1)
        place = (total < rng.random((len(mu), 1)) * total[:, -1:]).sum(axis=1)
        step = self._log_kappa[1] - self._log_kappa[0]
        return np.asarray(self._log_kappa[place] + step * rng.uniform(-0.5, 0.5, len(mu)))


Target = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class WalkerState:
    """Positions u[W, block, D] with what their target returned there."""

    u: np.ndarray
    residual: np.ndarray
    gradient: np.ndarray
    mu: np.ndarray

    @classmethod
    def at(cls, u: np.ndarray, target: Target) -> WalkerState:
        return cls(u, *target(u))

    def where(self, accepted: np.ndarray, other: WalkerState) -> WalkerState:
        """The other one where it was accepted[W, block or 1]."""
        wide = accepted[:, :, None]
        return WalkerState(
            np.where(wide, other.u, self.u),
            np.where(accepted, other.residual, self.residual),
            np.where(wide, other.gradient, self.gradient),
            np.where(wide, other.mu, self.mu),
        )


def rotate(
    state: WalkerState, targets: Sequence[Target], rng: np.random.Generator
) -> tuple[WalkerState, np.ndarray, np.ndarray, int]:
    """One transition, with one step for each target; the last one is that of the result.

    Where targets differ, their order must be the same from the end as from the start. Returns
    also which were accepted, their probabilities of acceptance, and the number of divergences.
    """
    blocks = state.residual.shape
    momentum = rng.standard_normal(state.u.shape)
    angle = ROTATION / len(targets) * (1 + JITTER * rng.uniform(-1, 1, (*blocks, 1)))
    cosine, sine = np.cos(angle), np.sin(angle)
    before = state.residual - 0.5 * (squares(state.u) + squares(momentum))
    there = state
    for target in targets:
        momentum += 0.5 * angle * there.gradient
        u = cosine * there.u + sine * momentum
        momentum = cosine * momentum - sine * there.u
        there = WalkerState.at(u, target)
        momentum += 0.5 * angle * there.gradient
    after = there.residual - 0.5 * (squares(there.u) + squares(momentum))
    log_ratio = np.fmax(after - before, -np.inf)  # which replaces what is not a number
    chance = np.exp(np.minimum(log_ratio, 0.0))
    accepted = rng.random(blocks) < chance
    divergences = int((log_ratio < DIVERGED).sum())
    return state.where(accepted, there), accepted, chance, divergences


def squares(x: np.ndarray) -> np.ndarray:
    """Sums of squares over the last axis."""
    return np.asarray(np.einsum("...d,...d->...", x, x))


class Walkers:
    """Walkers with the draws[draw, walker, ...] that they recorded."""

    def __init__(
        self, target: NestedTarget, draws: int, size: int, rng: np.random.Generator
    ) -> None:
        self.target, self.rng, self.divergences = target, rng, 0
        self.node = target.draw_nodes(size, rng)
        self.state = WalkerState.at(target.draw_start(size, rng), partial(target, node=self.node))
        self.nodes = np.empty((draws, size), dtype=np.int64)
        self.log_hyper = np.empty((draws, size, target.lattice.log_hyper.shape[1]))
        self.theta = np.empty((draws, size, *target.likelihood.wins.shape))

    def run(self, effort: Effort) -> np.ndarray:
        """Find the number of steps, then record the draws; returns each block's acceptance."""
        for steps in STEPS:
            acceptance = np.mean([self.move(steps) for _ in range(effort.warm_up)], axis=0)
            if _worst_tenth(acceptance) >= effort.acceptance:
                break
        self.divergences = 0  # those of too few steps, which belong to no draw
        total = np.zeros_like(acceptance)
        for k in range(len(self.theta)):
            for _ in range(effort.thin):
                total += self.move(steps)
            self.theta[k], self.nodes[k] = softmax(self.state.mu), self.node
            self.log_hyper[k] = self.target.draw_hyper(self.node, self.state.mu, self.rng)
        return np.asarray(total / (len(self.theta) * effort.thin))

    def move(self, steps: int) -> np.ndarray:
        """One transition; returns the mean acceptance of each block."""
        if self.target.temporal:
            return self._move_together(steps)
        here = partial(self.target, node=self.node)
        self.state, _, chance, diverged = rotate(self.state, [here] * steps, self.rng)
        if len(self.target.alpha) == 1:
            self.divergences += diverged
        else:
            # Moves of kappa lead far into tails, from where rotations may be rejected for their
            # energy. These are no divergences: the density is log-concave of bounded curvature.
            # To another node, drawn by its weight, with the same whitened coefficients: this mixes
            # well where data determine the ratings.
            proposed = self.target.draw_nodes(len(self.node), self.rng)
            self._jump(proposed, self.state.u, np.zeros(len(proposed)))
            self._scale_ratings()
        return np.asarray(chance.mean(axis=0))

    def _move_together(self, steps: int) -> np.ndarray:
        """Coefficients and node: the trajectory begins at the one node and ends at another, drawn
        by its weight; the middle, if there is one, is at the lower of the two."""
        proposed = self.target.draw_nodes(len(self.node), self.rng)
        middle = np.minimum(self.node, proposed)
        nodes = [
            self.node if 2 * k < steps else middle if 2 * k == steps else proposed
            for k in range(1, steps + 1)
        ]
        targets = [partial(self.target, node=node) for node in nodes]
        self.state, accepted, chance, diverged = rotate(self.state, targets, self.rng)
        self.node = np.where(accepted[:, 0], proposed, self.node)
        self.divergences += diverged
        return np.asarray(chance.mean(axis=0))

    def _scale_ratings(self) -> None:
        """To a node nearby, with log-ratios of ratings scaled by one over kappa.

        This mixes well where kappa is small: log-ratios then have exponential tails of that scale.
        """
        target, rng, last = self.target, self.rng, len(self.target.alpha) - 1
        wanted = self.node + rng.choice(NODE_STEPS, len(self.node))
        proposed = np.clip(wanted, 0, last)
        log_scale = np.log(target.alpha[self.node] / target.alpha[proposed])
        eta = self.state.mu @ target.likelihood.helmert * np.exp(log_scale)[:, None, None]
        log_ratio = target.log_heights[proposed] - target.log_heights[self.node]
        log_ratio += log_scale * eta[0].size  # the Jacobian
        log_ratio[wanted != proposed] = -np.inf
        self._jump(proposed, target.whiten(eta, proposed), log_ratio)

    def _jump(self, proposed: np.ndarray, u: np.ndarray, log_ratio: np.ndarray) -> None:
        """Metropolis's rule for another node and u; the ratio is that of everything but u."""

        def log_density(state: WalkerState, node: np.ndarray) -> np.ndarray:
            inside = (state.residual - 0.5 * squares(state.u)).sum(axis=1)
            return np.asarray(inside - self.target.corrections[node])

        there = WalkerState.at(u, partial(self.target, node=proposed))
        gain = log_density(there, proposed) - log_density(self.state, self.node) + log_ratio
        accepted = np.log(self.rng.random(len(gain))) < gain
        self.state = self.state.where(accepted[:, None], there)
        self.node = np.where(accepted, proposed, self.node)


def _worst_tenth(acceptance: np.ndarray) -> float:
    """The mean of the lowest tenth."""
    return float(np.sort(acceptance)[: max(1, len(acceptance) // 10)].mean())


def sample(
    model: Model, likelihood: Likelihood, seed: Sequence[int], effort: Effort, threads: Threads
) -> Draws:
    """Exact draws; chains are divided over a fixed number of tasks with their random numbers.

    A chain is the draws of several walkers, one walker after the other.
    """
    lattice = explore(model, likelihood, effort.spacing, effort.min_weight, threads)
    target, chains = NestedTarget(model, likelihood, lattice), model.options.chains
    a_chain = draws_a_chain(model.options.draws, chains)
    most = min(MAX_WALKERS_PER_CHAIN, max(1, a_chain // DRAWS_PER_WALKER))
    walkers_a_chain = max(k for k in range(1, most + 1) if a_chain % k == 0)
    tasks = TASKS if model.hyperparameters else 1  # other models are sampled in groups of times

    def run_task(task: int) -> tuple[Walkers, float]:
        size = walkers_a_chain * (chains // tasks + (task < chains % tasks))
        rng = np.random.default_rng([*seed, task])
        walkers = Walkers(target, a_chain // walkers_a_chain, size, rng)
        return walkers, _worst_tenth(walkers.run(effort))

    all_walkers, acceptance = zip(*in_threads(run_task, range(tasks), threads), strict=True)
    theta, nodes, log_hyper = (
        np.concatenate([getattr(one, name).swapaxes(0, 1) for one in all_walkers])
        for name in ("theta", "nodes", "log_hyper")
    )
    return Draws(
        theta.reshape(-1, *likelihood.wins.shape),
        np.exp(log_hyper.reshape(nodes.size, log_hyper.shape[2])),
        divergences=sum(one.divergences for one in all_walkers),
        acceptance=min(acceptance),
        missed=lattice.missed(nodes.ravel()),
    )


def draw_approximation(
    model: Model, likelihood: Likelihood, seed: Sequence[int], effort: Effort, threads: Threads
) -> Draws:
    """Independent draws from the nested Laplace approximation, with their importance weights."""
    lattice = explore(model, likelihood, effort.spacing, effort.min_weight, threads)
    target, chains = NestedTarget(model, likelihood, lattice), model.options.chains
    size = chains * draws_a_chain(model.options.draws, chains)
    rng = np.random.default_rng(seed)
    visited = target.draw_nodes(size, rng)
    theta = np.empty((size, *likelihood.wins.shape))
    log_weights = np.empty((size, target.shape[0]))
    stride = max(1, MAX_BLOCK // likelihood.wins.size)
    for first in range(0, size, stride):
        some = slice(first, first + stride)
        node = visited[some]
        log_weights[some], _, mu = target(target.draw_start(len(node), rng), node)
        theta[some] = softmax(mu)
    if model.hyperparameters:  # otherwise weights of different times are never combined
        log_weights = log_weights.sum(axis=1, keepdims=True) - target.corrections[visited, None]
    hyper, missed = np.exp(lattice.log_hyper[visited]), lattice.missed(visited)
    return Draws(theta, hyper, log_weights=tuple(log_weights.T), missed=missed)
