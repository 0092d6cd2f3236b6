"""From coefficients to the latent functions on the grid, and gradients back."""

from __future__ import annotations

import numpy as np

from polarbear.numerics.compiling import kernel

FEW = 8  # weights a time up to which plain loops are fastest


@kernel
def observe(starts, weights, x, eta):
    """Add to eta[T, d] what the coefficients x[K d] give at each time."""
    n_times, n_weights = weights.shape
    d = eta.shape[1]
    if n_weights > FEW:
        by_function = np.empty((d, len(x) // d))
        for k in range(len(x) // d):
            for q in range(d):
                by_function[q, k] = x[k * d + q]
        for t in range(n_times):
            for q in range(d):
                total = 0.0
                for j in range(n_weights):
                    total += weights[t, j] * by_function[q, starts[t] + j]
                eta[t, q] += total
    else:
        for t in range(n_times):
            for j in range(n_weights):
                first = (starts[t] + j) * d
                for q in range(d):
                    eta[t, q] += weights[t, j] * x[first + q]


@kernel
def observe_back(starts, weights, slopes, gx):
    """Add to gx[K d] the gradient that slopes[T, d] of eta send back."""
    n_times, n_weights = weights.shape
    d = slopes.shape[1]
    if n_weights > FEW:
        by_function = np.zeros((d, len(gx) // d))
        for t in range(n_times):
            for q in range(d):
                slope = slopes[t, q]
                for j in range(n_weights):
                    by_function[q, starts[t] + j] += slope * weights[t, j]
        for k in range(len(gx) // d):
            for q in range(d):
                gx[k * d + q] += by_function[q, k]
    else:
        for t in range(n_times):
            for j in range(n_weights):
                first = (starts[t] + j) * d
                for q in range(d):
                    gx[first + q] += weights[t, j] * slopes[t, q]
