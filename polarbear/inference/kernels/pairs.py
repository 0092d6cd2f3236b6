"""Counting, over draws, who is better, who is equivalent, and who is better all the time."""

from __future__ import annotations

import math

import numpy as np

from polarbear.compiling import kernel
from polarbear.inference.kernels.series import effective_size


@kernel
def standard_error(share, size, effective):
    """Monte-Carlo error of a share of draws; not zero even where all or none of them agree."""
    smoothed = (share * size + 0.5) / (size + 1.0)
    return math.sqrt(smoothed * (1.0 - smoothed) / effective)


@kernel
def pointwise(theta, chains, ratio, better, better_error, alike, alike_error):
    """At one time, for theta[algorithm, draw]: fill the n x n tables of probabilities and errors.

    Two are alike where neither theta exceeds ``ratio`` times the other.
    """
    n, size = theta.shape
    flags, close = np.empty(size), np.empty(size)
    for a in range(n):
        alike[a, a] = 1.0
        for b in range(a):
            one, two = theta[a], theta[b]
            wins, losses, ties = 0.0, 0.0, 0.0
            for r in range(size):
                flags[r] = 1.0 if one[r] > two[r] else 0.0
                wins += flags[r]
                losses += 1.0 if one[r] < two[r] else 0.0
                near = one[r] <= ratio * two[r] and two[r] <= ratio * one[r]
                close[r] = 1.0 if near else 0.0
                ties += close[r]
            better[a, b], better[b, a] = wins / size, losses / size
            alike[a, b] = alike[b, a] = ties / size
            effective = effective_size(flags, chains)
            better_error[a, b] = standard_error(better[a, b], size, effective)
            better_error[b, a] = standard_error(better[b, a], size, effective)
            error = standard_error(alike[a, b], size, effective_size(close, chains))
            alike_error[a, b] = alike_error[b, a] = error


@kernel
def always_better(theta, flags):
    """flags[pair, draw] = 1 where a is above b at every time, for ordered pairs a n + b."""
    size, n_times, n = theta.shape
    for r in range(size):
        for a in range(n):
            for b in range(n):
                holds = a != b
                t = 0
                while holds and t < n_times:
                    holds = theta[r, t, a] > theta[r, t, b]
                    t += 1
                flags[a * n + b, r] = 1.0 if holds else 0.0


@kernel
def shares(flags, chains, share, error):
    """The share of draws that each row flags, and its Monte-Carlo error."""
    for m in range(flags.shape[0]):
        share[m] = np.mean(flags[m])
        error[m] = standard_error(share[m], flags.shape[1], effective_size(flags[m], chains))
