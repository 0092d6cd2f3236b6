"""Chains of ratings at single times, from one draw to the next."""

from __future__ import annotations

import numpy as np

from polarbear.inference.loops.split_hmc import Walkers, turn
from polarbear.numerics.compiling import inlined


@inlined
def walk(target, walkers, noise, n_steps, thin, theta, accepted):
    """Fill theta[draw, T, n], draws ``thin`` transitions apart; returns divergences.

    What is seen of the walkers, one for each time, are ratings.
    """
    angles, seen = noise.angles, walkers.seen
    n_times, d = walkers.u.shape
    n = seen.shape[2]
    trial = Walkers(
        np.empty((n_times, d)), np.empty((n_times, d)), np.empty((n_times, 1)),
        np.empty((n_times, 1, n)), np.empty(n_times, np.int64),
    )  # fmt: skip
    energies = np.empty(n_times)
    divergences = 0
    for k in range(angles.shape[1]):
        divergences += turn(target, walkers, trial, noise, k, n_steps, energies, accepted)
        if (k + 1) % thin == 0:
            for t in range(n_times):
                total = 0.0
                for i in range(n):
                    total += seen[t, 0, i]
                for i in range(n):
                    theta[k // thin, t, i] = seen[t, 0, i] / total
    return divergences
