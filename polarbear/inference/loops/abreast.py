"""Draws from a Laplace approximation, many abreast, with what the posterior has beyond it.

Each loop's innermost index is the draw's, so that one instruction serves several draws and what is
known of the approximation is read but once for all of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polarbear.inference.loops.fastmath import fast_exp, table_log
from polarbear.inference.loops.likelihood import LOWEST, ONE
from polarbear.numerics.compiling import inner, kernel

TWO, THREE, FOUR = np.uint64(2), np.uint64(3), np.uint64(4)


class Approximation(NamedTuple):
    """A Gaussian around a mode, as in `temporal.Node`."""

    lower: np.ndarray
    starts: np.ndarray
    weights: np.ndarray
    eta: np.ndarray
    values: np.ndarray
    gradients: np.ndarray
    curvatures: np.ndarray


@kernel
def draw_abreast(sets, node, x, places, theta, log_weights):
    """Make of standard normal x[N, L], which is overwritten, L draws from the approximation.

    Draw l becomes theta[places[l]], log_weights[places[l]] its log importance weight.
    """
    _solve_upper(node.lower, x)
    starts, weights, centre = node.starts, node.weights, node.eta
    values, gradients, curvatures = node.values, node.gradients, node.curvatures
    helmert, wins, offsets = sets.helmert, sets.wins, sets.offsets
    left, right, counts = sets.left, sets.right, sets.counts
    n, d = np.uint64(helmert.shape[0]), np.uint64(helmert.shape[1])
    n_weights, lanes = np.uint64(weights.shape[1]), np.uint64(x.shape[1])
    base = np.uint64(sets.widest[0])
    away, eta, bend = np.empty((d, lanes)), np.empty((d, lanes)), np.empty(lanes)
    sums, top, total = np.empty((base + n, lanes)), np.empty(lanes), np.zeros(lanes)
    for t in range(np.uint64(centre.shape[0])):
        first = offsets[t]
        m = offsets[t + ONE] - first
        for q in range(d):
            _fill(away[q], 0.0)
            for j in range(n_weights):
                _add(away[q], weights[t, j], x[(np.uint64(starts[t]) + j) * d + q])
            _fill(eta[q], centre[t, q])
            _add(eta[q], 1.0, away[q])
        for q in range(d):
            _fill(bend, -gradients[t, q])
            for p in range(d):
                _add(bend, 0.5 * curvatures[t, q, p], away[p])
            _add_products(total, bend, away[q])
        _fill(top, -np.inf)
        for i in range(n):
            row = sums[base + i]
            _fill(row, 0.0)
            for q in range(d):
                _add(row, helmert[i, q], eta[q])
            _raise(top, row)
        for i in range(n):
            _rate(wins[t, i], sums[base + i], top, total)
        for k in range(m):
            _sum(sums[left[first + k]], sums[right[first + k]], sums[k])
        for k in range(m):
            _add_log(total, -counts[first + k], sums[k])
        _add_constant(total, -values[t])
        _share(sums[base:], top, theta, t, places)
    for lane in range(lanes):
        log_weights[places[lane]] = total[lane]


@inner
def _solve_upper(lower, x):
    """Overwrite x[N, L] with the solution of L' y = x, for a factor from `band_cholesky`."""
    size, reach = np.uint64(lower.shape[0]), np.uint64(lower.shape[1] - 1)
    for done in range(size):
        i = size - ONE - done
        ahead = min(done, reach)
        row = x[i]
        fours = ahead // FOUR * FOUR
        for k in range(ONE, fours, FOUR):
            _add_four(
                row,
                -lower[i + k, reach - k], x[i + k],
                -lower[i + k + ONE, reach - k - ONE], x[i + k + ONE],
                -lower[i + k + TWO, reach - k - TWO], x[i + k + TWO],
                -lower[i + k + THREE, reach - k - THREE], x[i + k + THREE],
            )  # fmt: skip
        for k in range(fours + ONE, ahead + ONE):
            _add(row, -lower[i + k, reach - k], x[i + k])
        for lane in range(len(row)):
            row[lane] *= lower[i, reach]


@inner
def _fill(row, number):
    for lane in range(len(row)):
        row[lane] = number


@inner
def _add(row, factor, other):
    for lane in range(len(row)):
        row[lane] += factor * other[lane]


@inner
def _add_four(row, f, a, g, b, h, c, k, d):
    """Four at once: a row that is being added to need not be read and written for each."""
    for lane in range(len(row)):
        row[lane] += f * a[lane] + g * b[lane] + h * c[lane] + k * d[lane]


@inner
def _add_products(row, one, other):
    for lane in range(len(row)):
        row[lane] += one[lane] * other[lane]


@inner
def _add_constant(row, number):
    for lane in range(len(row)):
        row[lane] += number


@inner
def _raise(top, row):
    for lane in range(len(top)):
        top[lane] = max(top[lane], row[lane])


@inner
def _rate(wins, row, top, total):
    """From utilities to ratings, the best one's being 1."""
    for lane in range(len(row)):
        utility = row[lane] - top[lane]
        total[lane] += wins * utility
        row[lane] = fast_exp(max(utility, LOWEST))


@inner
def _sum(one, other, out):
    for lane in range(len(out)):
        out[lane] = one[lane] + other[lane]


@inner
def _add_log(row, factor, other):
    for lane in range(len(row)):
        row[lane] += factor * table_log(other[lane])


@inner
def _share(ratings, whole, theta, t, places):
    """Of all ratings, which ``whole`` is scratch for."""
    _fill(whole, 0.0)
    for i in range(len(ratings)):
        _add(whole, 1.0, ratings[i])
    for lane in range(len(whole)):
        share = 1.0 / whole[lane]
        for i in range(len(ratings)):
            theta[places[lane], t, i] = share * ratings[i, lane]
