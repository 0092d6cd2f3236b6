"""Split Hamiltonian Monte Carlo: Laplace proposals, corrected by Metropolis's rule.

In whitened coordinates the target is N(u; 0, I) exp(residual(u)). The Gaussian part is rotated
exactly; the residual, all that the Laplace approximation misses, acts through kicks (Shahbaba,
Lan, Johnson and Neal 2014). Many walkers move in parallel, so that NumPy does the work.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from polarbear.inference.posterior_draws import draws_a_chain

ROTATION = 1.6  # radians per transition: a quarter circle forgets where it began
JITTER = 0.15  # relative, of that: no transition may return to its start for ever
STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)  # per transition; one, where nearly Gaussian
DRAWS_PER_WALKER = 100
MAX_WALKERS_PER_CHAIN = 64
DIVERGED = -1000.0  # log-ratio of densities

# residual[...], its gradient[..., D] and the utilities mu[..., n] or mu[..., T, n] at u[..., D]
Target = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Draws:
    """theta[draw, T, n], chain after chain, with log_hyper[draw, H] and how the sampler fared.

    ``log_weights[draw, block]`` are those of importance sampling, for approximate draws only.
    ``missed`` is the share of draws that shows hyperparameters beyond the lattice.
    """

    theta: np.ndarray
    log_hyper: np.ndarray
    divergences: int = 0
    acceptance: float | None = None
    log_weights: np.ndarray | None = None
    missed: float = 0.0


@dataclass(frozen=True)
class Effort:
    """Warm-up transitions for each number of steps that is tried, the acceptance that it must
    reach, and transitions per draw."""

    warm_up: int
    acceptance: float
    thin: int


@dataclass(frozen=True)
class Walkers:
    """Positions u[..., D] with what their target returned there."""

    u: np.ndarray
    residual: np.ndarray
    gradient: np.ndarray
    mu: np.ndarray

    @classmethod
    def at(cls, u: np.ndarray, target: Target) -> Walkers:
        return cls(u, *target(u))

    def where(self, accepted: np.ndarray, other: Walkers) -> Walkers:
        """The other ones where they were accepted."""
        pairs = (
            (self.u, other.u),
            (self.residual, other.residual),
            (self.gradient, other.gradient),
            (self.mu, other.mu),
        )
        shape = accepted.shape
        return Walkers(
            *(
                np.where(accepted.reshape(*shape, *(1,) * (old.ndim - len(shape))), new, old)
                for old, new in pairs
            )
        )


def rotate(
    walkers: Walkers, targets: Sequence[Target], rng: np.random.Generator
) -> tuple[Walkers, np.ndarray, np.ndarray, int]:
    """One transition, with one step for each target; the last one is that of the result.

    Where targets differ, their order must be the same from the end as from the start. Returns
    also which were accepted, their probabilities of acceptance, and the number of divergences.
    """
    blocks = walkers.residual.shape
    momentum = rng.standard_normal(walkers.u.shape)
    angle = ROTATION / len(targets) * (1 + JITTER * rng.uniform(-1, 1, (*blocks, 1)))
    cosine, sine = np.cos(angle), np.sin(angle)
    before = walkers.residual - 0.5 * ((walkers.u**2).sum(axis=-1) + (momentum**2).sum(axis=-1))
    there = walkers
    for target in targets:
        momentum += 0.5 * angle * there.gradient
        u = cosine * there.u + sine * momentum
        momentum = cosine * momentum - sine * there.u
        there = Walkers.at(u, target)
        momentum += 0.5 * angle * there.gradient
    after = there.residual - 0.5 * ((there.u**2).sum(axis=-1) + (momentum**2).sum(axis=-1))
    log_ratio = np.nan_to_num(after - before, nan=-np.inf)
    chance = np.exp(np.minimum(log_ratio, 0.0))
    accepted = rng.random(blocks) < chance
    divergences = int((log_ratio < DIVERGED).sum())
    return walkers.where(accepted, there), accepted, chance, divergences


@dataclass(frozen=True)
class Layout:
    """How draws are divided: each chain is the concatenation of several walkers' draws."""

    chains: int
    walkers_per_chain: int
    draws_per_chain: int

    @classmethod
    def of(cls, draws: int, chains: int) -> Layout:
        a_chain = draws_a_chain(draws, chains)
        walkers = min(MAX_WALKERS_PER_CHAIN, max(1, a_chain // DRAWS_PER_WALKER))
        return cls(chains, walkers, a_chain)

    @property
    def walkers(self) -> int:
        return self.chains * self.walkers_per_chain

    @property
    def draws_per_walker(self) -> int:
        return math.ceil(self.draws_per_chain / self.walkers_per_chain)

    def arrange(self, draws: np.ndarray) -> np.ndarray:
        """Draws[draw, ...], chain after chain, of the walkers' draws[draw, walker, ...]."""
        rest = draws.shape[2:]
        by_chain = draws.swapaxes(0, 1).reshape(self.chains, -1, *rest)
        return by_chain[:, : self.draws_per_chain].reshape(-1, *rest)


def run(
    move: Callable[[int], np.ndarray], record: Callable[[int], None], draws: int, effort: Effort
) -> np.ndarray:
    """Find the number of steps, then record the draws; returns mean acceptances.

    ``move(steps)`` makes one transition and returns the acceptance of each block.
    """
    for steps in STEPS:
        acceptance = np.mean([move(steps) for _ in range(effort.warm_up)], axis=0)
        if worst_tenth(acceptance) >= effort.acceptance:
            break
    total = np.zeros_like(acceptance)
    for k in range(draws):
        for _ in range(effort.thin):
            total += move(steps)
        record(k)
    return np.asarray(total / (draws * effort.thin))


def worst_tenth(acceptance: np.ndarray) -> float:
    """The mean of the lowest tenth."""
    return float(np.sort(acceptance)[: max(1, len(acceptance) // 10)].mean())
