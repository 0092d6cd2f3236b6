"""What each single ranking says about the utilities: the gradient of its log-probability."""

from __future__ import annotations

import numpy as np

from polarbear.numerics.compiling import inner, kernel
from polarbear.rankings import ABSENT, BELOW, MAX_EXACT_TIE


@inner
def _exact_tie(block, k, below, strength, score):
    """A tie averaged over its orderings; returns what it adds to the rate of all ranked below.

    Each subset of size j with all that is ranked below was what remained in 1 / C(k, j) of them.
    """
    rate_below = 0.0
    for subset in range(1, 1 << k):
        total = below
        j = 0
        for a in range(k):
            if subset >> a & 1:
                total += strength[block[a]]
                j += 1
        binomial = 1.0
        for a in range(j):
            binomial = binomial * (k - a) / (a + 1)
        rate = 1.0 / (binomial * total)
        rate_below += rate
        for a in range(k):
            if subset >> a & 1:
                score[block[a]] -= strength[block[a]] * rate
    return rate_below


@inner
def _rotated_tie(block, k, below, strength, score):
    """The same for a tie too wide for that, over the k rotations of one ordering."""
    rate_below = 0.0
    for shift in range(k):
        total = below
        for a in range(k):
            total += strength[block[a]]
        rate = 0.0
        for a in range(k):
            item = block[(shift + a) % k]
            rate += 1.0 / (k * total)
            score[item] -= strength[item] * rate
            total -= strength[item]
        rate_below += rate
    return rate_below


@inner
def _score_of_ranking(place, strength, block, score):
    """Fill score[n] for place[n]: 0 for the absent and for a ranking of fewer than two.

    From the best to the last: ``rate`` sums 1 / (strength of what remained) over the choices so
    far, and everybody who was there to be chosen pays strength times that. Those who were not
    recorded were there at every choice, and chosen at none.
    """
    n = len(place)
    there = left = 0
    for a in range(n):
        score[a] = 0.0
        there += place[a] != ABSENT
        left += place[a] != ABSENT and place[a] != BELOW
    if there < 2:
        return
    rate = 0.0
    position = 0
    while left > 0:
        k = 0
        for a in range(n):
            if place[a] == position:
                block[k] = a
                k += 1
        position += 1
        below = 0.0
        for a in range(n):
            if place[a] >= position:
                below += strength[a]
        for a in range(k):
            score[block[a]] += 1.0 - strength[block[a]] * rate
        if k <= MAX_EXACT_TIE:
            rate += _exact_tie(block, k, below, strength, score)
        else:
            rate += _rotated_tie(block, k, below, strength, score)
        left -= k
    for a in range(n):
        if place[a] == BELOW:
            score[a] -= strength[a] * rate


@kernel
def ranking_scores(positions, mu, helmert, scores):
    """Fill scores[instance, time, d]: the gradient at utilities mu[T, n], in coordinates eta."""
    n_instances, n, n_times = positions.shape
    d = helmert.shape[1]
    block = np.empty(n, np.int64)
    strength, score = np.empty(n), np.empty(n)
    for t in range(n_times):
        top = mu[t].max()
        for a in range(n):
            strength[a] = np.exp(max(mu[t, a] - top, -690.0))
        for p in range(n_instances):
            _score_of_ranking(positions[p, :, t], strength, block, score)
            for q in range(d):
                total = 0.0
                for a in range(n):
                    total += helmert[a, q] * score[a]
                scores[p, t, q] = total
