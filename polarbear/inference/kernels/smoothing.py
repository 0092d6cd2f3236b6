"""What a model's smoothing over time makes of each instance's scores."""

from __future__ import annotations

import numpy as np

from polarbear.compiling import kernel
from polarbear.inference.kernels.band import solve_lower
from polarbear.inference.kernels.observe import observe_back


@kernel
def smooth_instances(lower, starts, weights, scores, together):
    """together[instance] = s' S s for scores[instance, T, d].

    S is the posterior covariance of eta over all times; ``lower`` factors the precision.
    """
    x = np.empty(lower.shape[0])
    for p in range(scores.shape[0]):
        x[:] = 0.0
        observe_back(starts, weights, scores[p], x)
        solve_lower(lower, x)
        total = 0.0
        for i in range(len(x)):
            total += x[i] * x[i]
        together[p] = total


@kernel
def smooth_times(lower, starts, weights, roots, covariances):
    """Fill covariances[T, d, d] with the blocks of S that belong to one time.

    Returns tr(S J) for scores that are the same at all times but for their covariance at each,
    roots[T, d, d] squared: J has the block roots[t] roots[u] for times t and u.
    """
    n_times, n_weights = weights.shape
    d, size = roots.shape[1], lower.shape[0]
    column, total = np.empty((d, size)), np.zeros((d, size))
    for t in range(n_times):
        first = starts[t] * d
        for q in range(d):
            column[q] = 0.0
            for j in range(n_weights):
                column[q, first + j * d + q] = weights[t, j]
            solve_lower(lower[first:], column[q, first:])
        for q in range(d):
            for p in range(d):
                product = 0.0
                for i in range(first, size):
                    product += column[q, i] * column[p, i]
                    total[q, i] += roots[t, q, p] * column[p, i]
                covariances[t, q, p] = product
    return (total * total).sum()
