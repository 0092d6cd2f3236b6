"""Exact sampling of many algorithms' ratings by kicks that need no choice sets.

Where `grown` takes the gradient, this takes what the curvature H at the mode says of it, to second
order. A set s that is counted c times, whose members have the shares p of its sum, bends the
log-density along v by K_i = c p_i ((v_i - m)^2 - var), with the mean m and the variance of v in
it. Summed over all sets, without the terms 2 c p_i m^2, that is H v^2 + 2 v (H v) - 2 h v^2 with h
the sum of c p, which at the mode is how often each has won. What is left out is small, since means
over many are. Any kicks lead to the same posterior as long as they depend on where a walker is
alone, and so single precision does for them; only whether a turn is accepted takes the choice
sets, and then their sums alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polarbear.inference.loops.fastmath import fast_exp
from polarbear.inference.loops.grown import grow_sums, weighted_logs
from polarbear.inference.loops.likelihood import LOWEST
from polarbear.inference.loops.split_hmc import Noise, Walkers, evaluate
from polarbear.inference.loops.walking import walk
from polarbear.numerics.compiling import inlined, kernel, loop_for

NOTHING, MINUS_HALF = np.float32(0.0), np.float32(-0.5)


class Curved(NamedTuple):
    """The target at T times, one a chain: what `grown.Grown` has but for rates, and, in single
    precision, pulls[T, n, 2, d or more]: the spread and H times the spread, zero from d on.

    Kicks take v for no further off than reach[T, n], since far out in a tail an expansion is good
    for nothing. sums and single[2, d or more], zero from d on, are scratch.
    """

    centre: np.ndarray
    spread: np.ndarray
    wins: np.ndarray
    offsets: np.ndarray
    left: np.ndarray
    right: np.ndarray
    counts: np.ndarray
    usual: np.ndarray
    odd_offsets: np.ndarray
    odd: np.ndarray
    pulls: np.ndarray
    reach: np.ndarray
    sums: np.ndarray
    single: np.ndarray


@loop_for(evaluate, Curved)
def _evaluate_curved(target, walkers, valued):
    """What is seen of u are the ratings, the best one's being 1; where it is not valued, nothing
    is."""
    centre, spread, wins, offsets = target.centre, target.spread, target.wins, target.offsets
    left, right, sums = target.left, target.right, target.sums
    u, kick, residual, seen = walkers.u, walkers.kick, walkers.residual, walkers.seen
    n_times, n, d = spread.shape
    base = np.uint64(len(sums) - n)
    for t in range(n_times):
        _kick(target, t, u[t], kick[t])
        if not valued:
            continue
        top = -np.inf
        for i in range(n):
            mu = centre[t, i]
            for q in range(d):
                mu += spread[t, i, q] * u[t, q]
            sums[base + np.uint64(i)] = mu
            top = max(top, mu)
        value, lowest = 0.0, 1.0
        for i in range(n):
            mu = sums[base + np.uint64(i)] - top
            rating = fast_exp(max(mu, LOWEST))
            sums[base + np.uint64(i)] = rating
            seen[t, 0, i] = rating
            lowest = min(lowest, rating)
            value += wins[t, i] * mu
        first = offsets[t]
        m = offsets[t + 1] - first
        grow_sums(sums, left, right, first, m)
        value -= weighted_logs(
            sums, lowest, target.counts, first, m, target.usual[t], target.odd,
            target.odd_offsets[t], target.odd_offsets[t + 1],
        )  # fmt: skip
        for q in range(d):
            value += 0.5 * u[t, q] * u[t, q]
        residual[t, 0] = value


@inlined
def _kick(target, t, u, kick):
    pulls, reach, wins, single = target.pulls, target.reach, target.wins, target.single
    wide = pulls.shape[3]
    for q in range(len(u)):
        single[0, q] = u[q]
    for q in range(wide):
        single[1, q] = NOTHING
    for i in range(pulls.shape[1]):
        v, pulled = NOTHING, NOTHING
        for q in range(wide):
            v += pulls[t, i, 0, q] * single[0, q]
            pulled += pulls[t, i, 1, q] * single[0, q]
        most = reach[t, i]
        near = min(max(v, -most), most)
        bent = near * (np.float32(wins[t, i]) * v - pulled)
        half = MINUS_HALF * near * near
        for q in range(wide):
            single[1, q] += bent * pulls[t, i, 0, q] + half * pulls[t, i, 1, q]
    for q in range(len(u)):
        kick[q] = single[1, q]


@kernel
def advance_curved(
    centre, spread, wins, offsets, left, right, counts, usual, odd_offsets, odd, pulls, reach,
    sums, single, u, kick, residual, seen, node, momenta, angles, uniforms, n_steps, thin, theta,
    accepted,
):  # fmt: skip
    """Fill theta[draw, T, n], draws ``thin`` transitions apart; returns divergences.

    The arrays of `Curved`, of `Walkers` and of `Noise`, as in `independent.advance`.
    """
    target = Curved(
        centre, spread, wins, offsets, left, right, counts, usual, odd_offsets, odd, pulls, reach,
        sums, single,
    )  # fmt: skip
    walkers = Walkers(u, kick, residual, seen, node)
    return walk(target, walkers, Noise(momenta, angles, uniforms), n_steps, thin, theta, accepted)
