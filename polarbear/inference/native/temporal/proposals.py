"""Draws of a lattice of Laplace approximations, and exact ones made of them by Metropolis's rule.

Random numbers go by a draw's node and its number there, so that draws depend on the seed alone and
not on how many threads share the work.
"""

from __future__ import annotations

import math

import numpy as np

from polarbear.inference.base import draws_a_chain
from polarbear.inference.chains import BATCH_NUMBERS, Effort
from polarbear.inference.diagnostics import MAX_PARETO_K, pareto_k
from polarbear.inference.loops.abreast import Approximation, draw_abreast
from polarbear.inference.loops.likelihood import SetSums
from polarbear.inference.native.attempt import Draws
from polarbear.inference.native.nested import Lattice
from polarbear.numerics.threads import in_threads

MOST_ABREAST = 64  # draws of one node; with more, what they share would leave the nearest memory
ENOUGH = 0.95  # of draws accepted: with fewer, chains that walk know more about tails
_PROPOSING, _ACCEPTING = 1, 2  # what random numbers are for; those of chains that walk end in 0


def draw_approximation(
    sets: SetSums, lattice: Lattice, draws: int, chains: int, seed: int, threads: int | None = None
) -> Draws:
    """Independent draws from the nested Laplace approximation, with their importance weights."""
    count = chains * draws_a_chain(draws, chains)
    theta, visited, log_weights = _propose(sets, lattice, count, seed, threads)
    return Draws(theta, visited, log_weights=log_weights[:, None])


def accept_approximation(
    sets: SetSums,
    lattice: Lattice,
    draws: int,
    chains: int,
    seed: int,
    effort: Effort,
    threads: int | None = None,
) -> Draws | None:
    """Exact draws: a chain goes to the approximation's next draw, or stays where it is.

    None where chains would stay too often, or for long: where the approximation is not good enough.
    """
    a_chain = draws_a_chain(draws, chains)
    size, warm_up = chains * a_chain, effort.warm_up
    count = size + chains * warm_up
    theta, visited, log_weights = _propose(sets, lattice, count, seed, threads)
    if not pareto_k(log_weights) < MAX_PARETO_K:
        return None
    kept, before = np.split(np.arange(count), [size])  # in this order no copy is needed in the end
    orders = np.hstack([before.reshape(chains, -1), kept.reshape(chains, -1)])
    worst = 1.0
    for chain, order in enumerate(orders):
        rng = np.random.default_rng([seed, chain, 0, _ACCEPTING])
        source, acceptance = metropolis(log_weights[order], rng.random(count // chains))
        worst = min(worst, float(acceptance[warm_up:].mean()))
        refused = np.flatnonzero(source != np.arange(len(source)))
        for k in refused[refused >= warm_up]:
            theta[order[k]] = theta[order[source[k]]]
            visited[order[k]] = visited[order[source[k]]]
    if worst < max(ENOUGH, effort.acceptance):
        return None
    return Draws(theta[:size], visited[:size], acceptance=worst)


def metropolis(log_weights: np.ndarray, uniforms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of independent proposals, in their order: the one that a chain is at after each, and how
    probable it was that it would go there."""
    source, acceptance = np.empty(len(log_weights), dtype=np.int64), np.empty(len(log_weights))
    here, weight = 0, -math.inf
    for k, (proposed, uniform) in enumerate(
        zip(log_weights.tolist(), uniforms.tolist(), strict=True)
    ):
        acceptance[k] = math.exp(min(proposed - weight, 0.0))
        if uniform < acceptance[k]:
            here, weight = k, proposed
        source[k] = here
    return source, acceptance


def _propose(
    sets: SetSums, lattice: Lattice, count: int, seed: int, threads: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """theta[draw, T, n], the node of each draw, and its log importance weight."""
    theta, log_weights = np.empty((count, *sets.wins.shape)), np.empty(count)
    rng = np.random.default_rng([seed, 0, 0, _PROPOSING])
    visited = rng.choice(len(lattice.weights), count, p=lattice.weights)
    nodes = [
        Approximation(
            m.lower, m.latent.starts.astype(np.int64), m.latent.weights,
            m.eta, m.values, m.gradients, m.curvatures,
        )
        for m in lattice.modes
    ]  # fmt: skip
    size = len(nodes[0].lower)
    abreast = min(MOST_ABREAST, max(1, BATCH_NUMBERS // size))

    def run(task: tuple[int, int, np.ndarray]) -> None:
        node, number, places = task
        rng = np.random.default_rng([seed, node, number, _PROPOSING])
        x = rng.standard_normal((size, len(places)))
        draw_abreast(sets, nodes[node], x, places, theta, log_weights)

    tasks = []
    for node in range(len(nodes)):
        places = np.flatnonzero(visited == node)
        parts = np.split(places, range(abreast, len(places), abreast))
        tasks += [(node, number, part) for number, part in enumerate(parts, 1) if len(part)]
    in_threads(run, tasks, threads)
    return theta, visited, log_weights
