"""Exact sampling of few algorithms' ratings, with kicks that cost next to nothing.

As in `independent`, but the gradient is that of the density's expansion around its mode, up to
third derivatives. Any kicks that hang on nothing but where a walker is lead to the exact posterior,
since a turn is accepted by its exact energy; and nearly Gaussian as the density is, these are
hardly worse than its own. The sums of all sets, and their logarithms, are then needed but once a
transition, where it ends, and nothing has to go back through them. Far out in a tail, where an
expansion is good for nothing, its gradient is that of a place nearer by.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polarbear.inference.loops.fastmath import fast_exp, table_log
from polarbear.inference.loops.likelihood import LOWEST, ONE
from polarbear.inference.loops.split_hmc import Noise, Walkers, evaluate
from polarbear.inference.loops.walking import walk
from polarbear.numerics.compiling import kernel, loop_for

FURTHEST = 3.0  # beyond so many standard deviations a coordinate is taken to be there for kicks


class Bent(NamedTuple):
    """The target at T times, one a chain: what `independent.Ratings` has, and bend[T, d, pair].

    The expansion's gradient is the sum over pairs of coordinates, (0, 0), (1, 0), (1, 1), (2, 0),
    ..., of their product times ``bend``; products[pair] and sums[most sets + n] are scratch.
    """

    centre: np.ndarray
    spread: np.ndarray
    wins: np.ndarray
    offsets: np.ndarray
    left: np.ndarray
    right: np.ndarray
    counts: np.ndarray
    bend: np.ndarray
    products: np.ndarray
    sums: np.ndarray


@loop_for(evaluate, Bent)
def _evaluate_bent(target, walkers, valued):
    """What is seen of u are the ratings, the best one's being 1; seen only where it is valued."""
    centre, spread, wins, offsets = target.centre, target.spread, target.wins, target.offsets
    left, right, counts = target.left, target.right, target.counts
    bend, products, sums = target.bend, target.products, target.sums
    u, kick, residual, seen = walkers.u, walkers.kick, walkers.residual, walkers.seen
    n_times, n, d = spread.shape
    base = len(sums) - n
    for t in range(n_times):
        pairs = np.uint64(0)
        for r in range(d):
            one = min(max(u[t, r], -FURTHEST), FURTHEST)
            for v in range(r + 1):
                products[pairs] = one * min(max(u[t, v], -FURTHEST), FURTHEST)
                pairs += ONE
        for q in range(d):
            slope = 0.0
            for k in range(pairs):
                slope += bend[t, q, k] * products[k]
            kick[t, q] = slope
        if not valued:
            continue
        first = offsets[t]
        m = offsets[t + 1] - first
        top = -np.inf
        for i in range(n):
            mu = centre[t, i]
            for q in range(d):
                mu += spread[t, i, q] * u[t, q]
            sums[base + i] = mu
            top = max(top, mu)
        value = 0.0
        for i in range(n):
            mu = sums[base + i] - top
            sums[base + i] = fast_exp(max(mu, LOWEST))
            seen[t, 0, i] = sums[base + i]
            value += wins[t, i] * mu
        for s in range(m):
            sums[s] = sums[left[first + s]] + sums[right[first + s]]
        for s in range(m):
            value -= counts[first + s] * table_log(sums[s])
        for q in range(d):
            value += 0.5 * u[t, q] * u[t, q]
        residual[t, 0] = value


@kernel
def advance_bent(
    centre, spread, wins, offsets, left, right, counts, bend, products, sums,
    u, kick, residual, seen, node, momenta, angles, uniforms, n_steps, thin, theta, accepted,
):  # fmt: skip
    """Fill theta[draw, T, n], draws ``thin`` transitions apart; returns divergences.

    The arrays of `Bent`, of `Walkers` and of `Noise`, as in `independent.advance`.
    """
    target = Bent(centre, spread, wins, offsets, left, right, counts, bend, products, sums)
    walkers = Walkers(u, kick, residual, seen, node)
    return walk(target, walkers, Noise(momenta, angles, uniforms), n_steps, thin, theta, accepted)
