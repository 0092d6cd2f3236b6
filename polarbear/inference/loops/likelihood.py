"""The Plackett-Luce log-likelihood in the latent coordinates eta, with gradient and curvature.

Every set sum is the sum of two earlier ones, so all of them, and by going back all gradients, take
one addition each. Local numbers: k is the k-th set of its timepoint, widest + i is algorithm i.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polarbear.inference.loops.fastmath import fast_exp, fast_log
from polarbear.numerics.compiling import inner, kernel

ONE = np.uint64(1)
LOWEST = -690.0  # a utility further below the best counts as this far below: sums stay normal


class SetSums(NamedTuple):
    """Choice sets laid out for evaluation; `native.set_sums` builds it.

    helmert[n, d]; wins[T, n]; the sets of timepoint t stand at offsets[t] .. offsets[t + 1] of
    left, right (local numbers of the two parts), counts and masks; full[t] is where the set of all
    stands; widest[0] is the most sets any timepoint has.
    """

    helmert: np.ndarray
    wins: np.ndarray
    offsets: np.ndarray
    left: np.ndarray
    right: np.ndarray
    counts: np.ndarray
    masks: np.ndarray
    full: np.ndarray
    widest: np.ndarray


@inner
def _at_time(
    helmert, wins, first, m, left, right, counts, eta, gradient, mu, sums, rates, valued
):  # fmt: skip
    """Value, if it is ``valued``, and gradient at one timepoint, whose m sets begin at ``first``.

    Numbers are unsigned all through, since a signed index is checked for being negative and that
    check keeps loops from vectorising.
    """
    n, d = helmert.shape
    base = len(sums) - n
    top = -np.inf
    for i in range(n):
        mu[i] = 0.0
        for q in range(d):
            mu[i] += helmert[i, q] * eta[q]
        top = max(top, mu[i])
    value = 0.0
    for i in range(n):
        mu[i] -= top
        sums[base + i] = fast_exp(max(mu[i], LOWEST))
        rates[base + i] = 0.0
        value += wins[i] * mu[i]
    for k in range(m):
        sums[k] = sums[left[first + k]] + sums[right[first + k]]
    logs = 0.0
    if valued:
        for k in range(m):
            logs += counts[first + k] * fast_log(sums[k])
            rates[k] = counts[first + k] / sums[k]
    else:
        for k in range(m):
            rates[k] = counts[first + k] / sums[k]
    for back in range(m):
        k = m - ONE - back
        rates[left[first + k]] += rates[k]
        rates[right[first + k]] += rates[k]
    for q in range(d):
        gradient[q] = 0.0
    for i in range(n):
        slope = wins[i] - sums[base + i] * rates[base + i]
        for q in range(d):
            gradient[q] += helmert[i, q] * slope
    return value - logs


@inner
def slopes(sets, eta, values, gradients, mu, sums, rates, valued):
    """Log-likelihood and gradient[d] at every timepoint; mu, sums and rates are scratch space."""
    helmert, wins, offsets = sets.helmert, sets.wins, sets.offsets
    left, right, counts = sets.left, sets.right, sets.counts
    for t in range(eta.shape[0]):
        first = offsets[t]
        m = offsets[t + 1] - first
        values[t] = _at_time(
            helmert, wins[t], first, m, left, right, counts, eta[t], gradients[t], mu, sums, rates,
            valued,
        )  # fmt: skip


@kernel
def value_and_slopes(sets, eta, values, gradients, mu, sums, rates):
    """`slopes` for callers from Python."""
    slopes(sets, eta, values, gradients, mu, sums, rates, True)


@kernel
def curvature(sets, eta, values, gradients, curvatures):
    """Value, gradient[d] and negative Hessian[d, d] of the log-likelihood at every timepoint."""
    helmert, wins, offsets, masks = sets.helmert, sets.wins, sets.offsets, sets.masks
    left, right, counts = sets.left, sets.right, sets.counts
    n, d = helmert.shape
    base = sets.widest[0]
    mu, sums, rates = np.empty(n), np.empty(base + n), np.empty(base + n)
    hessian = np.empty((n, n))
    half = np.empty((n, d))
    items = np.empty(n, np.int64)
    for t in range(eta.shape[0]):
        first = offsets[t]
        m = offsets[t + 1] - first
        values[t] = _at_time(
            helmert, wins[t], first, m, left, right, counts, eta[t], gradients[t], mu, sums, rates,
            True,
        )  # fmt: skip
        for i in range(n):
            for j in range(n):
                hessian[i, j] = 0.0
        for k in range(m):
            count = counts[first + k]
            if count == 0.0:
                continue
            size = 0
            for i in range(n):
                if masks[first + k] >> i & 1:
                    items[size] = i
                    size += 1
            rate = count / sums[k]
            for a in range(size):
                share = rate * sums[base + items[a]]
                hessian[items[a], items[a]] += share
                share /= sums[k]
                for b in range(a + 1):
                    hessian[items[a], items[b]] -= share * sums[base + items[b]]
        for i in range(n):
            for j in range(i):
                hessian[j, i] = hessian[i, j]
        for i in range(n):
            for q in range(d):
                half[i, q] = 0.0
            for j in range(n):
                for q in range(d):
                    half[i, q] += hessian[i, j] * helmert[j, q]
        for q in range(d):
            for p in range(d):
                total = 0.0
                for i in range(n):
                    total += helmert[i, q] * half[i, p]
                curvatures[t, q, p] = total
