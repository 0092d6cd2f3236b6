"""The newcomer under a Gaussian prior over time, by nodes: draws with the same hyperparameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from polarbear.inference.chains import Effort
from polarbear.inference.models import Latent
from polarbear.inference.newcomer.chains import Band, NewcomerChains
from polarbear.inference.newcomer.gaussian import Shared, prior_factor, share
from polarbear.inference.newcomer.placement import Placement
from polarbear.numerics.threads import in_threads, single_threaded_blas

DISPERSION = (0.5, 1.5)  # of where chains begin, from the posterior's first chain to its last
_NUMBERS_AT_A_TIME = 100_000  # sums of sets held at once, which is a matter of speed alone


@dataclass(frozen=True)
class Others:
    """Draws of the others: log-ratings mu[T, D, m] that average zero, and which chain and which
    setting of the hyperparameters each draw belongs to."""

    mu: np.ndarray
    chain: np.ndarray
    node: np.ndarray


@dataclass(frozen=True)
class Settled:
    """x[T, D] at the end of each draw's chain, and how the chains fared."""

    x: np.ndarray
    acceptance: np.ndarray
    divergences: int


def draw_smooth(
    placement: Placement,
    others: Others,
    latent: Callable[[int], Latent],
    seed: list[int],
    effort: Effort,
    threads: int | None = None,
) -> Settled:
    """x[T, D] = mu_new - mean(mu_old); ``latent`` gives the prior at a node."""
    n_times, n_draws, m = others.mu.shape
    dispersion = np.linspace(*DISPERSION, others.chain[-1] + 1)[others.chain]
    batch = max(1, _NUMBERS_AT_A_TIME // (n_times * placement.counts.shape[1]))
    start = np.zeros(n_times)
    x, acceptance = np.empty((n_times, n_draws)), np.empty(n_draws)

    def shared_by(node: int, draws: np.ndarray) -> Shared:
        typical = np.exp(others.mu[:, draws].mean(axis=1, keepdims=True))
        return share(prior_factor(latent(node), m), placement.among(typical), start)

    def run(node: int) -> int:
        draws = np.flatnonzero(others.node == node)
        shared = shared_by(node, draws)
        band = Band(latent(node), m, shared.curvature)
        rng = np.random.default_rng([*seed, node])
        divergences = 0
        for first in range(0, len(draws), batch):
            some = draws[first : first + batch]
            likelihood = placement.among(np.exp(others.mu[:, some]))
            chains = NewcomerChains(shared, band, likelihood, dispersion[some], rng)
            fared = chains.run(effort, draws=1)
            x[:, some], acceptance[some] = chains.x, fared.acceptance
            divergences += fared.divergences
        return divergences

    visits = np.bincount(others.node)
    with single_threaded_blas():
        # where one typical draw has its mode, the Newton steps for all nodes begin
        start = shared_by(int(np.argmax(visits)), np.arange(n_draws)).pull
        divergences = sum(in_threads(run, range(len(visits)), threads))
    return Settled(x, acceptance, divergences)
