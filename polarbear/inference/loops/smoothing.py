"""What a model's smoothing over time makes of scores, of instances or of single times."""

from __future__ import annotations

import numpy as np

from polarbear.inference.loops.band import solve_lower, solve_upper
from polarbear.inference.loops.observe import observe, observe_back
from polarbear.numerics.compiling import inner, kernel


@inner
def _smooth(lower, flipped_lower, starts, weights, scores, x, eta):
    """Fill eta[T, d] with S times scores[T, d].

    S is the posterior covariance of eta over all times; ``lower`` factors the precision of the
    coefficients.
    """
    x[:] = 0.0
    observe_back(starts, weights, scores, x)
    solve_lower(lower, x)
    solve_upper(flipped_lower, x)
    eta[:] = 0.0
    observe(starts, weights, x, eta)


@kernel
def smoothed_squares(lower, flipped_lower, starts, weights, scores):
    """The sum of |S s|^2 over all instances' scores[instance, T, d]."""
    x, eta = np.empty(lower.shape[0]), np.empty(scores.shape[1:])
    total = 0.0
    for p in range(scores.shape[0]):
        _smooth(lower, flipped_lower, starts, weights, scores[p], x, eta)
        total += (eta * eta).sum()
    return total


@kernel
def smooth_times(lower, flipped_lower, starts, weights, roots, squares):
    """Fill squares[T, d, d] with the blocks of S S that belong to one time.

    Returns tr(S J S) for scores that are the same at all times but for their covariance at each,
    roots[T, d, d] squared: J has the block roots[t] roots[u] for times t and u.
    """
    n_times, d = roots.shape[:2]
    x, unit = np.empty(lower.shape[0]), np.zeros((n_times, d))
    column, total = np.empty((d, n_times, d)), np.zeros((d, n_times, d))
    for t in range(n_times):
        for q in range(d):
            unit[t, q] = 1.0
            _smooth(lower, flipped_lower, starts, weights, unit, x, column[q])
            unit[t, q] = 0.0
        for q in range(d):
            for p in range(d):
                squares[t, q, p] = (column[q] * column[p]).sum()
                total[q] += roots[t, q, p] * column[p]
    return (total * total).sum()
