"""Exact sampling of ratings that are independent over time.

At each time mu = centre + spread u, where spread' H spread = 1 for the curvature H at the mode: in
u the density is nearly a standard normal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polarbear.inference.loops.fastmath import fast_exp, fast_log
from polarbear.inference.loops.likelihood import LOWEST, ONE
from polarbear.inference.loops.split_hmc import Noise, Walkers, evaluate
from polarbear.inference.loops.walking import walk
from polarbear.numerics.compiling import kernel, loop_for


class Ratings(NamedTuple):
    """The target at T times, one a chain: centre[T, n], spread[T, n, d], wins[T, n].

    The sets of time t stand at offsets[t] .. offsets[t + 1] of left, right and counts, as in
    `likelihood.SetSums`, with the prior counted in; sums and rates[most sets + n] are scratch.
    """

    centre: np.ndarray
    spread: np.ndarray
    wins: np.ndarray
    offsets: np.ndarray
    left: np.ndarray
    right: np.ndarray
    counts: np.ndarray
    sums: np.ndarray
    rates: np.ndarray


@loop_for(evaluate, Ratings)
def _evaluate_ratings(target, walkers, valued):
    """What is seen of u are the ratings, the best one's being 1."""
    centre, spread, wins, offsets = target.centre, target.spread, target.wins, target.offsets
    left, right, counts = target.left, target.right, target.counts
    sums, rates = target.sums, target.rates
    u, kick, residual, seen = walkers.u, walkers.kick, walkers.residual, walkers.seen
    n_times, n, d = spread.shape
    base = len(sums) - n
    for t in range(n_times):
        first = offsets[t]
        m = offsets[t + 1] - first
        top = -np.inf
        for i in range(n):
            mu = centre[t, i]
            for q in range(d):
                mu += spread[t, i, q] * u[t, q]
            rates[base + i] = mu
            top = max(top, mu)
        value = 0.0
        for i in range(n):
            mu = rates[base + i] - top
            rates[base + i] = 0.0
            sums[base + i] = fast_exp(max(mu, LOWEST))
            seen[t, 0, i] = sums[base + i]
            value += wins[t, i] * mu
        for s in range(m):
            sums[s] = sums[left[first + s]] + sums[right[first + s]]
        if valued:
            for s in range(m):
                value -= counts[first + s] * fast_log(sums[s])
                rates[s] = counts[first + s] / sums[s]
        else:
            for s in range(m):
                rates[s] = counts[first + s] / sums[s]
        for back in range(m):
            s = m - ONE - back
            rates[left[first + s]] += rates[s]
            rates[right[first + s]] += rates[s]
        for q in range(d):
            value += 0.5 * u[t, q] * u[t, q]
            kick[t, q] = u[t, q]
        for i in range(n):
            slope = wins[t, i] - sums[base + i] * rates[base + i]
            for q in range(d):
                kick[t, q] += spread[t, i, q] * slope
        residual[t, 0] = value


@kernel
def advance(
    centre, spread, wins, offsets, left, right, counts, sums, rates,
    u, kick, residual, seen, node, momenta, angles, uniforms, n_steps, thin, theta, accepted,
):  # fmt: skip
    """Fill theta[draw, T, n], draws ``thin`` transitions apart; returns divergences.

    The arrays of `Ratings`, of `Walkers` and of `Noise`, one by one: Numba takes tens of
    microseconds to know a named tuple again, and for few transitions that is most of the time.
    """
    target = Ratings(centre, spread, wins, offsets, left, right, counts, sums, rates)
    walkers = Walkers(u, kick, residual, seen, node)
    return walk(target, walkers, Noise(momenta, angles, uniforms), n_steps, thin, theta, accepted)


@kernel
def approximate(centre, spread, wins, left, right, counts, base, normals, theta, log_weights):
    """Fill theta[draw, n] at one time with draws of the approximation, and their log-weights.

    A weight is the density over that of u, which is a row of normals[draw, d]; the sets are those
    of the time, algorithm i being number base + i.
    """
    n, d = spread.shape
    m = len(counts)
    sums = np.empty(base + n)
    for k in range(normals.shape[0]):
        top = -np.inf
        for i in range(n):
            mu = centre[i]
            for q in range(d):
                mu += spread[i, q] * normals[k, q]
            sums[base + i] = mu
            top = max(top, mu)
        value = 0.0
        total = 0.0
        for i in range(n):
            mu = sums[base + i] - top
            value += wins[i] * mu
            sums[base + i] = fast_exp(max(mu, LOWEST))
            total += sums[base + i]
        for i in range(n):
            theta[k, i] = sums[base + i] / total
        for s in range(m):
            sums[s] = sums[left[s]] + sums[right[s]]
        for s in range(m):
            value -= counts[s] * fast_log(sums[s])
        for q in range(d):
            value += 0.5 * normals[k, q] * normals[k, q]
        log_weights[k] = value
