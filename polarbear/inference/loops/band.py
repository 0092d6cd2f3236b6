"""Banded matrices, kept by rows: band[i, width - 1 - (i - j)] is the entry (i, j) for j <= i.

A full lower triangle is a band as wide as the matrix, so dense models run through the same loops.
Indices are unsigned, as in `likelihood`, for the compiler's sake.
"""

from __future__ import annotations

import math

import numpy as np

from polarbear.inference.loops.likelihood import ONE
from polarbear.numerics.compiling import inner, kernel

TWO = np.uint64(2)


@kernel
def band_cholesky(band):
    """Factor in place; returns half the log-determinant, NaN if not positive definite.

    The factor's diagonal is left as its reciprocal, which is what solving with it needs.
    """
    size, reach = np.uint64(band.shape[0]), np.uint64(band.shape[1] - 1)
    half_log_det = 0.0
    for i in range(size):
        back = min(i, reach)
        skip = reach - back
        for j in range(back):
            other = i - back + j
            shift = reach - j
            total = 0.0
            for k in range(j):
                total += band[i, skip + k] * band[other, shift + k]
            band[i, skip + j] = (band[i, skip + j] - total) * band[other, reach]
        total = band[i, reach]
        for k in range(back):
            total -= band[i, skip + k] * band[i, skip + k]
        if not total > 0.0:
            return np.nan
        half_log_det += 0.5 * math.log(total)
        band[i, reach] = 1.0 / math.sqrt(total)
    return half_log_det


@kernel
def solve_lower(lower, x):
    """Overwrite x with the solution of L y = x, for a factor from `band_cholesky`."""
    size, reach = np.uint64(lower.shape[0]), np.uint64(lower.shape[1] - 1)
    for i in range(size):
        back = min(i, reach)
        skip, first = reach - back, i - back
        total = 0.0
        for k in range(back):
            total += lower[i, skip + k] * x[first + k]
        x[i] = (x[i] - total) * lower[i, reach]


@kernel
def flipped(lower):
    """The transpose of L with rows and columns in reverse, which is again a lower band."""
    size, width = lower.shape
    out = np.zeros((size, width))
    for i in range(size):
        for k in range(min(width, size - i)):
            out[size - 1 - i, width - 1 - k] = lower[i + k, width - 1 - k]
    return out


@kernel
def solve_upper(flipped_lower, x):
    """Overwrite x with the solution of L' y = x, for the `flipped` factor.

    Backwards in reverse is forwards: dot products that reach the newest entry last, so that a
    processor need not wait for it. Going down the columns of L instead takes five times as long.
    """
    _reverse(x)
    solve_lower(flipped_lower, x)
    _reverse(x)


@inner
def _reverse(x):
    size = np.uint64(len(x))
    for i in range(size // TWO):
        other = x[size - ONE - i]
        x[size - ONE - i] = x[i]
        x[i] = other


@kernel
def band_times(band, x, out):
    """out[K, d] = symmetric band times x[K, d]."""
    size, width = band.shape
    d = x.shape[1]
    for i in range(size):
        for q in range(d):
            out[i, q] = 0.0
        for j in range(max(0, i - width + 1), i + 1):
            entry = band[i, width - 1 - (i - j)]
            for q in range(d):
                out[i, q] += entry * x[j, q]
                if j < i:
                    out[j, q] += entry * x[i, q]


@kernel
def posterior_band(precision, starts, weights, curvatures, out):
    """The prior's precision, once for each of d latent functions, plus the data's curvature.

    Coefficient k of function q is row k d + q; eta[t, q] is the sum of weights[t, j] times
    coefficient starts[t] + j, so the data add weights' (curvature) weights.
    """
    n_times, n_weights = weights.shape
    d = curvatures.shape[1]
    reach = out.shape[1] - 1
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0.0
    for k in range(precision.shape[0]):
        for j in range(precision.shape[1]):
            back = precision.shape[1] - 1 - j
            if back <= k:
                for q in range(d):
                    out[k * d + q, reach - back * d] = precision[k, j]
    for t in range(n_times):
        for a in range(n_weights):
            for q in range(d):
                i = (starts[t] + a) * d + q
                for b in range(a):
                    product = weights[t, a] * weights[t, b]
                    place = reach - i + (starts[t] + b) * d
                    for p in range(d):
                        out[i, place + p] += product * curvatures[t, q, p]
                product = weights[t, a] * weights[t, a]
                place = reach - q
                for p in range(q + 1):
                    out[i, place + p] += product * curvatures[t, q, p]


@kernel
def lower_band_of(matrix, out):
    """Copy a symmetric matrix's lower triangle into a band as wide as the matrix."""
    size = matrix.shape[0]
    for i in range(size):
        for j in range(i + 1):
            out[i, size - 1 - (i - j)] = matrix[i, j]
