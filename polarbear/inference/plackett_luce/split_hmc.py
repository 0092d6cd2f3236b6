"""Split Hamiltonian Monte Carlo: nested Laplace proposals, corrected by Metropolis's rule.

The state of a walker is a node of the lattice of hyperparameters and whitened coefficients u. The
target density of this state is weight_node N(u; 0, I) exp(residual_node(u)). The trajectory of the
Gaussian part is a rotation, which is computed exactly. The residual contains all that the Laplace
approximation misses; its gradient changes the momentum before and after each rotation (Shahbaba,
Lan, Johnson and Neal 2014). Many walkers move in parallel, so that NumPy does the work.

Coefficients are divided into blocks that are accepted separately. Where times are independent given
the hyperparameters, there is one block for each time; otherwise there is one block in all.
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

# The angle of a transition in radians: after a quarter circle, a Gaussian forgets its start.
ROTATION = 1.6
# The relative range in which the angle is drawn. A fixed angle could lead back to the start again
# and again.
JITTER = 0.15
# Numbers of steps per transition that are tried; one is enough where the target is nearly Gaussian.
STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
DRAWS_PER_WALKER = 50
MAX_WALKERS_PER_CHAIN = 64
DIVERGED = -1000.0  # log-ratio of densities below which a transition counts as diverged
N_TASKS = 2  # tasks of threads; more walkers in one task are faster in total
MAX_BLOCK = 2**22  # utilities of approximate draws at once, which bounds memory
NODE_STEPS = (-3, -2, -1, 1, 2, 3)  # proposed changes of the node, with ratings scaled by kappa
SETTINGS_PER_NODE = 50  # settings of kappa per node, from which it is drawn given the ratings


@dataclass(frozen=True)
class Effort:
    """The work of an attempt; a second attempt takes more.

    ``warm_up`` is the number of transitions for each number of steps that is tried, ``acceptance``
    the probability of acceptance that it must reach, ``thin`` the number of transitions per draw.
    The ``spacing`` of hyperparameter nodes is in standard deviations, their ``min_weight`` is
    relative to the heaviest node. NUTS has its tuning transitions and its target acceptance.
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
        self.likelihood = likelihood
        self.lattice = lattice
        modes = lattice.modes
        self.concentrations = np.array([mode.latent.dirichlet for mode in modes])
        self.corrections = np.array([mode.correction for mode in modes])
        n_blocks = 1 if model.temporal else likelihood.n_times
        self.shape = (n_blocks, len(modes[0].x) // n_blocks)
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
        # Walkers are sorted, so that those at one node are consecutive, and unsorted at the end.
        order = np.argsort(node, kind="stable")
        unsorted = np.argsort(order)
        node = node[order]
        flat = u.reshape(len(u), -1)[order]
        q = self.likelihood.helmert
        deviation = np.empty((self.likelihood.n_times, len(u), q.shape[1]))
        pull = np.empty_like(deviation)  # the curvature times the deviation
        groups = self._groups(node)
        for mode, walkers in groups:
            deviation[:, walkers] = mode.spread(flat[walkers])
            pull[:, walkers] = deviation[:, walkers] @ mode.curvatures
        mu = (self._eta[:, node] + deviation) @ q.T
        values, slopes = self.likelihood.evaluate(mu, self.concentrations[node])
        linear = self._gradients[:, node]
        residual = values - self._values[:, node]
        residual -= np.einsum("twd,twd->tw", linear - 0.5 * pull, deviation)
        residual_slopes = slopes @ q - linear + pull
        gradient = np.empty_like(flat)
        for mode, walkers in groups:
            gradient[walkers] = mode.spread_back(residual_slopes[:, walkers])
        by_block = residual.T.reshape(len(u), self.shape[0], -1).sum(axis=2)
        return (
            by_block[unsorted],
            gradient.reshape(u.shape)[unsorted],
            mu.swapaxes(0, 1)[unsorted],
        )

    def _groups(self, node: np.ndarray) -> list[tuple[Mode, slice]]:
        """The modes of the nodes at which walkers are, each with the slice of its walkers."""
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
        deviation = eta.swapaxes(0, 1) - self._eta[:, node]
        return np.asarray((self._lower[:, node] * deviation[..., None]).sum(axis=2).swapaxes(0, 1))


class KappaSettings:
    """Finely spaced settings of log kappa, from which it is drawn given the ratings."""

    def __init__(self, model: Model, nodes: np.ndarray) -> None:
        self._log_kappa = np.linspace(nodes[0], nodes[-1], SETTINGS_PER_NODE * len(nodes))
        latents = [model.latent(log_hyper) for log_hyper in self._log_kappa[:, None]]
        log_prior = [model.log_hyperprior(log_hyper) for log_hyper in self._log_kappa[:, None]]
        self._concentrations = np.array([latent.dirichlet for latent in latents])
        self._log_density = np.array([latent.log_constant for latent in latents]) + log_prior

    def draw(self, mu: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Log kappa for each of the utilities mu[W, T, n]."""
        log_theta = mu - np.logaddexp.reduce(mu, axis=2, keepdims=True)
        log_likelihood = np.multiply.outer(log_theta.sum(axis=(1, 2)), self._concentrations)
        log_density = self._log_density + log_likelihood
        total = np.exp(log_density - log_density.max(axis=1, keepdims=True)).cumsum(axis=1)
        setting = (total < rng.random((len(mu), 1)) * total[:, -1:]).sum(axis=1)
        step = self._log_kappa[1] - self._log_kappa[0]
        return np.asarray(self._log_kappa[setting] + step * rng.uniform(-0.5, 0.5, len(mu)))


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
        """The other state where it was accepted[W, block or 1], and this one elsewhere."""
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
    """One transition, with one step for each target; its end is evaluated by the last target.

    Where targets differ, their order must be the same from the end as from the start, so that the
    transition is reversible. Returns also which blocks were accepted, their probabilities of
    acceptance, and the number of divergences.
    """
    blocks = state.residual.shape
    momentum = rng.standard_normal(state.u.shape)
    angle = ROTATION / len(targets) * (1 + JITTER * rng.uniform(-1, 1, (*blocks, 1)))
    cosine = np.cos(angle)
    sine = np.sin(angle)
    log_density = state.residual - 0.5 * (squares(state.u) + squares(momentum))
    end = state
    for target in targets:
        momentum += 0.5 * angle * end.gradient
        u = cosine * end.u + sine * momentum
        momentum = cosine * momentum - sine * end.u
        end = WalkerState.at(u, target)
        momentum += 0.5 * angle * end.gradient
    log_density_at_end = end.residual - 0.5 * (squares(end.u) + squares(momentum))
    # A ratio that is not a number becomes minus infinity, and the transition is rejected.
    log_ratio = np.fmax(log_density_at_end - log_density, -np.inf)
    p_accept = np.exp(np.minimum(log_ratio, 0.0))
    accepted = rng.random(blocks) < p_accept
    divergences = int((log_ratio < DIVERGED).sum())
    return state.where(accepted, end), accepted, p_accept, divergences


def squares(x: np.ndarray) -> np.ndarray:
    """Sums of squares over the last axis."""
    return np.asarray(np.einsum("...d,...d->...", x, x))


class Walkers:
    """Walkers with the draws[draw, walker, ...] that they recorded."""

    def __init__(
        self, target: NestedTarget, draws: int, size: int, rng: np.random.Generator
    ) -> None:
        self.target = target
        self.rng = rng
        self.divergences = 0
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
        self.divergences = 0  # earlier ones were due to too few steps, and belong to no draw
        total = np.zeros_like(acceptance)
        for k in range(len(self.theta)):
            for _ in range(effort.thin):
                total += self.move(steps)
            self.theta[k] = softmax(self.state.mu)
            self.nodes[k] = self.node
            self.log_hyper[k] = self.target.draw_hyper(self.node, self.state.mu, self.rng)
        return np.asarray(total / (len(self.theta) * effort.thin))

    def move(self, steps: int) -> np.ndarray:
        """One transition; returns the mean acceptance of each block."""
        if self.target.temporal:
            return self._move_together(steps)
        at_node = partial(self.target, node=self.node)
        self.state, _, p_accept, diverged = rotate(self.state, [at_node] * steps, self.rng)
        if len(self.target.concentrations) == 1:
            self.divergences += diverged
        else:
            # Moves of kappa lead far into tails, from where rotations may be rejected for their
            # energy. These are no divergences: the density is log-concave of bounded curvature.
            self._change_node()
            self._scale_ratings()
        return np.asarray(p_accept.mean(axis=0))

    def _move_together(self, steps: int) -> np.ndarray:
        """One transition of coefficients and node, where they are accepted together.

        The trajectory begins at the present node and ends at another one, which is drawn by its
        weight. With an even number of steps, the middle one is at the lower of the two nodes, so
        that the order of nodes is the same in both directions.
        """
        proposed = self.target.draw_nodes(len(self.node), self.rng)
        first_half = [self.node] * ((steps - 1) // 2)
        middle = [np.minimum(self.node, proposed)] if steps % 2 == 0 else []
        second_half = [proposed] * (steps - len(first_half) - len(middle))
        nodes = first_half + middle + second_half
        targets = [partial(self.target, node=node) for node in nodes]
        self.state, accepted, p_accept, diverged = rotate(self.state, targets, self.rng)
        self.node = np.where(accepted[:, 0], proposed, self.node)
        self.divergences += diverged
        return np.asarray(p_accept.mean(axis=0))

    def _change_node(self) -> None:
        """Move to another node, drawn by its weight, with the same whitened coefficients.

        This mixes well where data determine the ratings.
        """
        proposed = self.target.draw_nodes(len(self.node), self.rng)
        self._jump(proposed, self.state.u, np.zeros(len(proposed)))

    def _scale_ratings(self) -> None:
        """Move to a node nearby, with log-ratios of ratings scaled by one over kappa.

        This mixes well where kappa is small: log-ratios then have exponential tails of that scale.
        """
        target = self.target
        unclipped = self.node + self.rng.choice(NODE_STEPS, len(self.node))
        proposed = np.clip(unclipped, 0, len(target.concentrations) - 1)
        log_scale = np.log(target.concentrations[self.node] / target.concentrations[proposed])
        eta = self.state.mu @ target.likelihood.helmert * np.exp(log_scale)[:, None, None]
        log_ratio = target.log_heights[proposed] - target.log_heights[self.node]
        log_ratio += log_scale * eta[0].size  # the Jacobian
        log_ratio[unclipped != proposed] = -np.inf  # these nodes do not exist
        self._jump(proposed, target.whiten(eta, proposed), log_ratio)

    def _jump(self, proposed: np.ndarray, u: np.ndarray, log_ratio: np.ndarray) -> None:
        """Move to another node and u by Metropolis's rule.

        ``log_ratio`` is the ratio of all factors of the density that do not depend on u.
        """

        def log_density(state: WalkerState, node: np.ndarray) -> np.ndarray:
            of_coefficients = (state.residual - 0.5 * squares(state.u)).sum(axis=1)
            return np.asarray(of_coefficients - self.target.corrections[node])

        jumped = WalkerState.at(u, partial(self.target, node=proposed))
        gain = log_density(jumped, proposed) - log_density(self.state, self.node) + log_ratio
        accepted = np.log(self.rng.random(len(gain))) < gain
        self.state = self.state.where(accepted[:, None], jumped)
        self.node = np.where(accepted, proposed, self.node)


def _worst_tenth(acceptance: np.ndarray) -> float:
    """The mean of the lowest tenth of the blocks."""
    return float(np.sort(acceptance)[: max(1, len(acceptance) // 10)].mean())


def sample(
    model: Model, likelihood: Likelihood, seed: Sequence[int], effort: Effort, threads: Threads
) -> Draws:
    """Exact draws; chains are divided over a fixed number of tasks with their random numbers.

    A chain is the draws of several walkers, one walker after the other.
    """
    lattice = explore(model, likelihood, effort.spacing, effort.min_weight, threads)
    target = NestedTarget(model, likelihood, lattice)
    chains = model.options.chains
    draws_per_chain = draws_a_chain(model.options.draws, chains)
    most = min(MAX_WALKERS_PER_CHAIN, max(1, draws_per_chain // DRAWS_PER_WALKER))
    walkers_per_chain = max(k for k in range(1, most + 1) if draws_per_chain % k == 0)
    # Models without hyperparameters are sampled in groups of times, which are tasks themselves.
    n_tasks = N_TASKS if model.hyperparameters else 1

    def run_task(task: int) -> tuple[Walkers, float]:
        size = walkers_per_chain * (chains // n_tasks + (task < chains % n_tasks))
        rng = np.random.default_rng([*seed, task])
        walkers = Walkers(target, draws_per_chain // walkers_per_chain, size, rng)
        return walkers, _worst_tenth(walkers.run(effort))

    all_walkers, acceptance = zip(*in_threads(run_task, range(n_tasks), threads), strict=True)
    theta = np.concatenate([walkers.theta.swapaxes(0, 1) for walkers in all_walkers])
    nodes = np.concatenate([walkers.nodes.swapaxes(0, 1) for walkers in all_walkers])
    log_hyper = np.concatenate([walkers.log_hyper.swapaxes(0, 1) for walkers in all_walkers])
    return Draws(
        theta.reshape(-1, *likelihood.wins.shape),
        np.exp(log_hyper.reshape(nodes.size, log_hyper.shape[2])),
        divergences=sum(walkers.divergences for walkers in all_walkers),
        acceptance=min(acceptance),
        missed=lattice.missed(nodes.ravel()),
    )


def draw_approximation(
    model: Model, likelihood: Likelihood, seed: Sequence[int], effort: Effort, threads: Threads
) -> Draws:
    """Independent draws from the nested Laplace approximation, with their importance weights."""
    lattice = explore(model, likelihood, effort.spacing, effort.min_weight, threads)
    target = NestedTarget(model, likelihood, lattice)
    chains = model.options.chains
    size = chains * draws_a_chain(model.options.draws, chains)
    rng = np.random.default_rng(seed)
    visited = target.draw_nodes(size, rng)
    theta = np.empty((size, *likelihood.wins.shape))
    log_weights = np.empty((size, target.shape[0]))
    stride = max(1, MAX_BLOCK // likelihood.wins.size)
    for first in range(0, size, stride):
        block = slice(first, first + stride)
        node = visited[block]
        log_weights[block], _, mu = target(target.draw_start(len(node), rng), node)
        theta[block] = softmax(mu)
    if model.hyperparameters:  # otherwise weights of different times are never combined
        log_weights = log_weights.sum(axis=1, keepdims=True) - target.corrections[visited, None]
    return Draws(
        theta,
        np.exp(lattice.log_hyper[visited]),
        log_weights=tuple(log_weights.T),
        missed=lattice.missed(visited),
    )
