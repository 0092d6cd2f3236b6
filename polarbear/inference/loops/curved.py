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
from polarbear.inference.loops.grown import grow_sums, odd_logs, usual_logs
from polarbear.inference.loops.likelihood import LOWEST
from polarbear.inference.loops.rankings import SAFE, rankings_logs
from polarbear.inference.loops.split_hmc import Noise, Walkers, evaluate
from polarbear.inference.loops.walking import walk
from polarbear.numerics.compiling import inlined, inner, kernel, loop_for

NOTHING, MINUS_HALF = np.float32(0.0), np.float32(-0.5)
NO_SET, ONE, TWO, THREE, FOUR = (np.uint64(k) for k in range(5))


class Curved(NamedTuple):
    """The target at T times, one a chain: what `grown.Grown` has but for counts and rates, and, in
    single precision, pulls[T, n or more, 2, d or more]: the spread and H times the spread.

    limits[T, n or more, 2] are how far off kicks take v at most, since far out in a tail an
    expansion is good for nothing, and h. What is beyond n or d is zero, and makes whole vectors.
    sums and single[2, d or more], zero from d on, are scratch.
    """

    centre: np.ndarray
    spread: np.ndarray
    wins: np.ndarray
    offsets: np.ndarray
    left: np.ndarray
    right: np.ndarray
    usual: np.ndarray
    spans: np.ndarray
    odd_offsets: np.ndarray
    odd: np.ndarray
    more: np.ndarray
    pulls: np.ndarray
    limits: np.ndarray
    sums: np.ndarray
    single: np.ndarray


@loop_for(evaluate, Curved)
def _evaluate_curved(target, walkers, valued):
    """What is seen of u are the ratings, the best one's being 1; where it is not valued, nothing
    is."""
    centre, spread, wins, offsets = target.centre, target.spread, target.wins, target.offsets
    left, right, sums = target.left, target.right, target.sums
    usual, spans, odd_offsets = target.usual, target.spans, target.odd_offsets
    u, kick, residual, seen = walkers.u, walkers.kick, walkers.residual, walkers.seen
    n_times, n, d = spread.shape
    base = np.uint64(len(sums) - n)
    for t in range(n_times):
        _kick(target.pulls[t], target.limits[t], target.single, u[t], kick[t])
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
        first, begin, whole, end = offsets[t], spans[t, 0], spans[t, 1], spans[t, 2]
        grow_sums(sums, left, right, first, NO_SET, begin)
        if lowest > SAFE:
            logs = rankings_logs(sums, left, right, first, begin, whole, np.uint64(d))
        else:
            grow_sums(sums, left, right, first, begin, whole)
            logs = usual_logs(sums, lowest, begin, whole)
        grow_sums(sums, left, right, first, whole, end)
        value -= usual[t, 0] * logs + usual[t, 1] * usual_logs(sums, lowest, whole, end)
        value -= odd_logs(sums, target.odd, target.more, odd_offsets[t], odd_offsets[t + 1])
        for q in range(d):
            value += 0.5 * u[t, q] * u[t, q]
        residual[t, 0] = value


@inner
def _kick(pulls, limits, single, u, kick):
    """Four algorithms at a time: numbers that all need are then read but once for them."""
    x, out = single[0], single[1]
    wide = np.uint64(pulls.shape[2])
    for q in range(len(u)):
        x[q] = u[q]
    for q in range(wide):
        out[q] = NOTHING
    for i in range(NO_SET, np.uint64(pulls.shape[0]), FOUR):
        j, k, m = i + ONE, i + TWO, i + THREE
        a, b, c, d = pulls[i, 0], pulls[j, 0], pulls[k, 0], pulls[m, 0]
        e, f, g, h = pulls[i, 1], pulls[j, 1], pulls[k, 1], pulls[m, 1]
        at_i = at_j = at_k = at_m = NOTHING
        of_i = of_j = of_k = of_m = NOTHING
        for q in range(wide):
            at_i += a[q] * x[q]
            at_j += b[q] * x[q]
            at_k += c[q] * x[q]
            at_m += d[q] * x[q]
            of_i += e[q] * x[q]
            of_j += f[q] * x[q]
            of_k += g[q] * x[q]
            of_m += h[q] * x[q]
        at_i, of_i = _bent(at_i, of_i, limits[i])
        at_j, of_j = _bent(at_j, of_j, limits[j])
        at_k, of_k = _bent(at_k, of_k, limits[k])
        at_m, of_m = _bent(at_m, of_m, limits[m])
        for q in range(wide):
            out[q] += (
                at_i * a[q] + at_j * b[q] + at_k * c[q] + at_m * d[q]
                + of_i * e[q] + of_j * f[q] + of_k * g[q] + of_m * h[q]
            )  # fmt: skip
    for q in range(len(u)):
        kick[q] = out[q]


@inlined
def _bent(v, pulled, limits):
    """How much of an algorithm's spread, and of H times it, a kick has."""
    near = min(max(v, -limits[0]), limits[0])
    return near * (limits[1] * v - pulled), MINUS_HALF * near * near


@kernel
def advance_curved(
    centre, spread, wins, offsets, left, right, usual, spans, odd_offsets, odd, more, pulls, limits,
    sums, single, u, kick, residual, seen, node, momenta, angles, uniforms, n_steps, thin, theta,
    accepted,
):  # fmt: skip
    """Fill theta[draw, T, n], draws ``thin`` transitions apart; returns divergences.

    The arrays of `Curved`, of `Walkers` and of `Noise`, as in `independent.advance`. One time comes
    after the other, so that what is known of it stays in near memory.
    """
    divergences = 0
    for t in range(len(u)):
        one = slice(t, t + 1)
        target = Curved(
            centre[one], spread[one], wins[one], offsets[t : t + 2], left, right, usual[one],
            spans[one], odd_offsets[t : t + 2], odd, more, pulls[one], limits[one], sums, single,
        )  # fmt: skip
        walkers = Walkers(u[one], kick[one], residual[one], seen[one], node[one])
        noise = Noise(momenta[one], angles[one], uniforms[one])
        divergences += walk(target, walkers, noise, n_steps, thin, theta[:, one], accepted[one])
    return divergences
