"""Exact sampling of many algorithms' ratings that are independent over time.

As in `independent`, but sets of many algorithms mostly are the one just before and one more, and
mostly count alike. So a sum is kept at hand from one set to the next, and the logarithms of sums
are that of their product, some hundred at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polarbear.inference.loops.fastmath import LOG_2, fast_exp, fast_log, split_float
from polarbear.inference.loops.likelihood import LOWEST, ONE
from polarbear.inference.loops.split_hmc import Noise, Walkers, evaluate
from polarbear.inference.loops.walking import walk
from polarbear.numerics.compiling import borrowing, inlined, kernel, loop_for

BLOCK = np.uint64(512)  # numbers from 0.7 to 1.42 whose product neither vanishes nor overflows
EIGHT = np.uint64(8)  # sums whose product does neither, unless a rating is below what is
SAFE = 1e-30


class Grown(NamedTuple):
    """The target at T times, one a chain: what `independent.Ratings` has, and what `alike.Alike`
    says of its sets."""

    centre: np.ndarray
    spread: np.ndarray
    wins: np.ndarray
    offsets: np.ndarray
    left: np.ndarray
    right: np.ndarray
    counts: np.ndarray
    usual: np.ndarray
    spans: np.ndarray
    odd_offsets: np.ndarray
    odd: np.ndarray
    more: np.ndarray
    sums: np.ndarray
    rates: np.ndarray


@inlined
def grow_sums(sums, left, right, first, begin, end):
    """The sums of some sets of one time, whose algorithms' ratings stand in ``sums`` already."""
    last = 0.0
    for s in range(begin, end):
        before = np.uint64(left[first + s])
        if before + ONE == s:
            last += sums[right[first + s]]
        else:
            last = sums[before] + sums[right[first + s]]
        sums[s] = last


@borrowing
def usual_logs(sums, lowest, begin, end):
    """Logarithms of the sums of some sets, all together; no rating is below the ``lowest``."""
    exponents = 0
    logs = 0.0
    m = end - begin
    whole = end - m % BLOCK if lowest > SAFE else begin
    for here in range(begin, whole, BLOCK):
        product = 1.0
        for s in range(here, here + BLOCK // EIGHT):
            eight = sums[s]
            for k in range(ONE, EIGHT):
                eight *= sums[s + k * (BLOCK // EIGHT)]
            exponent, mantissa = split_float(eight)
            exponents += exponent
            product *= mantissa
        logs += fast_log(product)
    for here in range(whole, end, BLOCK):
        product = 1.0
        for s in range(here, min(here + BLOCK, end)):
            exponent, mantissa = split_float(sums[s])
            exponents += exponent
            product *= mantissa
        logs += fast_log(product)
    return logs + exponents * LOG_2


@inlined
def odd_logs(sums, odd, more, begin, end):
    """Of the odd sets begin .. end, what they count for beyond the usual."""
    total = 0.0
    for k in range(begin, end):
        total += more[k] * fast_log(sums[odd[k]])
    return total


@loop_for(evaluate, Grown)
def _evaluate_grown(target, walkers, valued):
    """What is seen of u are the ratings, the best one's being 1."""
    centre, spread, wins, offsets = target.centre, target.spread, target.wins, target.offsets
    left, right, counts = target.left, target.right, target.counts
    usual, spans, odd_offsets = target.usual, target.spans, target.odd_offsets
    sums, rates = target.sums, target.rates
    u, kick, residual, seen = walkers.u, walkers.kick, walkers.residual, walkers.seen
    n_times, n, d = spread.shape
    base = np.uint64(len(sums) - n)
    for t in range(n_times):
        first = offsets[t]
        m = offsets[t + 1] - first
        top = -np.inf
        for i in range(n):
            mu = centre[t, i]
            for q in range(d):
                mu += spread[t, i, q] * u[t, q]
            rates[base + np.uint64(i)] = mu
            top = max(top, mu)
        value, lowest = 0.0, 1.0
        for i in range(n):
            mu = rates[base + np.uint64(i)] - top
            rates[base + np.uint64(i)] = 0.0
            sums[base + np.uint64(i)] = fast_exp(max(mu, LOWEST))
            lowest = min(lowest, sums[base + np.uint64(i)])
            seen[t, 0, i] = sums[base + np.uint64(i)]
            value += wins[t, i] * mu
        grow_sums(sums, left, right, first, np.uint64(0), m)
        for s in range(m):
            rates[s] = counts[first + s] / sums[s]
        if valued:
            value -= usual[t, 0] * usual_logs(sums, lowest, spans[t, 0], spans[t, 1])
            value -= usual[t, 1] * usual_logs(sums, lowest, spans[t, 1], spans[t, 2])
            value -= odd_logs(sums, target.odd, target.more, odd_offsets[t], odd_offsets[t + 1])
        carried, to = 0.0, base + np.uint64(n)  # what goes on to the set that this one grew from
        for back in range(m):
            s = m - ONE - back
            rate = rates[s]
            if to == s:
                rate += carried
            elif to < base + np.uint64(n):
                rates[to] += carried
            rates[right[first + s]] += rate
            carried, to = rate, np.uint64(left[first + s])
        rates[to] += carried
        for q in range(d):
            value += 0.5 * u[t, q] * u[t, q]
            kick[t, q] = u[t, q]
        for i in range(n):
            slope = wins[t, i] - sums[base + np.uint64(i)] * rates[base + np.uint64(i)]
            for q in range(d):
                kick[t, q] += spread[t, i, q] * slope
        residual[t, 0] = value


@kernel
def advance_grown(
    centre, spread, wins, offsets, left, right, counts, usual, spans, odd_offsets, odd, more,
    sums, rates, u, kick, residual, seen, node, momenta, angles, uniforms, n_steps, thin, theta,
    accepted,
):  # fmt: skip
    """Fill theta[draw, T, n], draws ``thin`` transitions apart; returns divergences.

    The arrays of `Grown`, of `Walkers` and of `Noise`, as in `independent.advance`.
    """
    target = Grown(
        centre, spread, wins, offsets, left, right, counts, usual, spans, odd_offsets, odd, more,
        sums, rates,
    )  # fmt: skip
    walkers = Walkers(u, kick, residual, seen, node)
    return walk(target, walkers, Noise(momenta, angles, uniforms), n_steps, thin, theta, accepted)
