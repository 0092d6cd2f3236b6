"""How often ratings have one algorithm win a duel with another."""

from __future__ import annotations

import numpy as np

from polarbear.numerics.compiling import kernel


@kernel
def predict_duels(ratings, out):
    """Fill out[pair, T] with the mean share of wins, of ratings[n, T, draw] in single precision.

    No draw's share is kept, which takes half the time of an array of all.
    """
    n, n_times, draws = ratings.shape
    for t in range(n_times):
        pair = 0
        for i in range(n):
            for j in range(i + 1, n):
                total = np.float32(0.0)
                for d in range(draws):
                    total += ratings[i, t, d] / (ratings[i, t, d] + ratings[j, t, d])
                out[pair, t] = total / np.float32(draws)
                pair += 1
