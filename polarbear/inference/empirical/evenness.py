"""How even duels are: the prior's concentration, learned from all pairs.

Before any data a pair's win probability is Beta(c/2, c/2): c imaginary duels, half of them won. A
small c expects duels of any kind, a large one expects that they are nearly even. No fixed c will
do: with one that expects anything, near-clones look different by chance sooner or later in a race
that looks again and again; with one that expects evenness, plain differences take long to show. So
c has a prior of its own, log-uniform on a grid, and learns from how all pairs came out: by the
beta-binomial likelihood of each pair's record, a pair counting once, however many times there are
(the mean over times of its logarithm).
"""

from __future__ import annotations

import numpy as np

CONCENTRATIONS = 2.0 ** np.arange(1, 8.01, 0.5)  # 2 to 256 imaginary duels
_TIMES_LOOKED_AT = 25


def evenness_weights(wins: np.ndarray, met: np.ndarray) -> np.ndarray:
    """Posterior probabilities of the concentrations, given wins[pair, time] of met[pair, time]."""
    from scipy.special import betaln

    stride = -(-wins.shape[1] // _TIMES_LOOKED_AT)
    won, of = wins[:, ::stride, None], met[:, ::stride, None]
    half = CONCENTRATIONS / 2
    log_likelihood = betaln(half + won, half + of - won) - betaln(half, half)
    together = log_likelihood.mean(axis=1).sum(axis=0)
    weights = np.exp(together - together.max())
    return np.asarray(weights / weights.sum())
